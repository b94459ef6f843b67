// What a Plan holds: its graph, its schedule, and the schedules of questions that were asked of it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "adjoint/questions.hpp"
#include "api/runnable.hpp"
#include "planner/planner.hpp"
#include "plated/plan.hpp"

namespace plated {

struct Workspace::Impl {
  std::shared_ptr<const void> plan;  // the plan's Impl: what is bound in the memory is only right for its schedule
  engine::Workspace memory;
};

namespace api {

struct PlanImpl {
  PlanImpl(FactorGraph asked, FactorGraph with_evidence, std::vector<DimId> observed, planner::Options how);

  FactorGraph graph;     // as it was asked
  FactorGraph observed;  // the same and, after its factors, one for the evidence of each observable variable
  std::vector<DimId> observable;
  adjoint::AnswerAxes axes;
  planner::Options options;
  Runnable value;

  /// The runnable for a question, planned when it is first asked; `question` spells everything it depends on.
  [[nodiscard]] std::shared_ptr<const Runnable> question(const std::string& question,
                                                         const std::function<planner::Schedule()>& plan) const;

 private:
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const Runnable>> questions_;
};

struct PlanAccess {
  static const PlanImpl& impl(const Plan& plan) { return *plan.impl_; }
};

/// The engine's settings for a run of the plan. Throws OptionError.
[[nodiscard]] engine::Settings settings_of(const RunOptions& options);

}  // namespace api

}  // namespace plated
