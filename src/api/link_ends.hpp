// The first and last slices of linked variables, as outputs that a question asks for.
#pragma once

#include <string>
#include <vector>

#include "api/plan_impl.hpp"

namespace plated::api {

/// Asks for them, too; returns their names. Their axes are those of the variables but for the chain.
std::vector<std::string> add_ends(const PlanImpl& plan, std::vector<std::vector<std::string>>& asked,
                                  std::vector<std::vector<DimId>>& axes);

}  // namespace plated::api
