// Plans forward runs, and checks whole schedules.
#include "adjoint/question_schedule.hpp"

#include "adjoint/questions.hpp"
#include "planner/passes.hpp"

namespace plated::adjoint {

planner::Schedule forward(const FactorGraph& graph, planner::Options options) {
  options.keep_sums = true;
  options.sums_only = false;
  planner::Schedule schedule = planner::plan(graph, options);
  schedule.forward_steps = schedule.steps.size();
  return schedule;
}

planner::Schedule finished(planner::Schedule schedule) {
  if (schedule.verified) planner::verify(schedule);
  return schedule;
}

}  // namespace plated::adjoint
