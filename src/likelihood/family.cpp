// Names families and their parameters.
#include <algorithm>
#include <array>

#include "plated/likelihood.hpp"

namespace plated {
namespace {

struct Named {
  Family family;
  std::string_view name;
  std::array<std::string_view, 2> parameters;
};

constexpr std::array families = {
    Named{Family::normal, "normal", {"mean", "deviation"}},
    Named{Family::poisson, "poisson", {"rate", ""}},
    Named{Family::gamma, "gamma", {"shape", "rate"}},
    Named{Family::beta, "beta", {"alpha", "beta"}},
    Named{Family::von_mises, "von_mises", {"mean", "concentration"}},
    Named{Family::bernoulli, "bernoulli", {"probability", ""}},
    Named{Family::categorical, "categorical", {"probabilities", ""}},
};

const Named& described(Family family) {
  return *std::find_if(families.begin(), families.end(), [&](const Named& one) { return one.family == family; });
}

}  // namespace

std::string_view name(Family family) { return described(family).name; }

std::optional<Family> family_named(std::string_view name) {
  const auto found = std::find_if(families.begin(), families.end(), [&](const Named& one) { return one.name == name; });
  return found == families.end() ? std::nullopt : std::optional(found->family);
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const Named& one : families) names.emplace_back(one.name);
  return names;
}

std::vector<std::string> parameter_names(Family family, bool zero_inflated) {
  std::vector<std::string> names;
  for (const std::string_view name : described(family).parameters) {
    if (!name.empty()) names.emplace_back(name);
  }
  if (zero_inflated) names.emplace_back("zero");
  return names;
}

}  // namespace plated
