// The benchmark's expected results, by plain loops in double.
#pragma once

#include "workload/tree_model.hpp"

namespace bench {

struct Reference {
  double log_total = 0;     ///< the logarithm of the model's result, in either semiring
  double log_sum_exps = 0;  ///< Σ over b, i, j (k) of logsumexp over c, and the same of the other large factor
  double sum = 0;           ///< the sum of all entries of the two large factors
};

/// Eliminates by hand: c and e in each slice, then b in each i and d in each j, then a. For models stored plainly, as
/// "bcij" or "bcijk". `log_sum_exps` takes entries as logarithms whatever the semiring.
[[nodiscard]] Reference reference(const TreeModel& model, plated::Semiring semiring);

/// Throws std::runtime_error unless the relative (below 1: absolute) difference is within the tolerance.
void require_close(const std::string& what, double found, double expected, double tolerance);

}  // namespace bench
