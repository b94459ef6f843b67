// What a Plan holds: its schedule and a pool of workspaces that earlier runs have warmed up.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "engine/run.hpp"
#include "planner/schedule.hpp"
#include "plated/plan.hpp"

namespace plated {

struct Workspace::Impl {
  std::shared_ptr<const void> plan;  // the plan's Impl: what is bound in the memory is only right for its schedule
  engine::Workspace memory;
};

struct Plan::Impl {
  planner::Schedule schedule;

  /// Workspaces that no run is using; bounded, because a burst of concurrent runs should not pin their memory for ever.
  struct Idle {
    std::mutex mutex;
    std::vector<std::unique_ptr<engine::Workspace>> workspaces;
  };
  std::unique_ptr<Idle> idle = std::make_unique<Idle>();
};

}  // namespace plated
