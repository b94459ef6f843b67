// Outputs of runs that bring evidence, lengths or weights along, which a workspace holds.
#pragma once

#include "api/call.hpp"

namespace plated::api {

/// Plan::run_into. Throws what it throws.
void run_held(Tensors outputs, const Plan& plan, Tensors operands, Workspace& workspace, const RunOptions& options);

}  // namespace plated::api
