// The settings and the checked lengths that questions about chains are called with.
#pragma once

#include "api/call.hpp"

namespace plated::api {

/// The lengths of ragged chains by dim. Throws UnknownNameError, ShapeError, ValueError, and OptionError where factors
/// of a chain lack plates of its linked variables and are joined to none of them, so that no length is theirs.
[[nodiscard]] engine::RaggedDims ragged_chains(const PlanImpl& plan, const Lengths& lengths);

/// The program of the total alone: questions about a posterior do not depend on the outputs that were asked for.
[[nodiscard]] std::shared_ptr<const chain::Program> total_program(const PlanImpl& plan);

/// How chains are asked in a call, whose lengths it refers to.
[[nodiscard]] inline chain::Call chain_call(const Call& call, const engine::Settings& settings) {
  return {.settings = settings, .lengths = call.lengths().empty() ? nullptr : &call.lengths()};
}

}  // namespace plated::api
