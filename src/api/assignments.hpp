// Computes assignments of all variables: runs the total, then traces its choices back.
#pragma once

#include <map>
#include <string>

#include "adjoint/backtrace.hpp"
#include "api/posed.hpp"

namespace plated::api {

/// Runs the plan's total, unless an evaluation has kept it, and fixes every variable; returns the total, for each
/// batch. Throws ImpossibleError where it is zero.
Tensor decode(const Posed& posed, const adjoint::Choice& choice, std::map<std::string, Integers>& assignment);

}  // namespace plated::api
