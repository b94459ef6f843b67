// The model's posterior by plain loops in double.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "workload/tree_model.hpp"

namespace bench {

struct Posterior {
  /// Of each factor, in its own order: the joint posterior of its variables, which is the derivative of log Z.
  std::array<std::vector<double>, 5> factors;
  /// Of "a", "b" (axes i, b), "d" (j, d), "c" (i, j, c) and "e" (i, j, e).
  std::map<std::string, std::vector<double>> variables;
};

/// Messages towards a by hand, and conditional probabilities back. For models in log space stored plainly, as "bcij".
[[nodiscard]] Posterior posterior(const TreeModel& model);

}  // namespace bench
