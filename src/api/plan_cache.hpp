// A cache of recent plans, keyed by everything that a plan depends on: not by the sizes of plates.
#pragma once

#include <string_view>
#include <vector>

#include "plated/einsum.hpp"

namespace plated::api {

/// A plan that serves an equation on operands of these shapes; its graph may have been written with other sizes of
/// plates. Bounded: the least recently used plan goes first. Locked: any
/// thread may ask.
[[nodiscard]] Plan cached_plan(std::string_view equation, Tensors operands, const EinsumOptions& options);

/// How a verb runs an equation: its plan, and the part of the options that concerns the run.
struct EquationCall {
  Plan plan;
  RunOptions options;
};
/// The same with sizes that evidence and lengths imply.
[[nodiscard]] EquationCall call_of(std::string_view equation, Tensors operands, const EinsumOptions& options);

}  // namespace plated::api
