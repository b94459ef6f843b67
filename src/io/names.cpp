// Turns any name into one that an equation can spell.
#include "io/names.hpp"

#include "graph/characters.hpp"
#include "graph/parse_names.hpp"
#include "plated/error.hpp"

namespace plated::io {
namespace {

bool is_spellable(std::string_view name) {
  try {
    graph::check_name(name);
  } catch (const ParseError&) {
    return false;
  }
  return true;
}

}  // namespace

std::string Speller::spell(std::string_view name, const std::function<bool(const std::string&)>& taken) {
  std::string result(name);
  if (!is_spellable(name) || taken(result)) {
    result.clear();
    for (std::size_t at = 0; at < name.size();) {
      const graph::CodePoint c = graph::decode(name, at);
      const std::size_t bytes = c.bytes == 0 ? 1 : c.bytes;
      result += c.bytes > 0 && graph::is_word(c.value) ? name.substr(at, bytes) : std::string_view("_");
      at += bytes;
    }
    if (result.empty()) result = "_";
  }
  if (!taken(result)) return result;
  int& last = last_.try_emplace(result, 1).first->second;
  while (true) {
    std::string numbered = result + "_" + std::to_string(++last);
    if (!taken(numbered)) return numbered;
  }
}

}  // namespace plated::io
