// The schedule of a slice as a backtrace runs it: what its sums read is computed, and the sums are chosen from.
#pragma once

#include <vector>

#include "planner/schedule.hpp"

namespace plated::adjoint {

/// The steps that choices need, and what it takes to bind them; every value has a place of its own. Sums read factors
/// rather than their products and sums, where these are not too many.
[[nodiscard]] planner::Schedule traced_body(const planner::Schedule& body);

/// Which steps must be computed in a slice before its choices: sums read their output.
[[nodiscard]] std::vector<bool> read_by_sums(const planner::Schedule& body, const std::vector<planner::Step>& steps);

}  // namespace plated::adjoint
