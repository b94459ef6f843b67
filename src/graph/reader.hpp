// Reads the names in a text one by one, and points at characters that it cannot read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace plated::graph {

/// Throws ParseError with the place: its column, a window of the text, and a caret below it.
[[noreturn]] void fail(std::string_view text, std::size_t at, const std::string& message);

/// Whether names may be the ends of a chain's variables: `^b` and `b$`.
enum class Ends { allowed, refused };

/// A place in a text, and the names read from it.
class Reader {
 public:
  explicit Reader(std::string_view text, Ends ends = Ends::refused) : text_(text), ends_(ends) {}

  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  [[nodiscard]] std::size_t at() const { return at_; }
  /// Throws ParseError for a byte that is not UTF-8.
  [[nodiscard]] char32_t peek() const;
  void skip();
  void skip_blanks();
  [[nodiscard]] bool next_is(char32_t c) const { return !done() && peek() == c; }

  /// One character, or a word: both throw ParseError where no name stands.
  std::string_view name(bool spaced) { return spaced ? word() : letter(); }

 private:
  std::string_view letter();
  /// A word, or one character of any other kind, with the bracketed index of a copy after it (`y[i=0]`).
  std::string_view word();
  /// `^` before a name and `$` after it; a name has one of them at most.
  void hat();
  void dollar(std::size_t begin);
  void check_nameable() const;
  void brackets();

  std::string_view text_;
  Ends ends_;
  std::size_t at_ = 0;
};

}  // namespace plated::graph
