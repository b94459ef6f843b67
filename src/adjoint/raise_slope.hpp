// Derivatives of a power by what is raised.
#pragma once

#include <optional>

#include "adjoint/step_writer.hpp"

namespace plated::adjoint {

/// The derivative of a Raise step's output by its first input, once or twice; in log space a power is linear, and has
/// no second one. Exponents have no derivative of their own. Where zero is raised to an exponent between 0 and 1, or 1
/// and 2, the derivative that does not exist is 0.
[[nodiscard]] std::optional<Terms> raise_slope(StepWriter& writer, const planner::Step& step, Semiring semiring,
                                               int order = 1);

}  // namespace plated::adjoint
