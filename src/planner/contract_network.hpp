// Contracts a network of values towards one or several sinks, sharing the messages between them.
#pragma once

#include <vector>

#include "planner/contraction_order.hpp"
#include "planner/schedule_builder.hpp"

namespace plated::planner {

/// Values whose product, summed over every variable but a sink's own, each sink wants.
struct SinkNetwork {
  std::vector<ValueId> tensors;
  std::vector<SortedSet> sinks;  // the variables each one keeps
  SortedSet leaf;
};

/// Emits every contraction but the last of each sink; returns the last one's inputs, for the caller to finish with a
/// product over plates or straight into an output. A network without tensors gives no inputs.
[[nodiscard]] std::vector<std::vector<ValueId>> contract_network(ScheduleBuilder& builder, const Problem& problem,
                                                                 const SinkNetwork& network,
                                                                 const OrderOptions& options);

}  // namespace plated::planner
