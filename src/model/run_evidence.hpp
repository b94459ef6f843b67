// The evidence of a model as runs of its graph take it.
#pragma once

#include "plated/model.hpp"

namespace plated::model {

/// The evidence of models has plates and chains in declaration order, that of runs has chains behind plates.
[[nodiscard]] Evidence run_evidence(const FactorGraph& graph, Evidence evidence);

}  // namespace plated::model
