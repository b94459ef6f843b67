// Plans a question's graph, and checks the whole schedule in the end.
#include "adjoint/question_schedule.hpp"

#include "planner/passes.hpp"

namespace plated::adjoint {

planner::Schedule forward(const FactorGraph& graph, planner::Options options) {
  options.keep_sums = true;
  options.sums_only = false;
  return planner::plan(graph, options);
}

planner::Schedule finished(planner::Schedule schedule, const planner::Options& options) {
  schedule.reuses_buffers = !options.without.contains("reuse_buffers");
  if (schedule.verified) planner::verify(schedule);
  return schedule;
}

}  // namespace plated::adjoint
