// Splits BIF text into words.
#include "io/bif_words.hpp"

namespace plated::io {
namespace {

bool is_blank(char c) { return c == ' ' || c == ',' || (c >= '\t' && c <= '\r'); }

bool is_mark(char c) {
  switch (c) {
    case '{':
    case '}':
    case '(':
    case ')':
    case '[':
    case ']':
    case ';':
    case '|':
      return true;
    default:
      return false;
  }
}

}  // namespace

void BifWords::skip_blanks() {
  while (at_ < text_.size()) {
    if (is_blank(text_[at_])) {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      const std::size_t end = text_.find('\n', at_);
      at_ = end == std::string_view::npos ? text_.size() : end;
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) source_.fail(at_, "this comment is not closed");
      at_ = end + 2;
    } else {
      return;
    }
  }
}

void BifWords::advance() {
  skip_blanks();
  const std::size_t begin = at_;
  if (at_ == text_.size()) {
    ahead_ = {0, {}, begin};
    return;
  }
  const char c = text_[at_];
  if (is_mark(c)) {
    ++at_;
    ahead_ = {c, text_.substr(begin, 1), begin};
    return;
  }
  if (c == '"') {
    const std::size_t end = text_.find_first_of("\"\n", begin + 1);
    if (end == std::string_view::npos || text_[end] == '\n') source_.fail(begin, "this quotation mark is not closed");
    at_ = end + 1;
    ahead_ = {'w', text_.substr(begin + 1, end - begin - 1), begin};
    return;
  }
  while (at_ < text_.size() && !is_blank(text_[at_]) && !is_mark(text_[at_]) && text_[at_] != '"') {
    // A slash may be part of a state's name; two of them, or one before a star, begin a comment.
    if (text_[at_] == '/' && at_ + 1 < text_.size() && (text_[at_ + 1] == '/' || text_[at_ + 1] == '*')) break;
    ++at_;
  }
  ahead_ = {'w', text_.substr(begin, at_ - begin), begin};
}

BifWord BifWords::expect(char kind, const std::string& where) {
  if (!is(kind)) {
    const std::string wanted = kind == 'w' ? "a name" : "'" + std::string(1, kind) + "'";
    const std::string found = is(0) ? "the file ends" : "found " + shown(ahead_.text);
    source_.fail(ahead_.at, found + " where " + wanted + " should be, in " + where);
  }
  return take();
}

void BifWords::skip_past(char mark, const std::string& where) {
  while (!is(mark)) {
    if (is(0)) source_.fail(ahead_.at, "the file ends in " + where);
    take();
  }
  take();
}

}  // namespace plated::io
