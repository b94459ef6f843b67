// Parses lists of names, links, and single names.
#include "graph/parse_names.hpp"

#include "graph/characters.hpp"
#include "graph/reader.hpp"
#include "plated/error.hpp"

namespace plated::graph {
namespace {

bool separates(char32_t c) { return c == U',' || c == U'-' || c == U'(' || c == U')'; }

}  // namespace

std::vector<std::string_view> parse_names(std::string_view text, bool spaced, std::string_view what) {
  std::vector<std::string_view> names;
  Reader reader(text);
  while (!reader.done()) {
    const char32_t c = reader.peek();
    if (is_blank(c) || c == U',') {
      reader.skip();
    } else if (separates(c)) {
      fail(text, reader.at(), "in '" + std::string(what) + "': this character cannot be a name");
    } else {
      names.push_back(reader.name(spaced));
    }
  }
  return names;
}

std::pair<std::string_view, std::string_view> parse_link(std::string_view text, bool spaced) {
  Reader reader(text);
  const auto name = [&] {
    reader.skip_blanks();
    if (reader.done() || separates(reader.peek())) {
      fail(text, reader.at(), "a name is missing here: a link reads 'source->target', as in 'a->b'");
    }
    const std::string_view read = reader.name(spaced);
    reader.skip_blanks();
    return read;
  };
  const auto expect = [&](char32_t c) {
    if (!reader.next_is(c))
      fail(text, reader.at(), "'->' is missing here: a link reads 'source->target', as in 'a->b'");
    reader.skip();
  };
  const std::string_view source = name();
  expect(U'-');
  expect(U'>');
  const std::string_view target = name();
  if (!reader.done()) fail(text, reader.at(), "a link ends after its target: it reads 'source->target', as in 'a->b'");
  return {source, target};
}

void check_name(std::string_view name) {
  if (name.empty()) throw ParseError("a name is empty");
  Reader reader(name);
  if (is_blank(reader.peek()) || separates(reader.peek())) fail(name, 0, "a name cannot begin with this character");
  (void)reader.name(true);
  if (!reader.done()) fail(name, reader.at(), "this character cannot be part of a name");
}

}  // namespace plated::graph
