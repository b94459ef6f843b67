// The text of a file with its name, so that errors can give the line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace plated::io {

/// A file's text; the creator keeps the text alive.
class Source {
 public:
  Source(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {}

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::string_view text() const { return text_; }

  /// Throws FormatError for the line of a place in the text; lines are counted only now, since most files have no
  /// error.
  [[noreturn]] void fail(std::size_t at, const std::string& reason) const;
  /// The same where another part of Plated refuses what the file says: the first line of its message.
  template <class Action>
  auto blame(std::size_t at, const Action& action) const;

 private:
  [[noreturn]] void fail_with_current(std::size_t at) const;

  std::string file_;
  std::string_view text_;
};

/// Text from a file as it may stand in a one-line message: in quotes, cut short, without control characters.
[[nodiscard]] std::string shown(std::string_view text);

/// A message or the name of a file as it may stand in one: its first line, without control characters.
[[nodiscard]] std::string one_line(std::string_view message);

/// A text without the byte-order mark of UTF-8 that editors of another system begin it with.
[[nodiscard]] std::string_view without_mark(std::string_view text);

/// The first place in a text that is not UTF-8; npos where all of it is.
[[nodiscard]] std::size_t not_utf8(std::string_view text);

template <class Action>
auto Source::blame(std::size_t at, const Action& action) const {
  try {
    return action();
  } catch (...) {
    fail_with_current(at);
  }
}

}  // namespace plated::io
