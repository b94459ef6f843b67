// The state of a Plan: its graph, its schedule, and the schedules of the questions asked so far.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "adjoint/questions.hpp"
#include "chain/program.hpp"
#include "engine/questions.hpp"
#include "planner/planner.hpp"
#include "plated/plan.hpp"

namespace plated {

struct Workspace::Impl {
  std::shared_ptr<const void> plan;  // the plan's Impl: what is bound in the memory is only right for its schedule
  engine::Workspace memory;
};

namespace api {

using engine::output_shapes;
using engine::Runnable;
using engine::shape_only;
using engine::sizes;

struct PlanImpl {
  PlanImpl(FactorGraph asked, FactorGraph with_evidence, std::vector<DimId> observed, planner::Options how);

  FactorGraph graph;     // as it was asked
  FactorGraph observed;  // the same and, after its factors, one for the evidence of each observable variable
  std::vector<DimId> observable;
  adjoint::AnswerAxes axes;
  planner::Options options;
  /// Of a graph without chains its schedule, of one with chains the program: one of them is set.
  std::optional<Runnable> value;
  std::unique_ptr<chain::Program> chains;

  engine::Questions question;
};

struct PlanAccess {
  static const PlanImpl& impl(const Plan& plan) { return *plan.impl_; }
};

/// The engine's settings for a run of the plan. Throws OptionError.
[[nodiscard]] engine::Settings settings_of(const RunOptions& options);

}  // namespace api

}  // namespace plated
