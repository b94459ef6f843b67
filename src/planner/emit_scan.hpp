// Writes scans: messages along the chain that links the variables of a component, in either direction.
#pragma once

#include <vector>

#include "planner/emit.hpp"
#include "planner/schedule_builder.hpp"

namespace plated::planner {

/// Messages along a chain, in the direction of a component's elimination or back.
struct ScanRequest {
  const ComponentRecord& component;
  /// Values of the component's nodes.
  std::vector<ValueId> nodes;
  /// The first message is their product; over variables outside of the chain and the ends where messages begin.
  std::vector<ValueId> start;
  /// Ends where messages begin that are asked for: messages carry them along.
  SortedSet carried = {};
  /// Against the direction of the elimination.
  bool returns = false;
  /// The message before each slice is kept.
  bool keeps = false;
};

struct ScanValues {
  ValueId last = none;  // the message after the last slice
  ValueId messages = none;
  ValueId shifts = none;
};

/// What reads no message is no part of the body: it is computed for all slices at once.
[[nodiscard]] ScanValues emit_scan(Schedule& schedule, ScheduleBuilder& builder, const ScanRequest& request,
                                   const EmitOptions& options);

}  // namespace plated::planner
