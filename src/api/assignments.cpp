// Decodes assignments.
#include "api/assignments.hpp"

#include <new>

#include "adjoint/questions.hpp"
#include "api/inputs.hpp"
#include "base/checked_size.hpp"
#include "plated/error.hpp"

namespace plated::api {

Tensor decode(const PlanImpl& plan, std::span<const Tensor> inputs, engine::Settings settings,
              const adjoint::Choice& choice, std::map<std::string, Integers>& assignment) {
  const auto runnable = plan.question("total", [&] {
    planner::Options all_kept = plan.options;
    all_kept.sums_only = false;
    all_kept.without.insert("reuse_buffers");
    return planner::plan(adjoint::total_graph(plan.observed), all_kept);
  });
  std::vector<std::vector<std::int64_t>> shapes(plan.graph.dims().size());
  for (DimId v = 0; v < shapes.size(); ++v) {
    if (plan.graph.dims()[v].kind != DimKind::variable) continue;
    shapes[v] = sizes(plan.graph, plan.axes(v, false));
    if (choice.draw) shapes[v].insert(shapes[v].begin(), choice.count);
    const std::int64_t bytes = base::checked_product(base::checked_product(shapes[v]), sizeof(std::int64_t));
    settings.output_bytes = base::checked_sum(settings.output_bytes, bytes);
  }
  const planner::Schedule& schedule = runnable->schedule();
  const Runnable::Lease lease(*runnable);
  Tensor total =
      runnable->run(output_shapes(schedule.graph, engine::element_dtype(inputs)), inputs, settings, lease)[0];
  check_possible(plan.graph, total, settings.semiring);

  std::vector<Integers> chosen(shapes.size());
  try {
    for (DimId v = 0; v < chosen.size(); ++v) {
      if (plan.graph.dims()[v].kind == DimKind::variable) chosen[v] = Integers(shapes[v]);
    }
    adjoint::backtrace(schedule, settings.semiring, inputs, *lease, choice, settings.threads, chosen);
  } catch (const std::bad_alloc&) {
    throw MemoryLimitError(
        "the assignments need " + std::to_string(settings.output_bytes) + " bytes, which the machine refused",
        settings.output_bytes, settings.memory_limit);
  }
  for (DimId v = 0; v < chosen.size(); ++v) {
    if (plan.graph.dims()[v].kind == DimKind::variable) {
      assignment.emplace(plan.graph.dims()[v].name, std::move(chosen[v]));
    }
  }
  return total;
}

}  // namespace plated::api
