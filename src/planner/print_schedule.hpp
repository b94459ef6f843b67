// Prints a schedule as text that can be compared with the paper's walk-through.
#pragma once

#include <string>

#include "planner/schedule.hpp"

namespace plated::planner {

/// One line per step, under the component of [TVE] Alg. 1 that it belongs to:
///
///   leaf L = {i, j}
///     V_c = {c}, F_c = {f2}, V_f = {b}, L′ = {i}
///        1  m1[b, i] = Product{j} SumProduct{c}(f2)
[[nodiscard]] std::string print_schedule(const Schedule& schedule);

}  // namespace plated::planner
