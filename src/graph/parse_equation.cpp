// A one-pass reader of equations.
#include "graph/parse_equation.hpp"

#include <algorithm>
#include <string>

#include "graph/characters.hpp"
#include "plated/error.hpp"

namespace plated::graph {
namespace {

/// Throws ParseError with the place: its column, a window of the text, and a caret below it.
[[noreturn]] void fail(std::string_view text, std::size_t at, const std::string& message) {
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

/// A place in a text, and the names read from it.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] char32_t peek() const {
    const CodePoint c = decode(text_, at_);
    if (c.bytes == 0) fail(text_, at_, "this byte is not UTF-8");
    return c.value;
  }
  void skip() { at_ += decode(text_, at_).bytes; }
  [[nodiscard]] bool next_is(char32_t c) const { return !done() && peek() == c; }

  std::string_view letter() {
    if (text_.substr(at_, 3) == "...") {
      fail(text_, at_, "an ellipsis is not supported: name the dims, and declare them as batch dims");
    }
    const std::size_t begin = at_;
    check_nameable();
    skip();
    return text_.substr(begin, at_ - begin);
  }

  /// A word, or one character of any other kind, with the bracketed index of a copy after it (`y[i=0]`).
  std::string_view word() {
    const std::size_t begin = at_;
    check_nameable();
    if (is_word(peek())) {
      while (!done() && is_word(peek())) skip();
    } else {
      skip();
    }
    if (next_is(U'[')) brackets();
    if (!done() && !is_blank(peek()) && !next_is(U',') && !next_is(U'-') && !next_is(U'(') && !next_is(U')')) {
      check_nameable();
      fail(text_, at_, "this character cannot be part of a longer name: names are letters, digits and '_'");
    }
    return text_.substr(begin, at_ - begin);
  }

 private:
  void check_nameable() const {
    const char32_t c = peek();
    if (c == U'^' || c == U'$') fail(text_, at_, "'^' and '$' are reserved for the ends of chains");
    if (c == U'[' || c == U']') fail(text_, at_, "brackets only follow a name, in spaced form, as in 'y[i=0]'");
    if (c == U'>') fail(text_, at_, "'>' without '-' before it");
    if (is_reserved(c)) fail(text_, at_, "this character cannot be a name");
  }

  void brackets() {
    const std::size_t begin = at_;
    int depth = 0;
    do {
      if (done() || is_blank(peek())) fail(text_, begin, "this bracket is not closed");
      if (peek() == U'[') ++depth;
      if (peek() == U']') --depth;
      skip();
    } while (depth > 0);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool blanks_separate_dims(std::string_view text) {
  bool dim_seen = false;
  bool blank_since = false;
  for (Reader reader(text); !reader.done(); reader.skip()) {
    const char32_t c = reader.peek();
    if (is_blank(c)) {
      blank_since = dim_seen;
    } else if (c == U',' || c == U'-' || c == U'>') {
      dim_seen = blank_since = false;
    } else if (c != U'(' && c != U')') {
      if (blank_since) return true;
      dim_seen = true;
    }
  }
  return false;
}

std::string_view trimmed(std::string_view text) {
  std::size_t begin = text.size();
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode(text, at);
    if (!is_blank(c.value)) {
      begin = std::min(begin, at);
      end = at + c.bytes;
    }
    at += c.bytes;
  }
  return begin < end ? text.substr(begin, end - begin) : std::string_view{};
}

}  // namespace

ParsedEquation parse_equation(std::string_view text, std::optional<bool> spaced) {
  ParsedEquation result;
  result.spaced = spaced ? *spaced : blanks_separate_dims(text);

  Reader reader(text);
  Term term;
  std::size_t term_begin = 0;
  bool after_arrow = false;
  std::optional<std::size_t> parenthesis;
  std::size_t dims_before_parenthesis = 0;
  const auto finish_term = [&] {
    if (parenthesis) fail(text, *parenthesis, "this parenthesis is not closed in its term");
    term.text = trimmed(text.substr(term_begin, reader.at() - term_begin));
    (after_arrow ? result.outputs : result.operands).push_back(std::move(term));
    term = {};
  };

  while (!reader.done()) {
    const std::size_t at = reader.at();
    const char32_t c = reader.peek();
    if (is_blank(c)) {
      reader.skip();
    } else if (c == U',') {
      finish_term();
      reader.skip();
      term_begin = reader.at();
    } else if (c == U'-') {
      if (after_arrow) fail(text, at, "an equation has one '->', and this is a second");
      finish_term();
      reader.skip();
      if (!reader.next_is(U'>')) fail(text, at, "'-' without '>' after it");
      reader.skip();
      after_arrow = true;
      term_begin = reader.at();
    } else if (c == U'(') {
      if (after_arrow) fail(text, at, "parentheses are for tied factors: an output cannot have them");
      if (parenthesis) fail(text, at, "parentheses do not nest");
      parenthesis = at;
      dims_before_parenthesis = term.dims.size();
      reader.skip();
    } else if (c == U')') {
      if (!parenthesis) fail(text, at, "this parenthesis was not opened in its term");
      if (term.dims.size() == dims_before_parenthesis) fail(text, *parenthesis, "there is no dim in this parenthesis");
      parenthesis.reset();
      reader.skip();
    } else {
      const std::string_view name = result.spaced ? reader.word() : reader.letter();
      term.dims.push_back({name, parenthesis.has_value()});
    }
  }
  if (!after_arrow) {
    if (parenthesis) fail(text, *parenthesis, "this parenthesis is not closed in its term");
    fail(text, text.size(), "the equation has no '->'");
  }
  finish_term();
  return result;
}

std::vector<std::string_view> parse_names(std::string_view text, bool spaced, std::string_view what) {
  std::vector<std::string_view> names;
  Reader reader(text);
  while (!reader.done()) {
    const char32_t c = reader.peek();
    if (is_blank(c) || c == U',') {
      reader.skip();
    } else if (c == U'-' || c == U'(' || c == U')') {
      fail(text, reader.at(), "in '" + std::string(what) + "': this character cannot be a name");
    } else {
      names.push_back(spaced ? reader.word() : reader.letter());
    }
  }
  return names;
}

void check_name(std::string_view name) {
  if (name.empty()) throw ParseError("a name is empty");
  Reader reader(name);
  const char32_t c = reader.peek();
  if (is_blank(c) || c == U',' || c == U'-' || c == U'(' || c == U')') {
    fail(name, 0, "a name cannot begin with this character");
  }
  (void)reader.word();
  if (!reader.done()) fail(name, reader.at(), "this character cannot be part of a name");
}

}  // namespace plated::graph
