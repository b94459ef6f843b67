// Computes assignments of all variables: runs the total, then traces its choices back.
#pragma once

#include <map>
#include <span>
#include <string>

#include "adjoint/backtrace.hpp"
#include "api/plan_impl.hpp"

namespace plated::api {

/// Runs the plan's total on checked inputs and fixes every variable; returns the total, for each batch. Throws
/// ImpossibleError where it is zero.
Tensor decode(const PlanImpl& plan, std::span<const Tensor> inputs, engine::Settings settings,
              const RunOptions& options, const adjoint::Choice& choice, std::map<std::string, Integers>& assignment);

}  // namespace plated::api
