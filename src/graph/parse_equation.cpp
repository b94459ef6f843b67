// A one-pass reader of equations.
#include "graph/parse_equation.hpp"

#include <algorithm>

#include "graph/characters.hpp"
#include "graph/ends.hpp"
#include "graph/reader.hpp"

namespace plated::graph {
namespace {

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

  Reader reader(text, Ends::allowed);
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
      const std::string_view name = reader.name(result.spaced);
      if (parenthesis && is_end(name)) {
        fail(text, at, "only plates and chains are tied: an end of a chain cannot stand in parentheses");
      }
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

}  // namespace plated::graph
