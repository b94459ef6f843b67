// Pictures of plans: a panel for each schedule that a run goes through.
#pragma once

#include <string>
#include <vector>

#include "draw/flow.hpp"
#include "planner/schedule.hpp"
#include "plated/draw.hpp"

namespace plated::draw {

struct PlanPanel {
  std::string heading;               ///< none where empty
  std::vector<std::string> remarks;  ///< below it, a line each
  const planner::Schedule* schedule = nullptr;
  SliceNames names;  ///< of the body of a scan
};

[[nodiscard]] std::string plan_svg(const std::vector<PlanPanel>& panels, const DrawOptions& options);

}  // namespace plated::draw
