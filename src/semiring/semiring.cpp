// The names of the semirings.
#include "plated/semiring.hpp"

#include <array>
#include <string>
#include <utility>

#include "plated/error.hpp"

namespace plated {
namespace {

constexpr std::array<std::pair<Semiring, std::string_view>, 6> names = {{{Semiring::real, "real"},
                                                                         {Semiring::log, "log"},
                                                                         {Semiring::max_plus, "max_plus"},
                                                                         {Semiring::min_plus, "min_plus"},
                                                                         {Semiring::max_product, "max_product"},
                                                                         {Semiring::boolean, "boolean"}}};

}  // namespace

std::string_view name(Semiring semiring) {
  for (const auto& [value, text] : names) {
    if (value == semiring) return text;
  }
  return "unknown";
}

Semiring semiring_named(std::string_view name) {
  std::string known;
  for (const auto& [value, text] : names) {
    if (text == name) return value;
    known.append(known.empty() ? "" : ", ").append(text);
  }
  throw UnknownNameError("no semiring is called \"" + std::string(name) + "\"; there are " + known);
}

}  // namespace plated
