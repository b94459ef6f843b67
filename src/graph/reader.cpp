// The reader of names.
#include "graph/reader.hpp"

#include <algorithm>

#include "graph/characters.hpp"
#include "plated/error.hpp"

namespace plated::graph {

void fail(std::string_view text, std::size_t at, const std::string& message) {
  constexpr std::size_t window = 60;
  const auto boundary = [&](std::size_t k) {
    while (k < text.size() && (static_cast<unsigned char>(text[k]) & 0xC0U) == 0x80U) ++k;
    return k;
  };
  const std::size_t begin = boundary(at > window ? at - window : 0);
  const std::size_t end = boundary(std::min(text.size(), at + window));
  std::string shown(text.substr(begin, end - begin));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  const std::string lead = begin > 0 ? "…" : "";
  const std::size_t indent = (begin > 0 ? 1 : 0) + count_code_points(text.substr(begin, at - begin));
  throw ParseError(message + " (column " + std::to_string(count_code_points(text.substr(0, at)) + 1) + ")\n  " + lead +
                   shown + (end < text.size() ? "…" : "") + "\n  " + std::string(indent, ' ') + "^");
}

char32_t Reader::peek() const {
  const CodePoint c = decode(text_, at_);
  if (c.bytes == 0) fail(text_, at_, "this byte is not UTF-8");
  return c.value;
}

void Reader::skip() { at_ += decode(text_, at_).bytes; }

void Reader::skip_blanks() {
  while (!done() && is_blank(peek())) skip();
}

std::string_view Reader::letter() {
  if (text_.substr(at_, 3) == "...") {
    fail(text_, at_, "an ellipsis is not supported: name the dims, and declare them as batch dims");
  }
  const std::size_t begin = at_;
  hat();
  check_nameable();
  skip();
  dollar(begin);
  return text_.substr(begin, at_ - begin);
}

std::string_view Reader::word() {
  const std::size_t begin = at_;
  hat();
  check_nameable();
  if (is_word(peek())) {
    while (!done() && is_word(peek())) skip();
  } else {
    skip();
  }
  if (next_is(U'[')) brackets();
  dollar(begin);
  if (!done() && !is_blank(peek()) && !next_is(U',') && !next_is(U'-') && !next_is(U'(') && !next_is(U')')) {
    check_nameable();
    fail(text_, at_, "this character cannot be part of a longer name: names are letters, digits and '_'");
  }
  return text_.substr(begin, at_ - begin);
}

void Reader::hat() {
  if (ends_ == Ends::refused || !next_is(U'^')) return;
  const std::size_t begin = at_;
  skip();
  const bool name_follows = !done() && !is_blank(peek()) && !is_reserved(peek());
  if (!name_follows) fail(text_, begin, "'^' stands before the name of a variable, as in '^b'");
}

void Reader::dollar(std::size_t begin) {
  if (ends_ == Ends::refused || !next_is(U'$')) return;
  if (text_[begin] == '^') fail(text_, begin, "a name is the first slice's, '^b', or the last slice's, 'b$', not both");
  skip();
}

void Reader::check_nameable() const {
  const char32_t c = peek();
  if (c == U'$' && ends_ == Ends::allowed) fail(text_, at_, "'$' stands after the name of a variable, as in 'b$'");
  if (c == U'^' || c == U'$') fail(text_, at_, "'^' and '$' are reserved for the ends of chains");
  if (c == U'[' || c == U']') fail(text_, at_, "brackets only follow a name, in spaced form, as in 'y[i=0]'");
  if (c == U'>') fail(text_, at_, "'>' without '-' before it");
  if (is_reserved(c)) fail(text_, at_, "this character cannot be a name");
}

void Reader::brackets() {
  const std::size_t begin = at_;
  int depth = 0;
  do {
    if (done() || is_blank(peek())) fail(text_, begin, "this bracket is not closed");
    if (peek() == U'[') ++depth;
    if (peek() == U']') --depth;
    skip();
  } while (depth > 0);
}

}  // namespace plated::graph
