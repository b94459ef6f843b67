// The words of UAI files: separated by blanks, with comment lines between them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/whole_integer.hpp"
#include "io/numbers.hpp"
#include "io/source.hpp"
#include "model/entries.hpp"

namespace plated::io {

/// Reads a UAI file word by word. Lines whose first word is `c` or begins with `#` are comments (UAI 2016).
class UaiWords {
 public:
  explicit UaiWords(const Source& source) : source_(source), text_(source.text()) {}

  /// Where the next word begins; the size of the text where there is none.
  std::size_t next() {
    while (true) {
      while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
      if (at_ == text_.size()) return at_;
      const char c = text_[at_];
      const bool comment = c == '#' || (c == 'c' && (at_ + 1 == text_.size() || is_blank(text_[at_ + 1])));
      if (!comment) return at_;
      const std::size_t end = text_.find('\n', at_);
      at_ = end == std::string_view::npos ? text_.size() : end;
    }
  }
  [[nodiscard]] bool done() { return next() == text_.size(); }
  [[nodiscard]] std::size_t at() const { return at_; }

  std::string_view word() {
    const std::size_t begin = next();
    while (at_ < text_.size() && !is_blank(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// An integer of at least `least`; `what` says in errors what it should be.
  std::int64_t integer(std::int64_t least, const char* what) {
    const std::size_t begin = next();
    const std::string_view spelled = word();
    if (spelled.empty()) source_.fail(begin, std::string("the file ends where ") + what + " should be");
    const auto value = base::whole_integer(spelled);
    if (!value || *value < least) source_.fail(begin, shown(spelled) + " is not " + what);
    return *value;
  }

  /// The number of things that follow. Each takes at least a digit and a blank: more than the rest of the file can hold
  /// are refused before anybody makes room for them.
  std::size_t count(const char* what) {
    const std::size_t begin = next();
    const std::int64_t value = integer(0, what);
    check_room(begin, value, what);
    return static_cast<std::size_t>(value);
  }
  void check_room(std::size_t where, std::int64_t count, const char* what) const {
    const std::size_t left = text_.size() - at_;
    if (static_cast<std::uint64_t>(count) > left / 2 + 1) {
      source_.fail(where, std::to_string(count) + " is not " + what + ": only " + std::to_string(left) +
                              " bytes of the file are left");
    }
  }

  /// A finite weight, not below zero.
  double weight() {
    const std::size_t begin = next();
    const ReadNumber number = read_number(text_.substr(begin));
    const std::size_t end = begin + number.bytes;
    if (number.bytes == 0 || (end < text_.size() && !is_blank(text_[end]))) {
      if (begin == text_.size()) source_.fail(begin, "the file ends in the middle of a table");
      source_.fail(begin, shown(word()) + " is not a number");
    }
    at_ = end;
    if (!(number.value >= 0 && number.value <= most_)) {
      source_.fail(begin,
                   shown(text_.substr(begin, number.bytes)) + " " + model::refused_entry(number.value, Space::real));
    }
    return number.value;
  }

 private:
  static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  static constexpr double most_ = 1.7976931348623157e308;

  const Source& source_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace plated::io
