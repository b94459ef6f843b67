// Decodes assignments.
#include "api/assignments.hpp"

#include <functional>
#include <new>

#include "adjoint/questions.hpp"
#include "api/chained.hpp"
#include "api/inputs.hpp"
#include "api/log_posterior.hpp"
#include "base/checked_size.hpp"
#include "base/watched_resize.hpp"
#include "chain/decode.hpp"
#include "planner/schedule_cost.hpp"
#include "plated/error.hpp"

namespace plated::api {

namespace {

/// Shapes of all assignments, by DimId; their bytes count as outputs.
std::vector<std::vector<std::int64_t>> shapes_of(const PlanImpl& plan, const adjoint::Choice& choice,
                                                 engine::Settings& settings) {
  std::vector<std::vector<std::int64_t>> shapes(plan.graph.dims().size());
  for (DimId v = 0; v < shapes.size(); ++v) {
    if (plan.graph.dims()[v].kind != DimKind::variable) continue;
    shapes[v] = sizes(plan.graph, plan.axes(v, false));
    if (choice.draw) shapes[v].insert(shapes[v].begin(), choice.count);
    const std::int64_t bytes = base::checked_product(base::checked_product(shapes[v]), sizeof(std::int64_t));
    settings.output_bytes = base::checked_sum(settings.output_bytes, bytes);
  }
  return shapes;
}

/// Runs the total of a graph without chains and traces it back.
Tensor decode_plain(const PlanImpl& plan, std::span<const Tensor> inputs, const engine::Settings& settings,
                    const adjoint::Choice& choice, const std::function<void()>& allocate,
                    std::vector<Integers>& chosen) {
  const auto runnable = plan.question("total", [&] {
    planner::Options all_kept = plan.options;
    all_kept.sums_only = false;
    all_kept.without.insert("reuse_buffers");
    return planner::plan(adjoint::total_graph(plan.observed), all_kept);
  });
  const planner::Schedule& schedule = runnable->schedule();
  const Runnable::Lease lease(*runnable);
  // A choice takes as long as some flops.
  constexpr double flops_a_choice = 16;
  const double forward = planner::schedule_cost(schedule, schedule.extents, settings.semiring, 8).flops;
  const double choices = flops_a_choice * static_cast<double>(settings.output_bytes) / sizeof(std::int64_t);
  base::Phases phases;
  Tensor total;
  {
    const auto phase = phases.next(forward > 0 ? forward / (forward + choices) : 0.0);
    total = runnable->run(output_shapes(schedule.graph, engine::element_dtype(inputs)), inputs, settings, lease)[0];
  }
  check_possible(plan.graph, total, settings.semiring);
  allocate();
  const auto phase = phases.next(1.0);
  adjoint::backtrace(schedule, settings.semiring, inputs, *lease, choice, settings.threads, chosen);
  return total;
}

}  // namespace

Tensor decode(const PlanImpl& plan, std::span<const Tensor> inputs, engine::Settings settings,
              const RunOptions& options, const adjoint::Choice& choice, std::map<std::string, Integers>& assignment) {
  const std::vector<std::vector<std::int64_t>> shapes = shapes_of(plan, choice, settings);
  std::vector<Integers> chosen(shapes.size());
  const auto allocate = [&] {
    for (DimId v = 0; v < chosen.size(); ++v) {
      if (plan.graph.dims()[v].kind != DimKind::variable) continue;
      chosen[v].shape = shapes[v];
      const auto entries = static_cast<std::size_t>(base::checked_product(shapes[v]));
      base::watched_resize(chosen[v].values, entries, std::int64_t{-1});
    }
  };
  Tensor total;
  try {
    if (plan.chains) {
      allocate();
      total = chain::decode(
          *total_program(plan), inputs, choice, ChainCall(plan, options, settings),
          [&](const Tensor& sum) { check_possible(plan.graph, sum, settings.semiring); }, chosen);
    } else {
      total = decode_plain(plan, inputs, settings, choice, allocate, chosen);
    }
  } catch (const std::bad_alloc&) {
    throw MemoryLimitError(
        "the assignments need " + std::to_string(settings.output_bytes) + " bytes, which the machine refused",
        settings.output_bytes, settings.memory_limit);
  }
  base::tell_progress(1);
  for (const DimId v : variables(plan.graph)) assignment.emplace(plan.graph.dims()[v].name, std::move(chosen[v]));
  return total;
}

}  // namespace plated::api
