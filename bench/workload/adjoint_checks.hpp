// Checks the answers of a runner.
#pragma once

#include <optional>

#include "workload/adjoint_runner.hpp"
#include "workload/posterior.hpp"

namespace bench {

/// Asks every question and holds the answers against each other and, where there is one, the plain posterior: gradients
/// add up to marginals, the best assignment has its score and the score's bits are the max-plus value's, `samples`
/// joint samples have the frequencies that the marginals promise. Throws std::runtime_error where one is wrong.
void check_adjoints(const TreeModel& model, AdjointRunner& runner, const std::optional<Posterior>& expected,
                    std::int64_t samples);

}  // namespace bench
