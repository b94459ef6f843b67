// Likelihoods: distributions of observed numbers given discrete parents.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plated/tensor.hpp"

namespace plated {

/// What numbers are distributed as, with its parameters.
enum class Family : std::uint8_t {
  normal,       ///< `mean` and `deviation`
  poisson,      ///< `rate`
  gamma,        ///< `shape` and `rate`
  beta,         ///< `alpha` and `beta`
  von_mises,    ///< angles: `mean` and `concentration`
  bernoulli,    ///< `probability` of 1
  categorical,  ///< `probabilities` of 0, 1, …: one more axis, behind the others
};

/// "normal", "poisson", "gamma", "beta", "von_mises", "bernoulli", "categorical".
[[nodiscard]] std::string_view name(Family family);
/// The family that is called so, if any.
[[nodiscard]] std::optional<Family> family_named(std::string_view name);
/// All of them, as they are called.
[[nodiscard]] std::vector<std::string> family_names();
/// The names of a family's parameters, in order; `zero` follows where it is zero-inflated.
[[nodiscard]] std::vector<std::string> parameter_names(Family family, bool zero_inflated);

/// Observed numbers given the discrete variables that a factor holds. The factor's dims are the axes of the parameters:
/// parents, and plates whose slices have parameters of their own; in plates that it is tied in, all slices share them.
///
///   graph.factor("steps", {"state"}, {.tied = {"animal", "t"}});
///   Likelihood{.family = Family::normal, .of = "step",
///              .parameters = {{"mean", Tensor::of<double>({2}, {0, 5})}, {"deviation", Tensor::scalar(1.0)}}}
struct Likelihood {
  Family family = Family::normal;
  /// What the numbers are called in data; empty: as the factor is.
  std::string of = {};
  /// Zero has a probability of its own, `zero`. Numbers that are counts may be zero for the other reason, too.
  bool zero_inflated = false;
  /// By name: one number for all, or one for each of the factor's entries. None at all: it is to be learnt, from a
  /// start that is drawn from the data.
  std::map<std::string, Tensor> parameters = {};
};

/// Observed numbers by name, shaped as evidence is: an axis for each plate and chain of the factor in declaration
/// order, batch dims may come first. NaN is missing.
using Measurements = std::map<std::string, Tensor>;

}  // namespace plated
