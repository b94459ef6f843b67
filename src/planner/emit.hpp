// Turns the structure of an elimination into steps: components first, then outputs.
#pragma once

#include <set>
#include <string>

#include "planner/contraction_order.hpp"
#include "planner/elimination.hpp"
#include "planner/schedule.hpp"

namespace plated::planner {

struct EmitOptions {
  OrderOptions order;
  bool keep_sums = false;  // outputs are copies of values that are kept
  bool keep_messages = false;
  std::set<std::string> without;
};
/// Writes the steps of every output that has elements.
///
/// A scalar output is the product of the scalars S. An output with variables opens the components that hold them, and
/// every component that their messages reach: their factors, unsummed, are contracted together with the messages of all
/// others. Where a message multiplies over plates that the output keeps, the output's own slice must not be multiplied
/// twice: the leave-one-out product of the other slices stands in for it. No division is needed.
void emit(Schedule& schedule, const Elimination& elimination, const EmitOptions& options);

}  // namespace plated::planner
