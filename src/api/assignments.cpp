// Decodes assignments.
#include "api/assignments.hpp"

#include "adjoint/questions.hpp"
#include "api/inputs.hpp"

namespace plated::api {

Tensor decode(const PlanImpl& plan, std::span<const Tensor> inputs, const RunOptions& options,
              const adjoint::Choice& choice, std::map<std::string, Integers>& assignment) {
  const auto runnable = plan.question("total", [&] {
    planner::Options all_kept = plan.options;
    all_kept.sums_only = false;
    all_kept.without.insert("reuse_buffers");
    return planner::plan(adjoint::total_graph(plan.observed), all_kept);
  });
  const engine::Settings settings = settings_of(options);
  const planner::Schedule& schedule = runnable->schedule();
  const Runnable::Lease lease(*runnable);
  const Tensor total =
      runnable->run(output_shapes(schedule.graph, engine::element_dtype(inputs)), inputs, settings, lease)[0];
  check_possible(plan.graph, total, options.semiring);

  std::vector<Integers> chosen(plan.graph.dims().size());
  for (DimId v = 0; v < chosen.size(); ++v) {
    if (plan.graph.dims()[v].kind != DimKind::variable) continue;
    std::vector<std::int64_t> shape = sizes(plan.graph, adjoint::answer_axes(plan.graph, v, false));
    if (choice.draw) shape.insert(shape.begin(), choice.count);
    chosen[v] = Integers(std::move(shape));
  }
  adjoint::backtrace(schedule, options.semiring, inputs, *lease, choice, settings.threads, chosen);
  for (DimId v = 0; v < chosen.size(); ++v) {
    if (plan.graph.dims()[v].kind == DimKind::variable) {
      assignment.emplace(plan.graph.dims()[v].name, std::move(chosen[v]));
    }
  }
  return total;
}

}  // namespace plated::api
