// Decodes assignments.
#include "api/assignments.hpp"

#include <functional>
#include <new>

#include "api/inputs.hpp"
#include "base/checked_size.hpp"
#include "base/watch.hpp"
#include "base/watched_resize.hpp"
#include "engine/check_answers.hpp"
#include "engine/erase.hpp"
#include "engine/indicator.hpp"
#include "engine/log_posterior.hpp"
#include "planner/schedule_cost.hpp"
#include "plated/error.hpp"

namespace plated::api {

namespace {

/// Shapes of all assignments, by DimId; their bytes count as outputs.
std::vector<std::vector<std::int64_t>> shapes_of(const Call& call, const adjoint::Choice& choice,
                                                 engine::Settings& settings) {
  std::vector<std::vector<std::int64_t>> shapes(call.graph.dims().size());
  for (DimId v = 0; v < shapes.size(); ++v) {
    if (call.graph.dims()[v].kind != DimKind::variable) continue;
    shapes[v] = call.shape(call.plan.axes(v, false));
    if (choice.draw) shapes[v].insert(shapes[v].begin(), choice.count);
    const std::int64_t bytes = base::checked_product(base::checked_product(shapes[v]), sizeof(std::int64_t));
    settings.output_bytes = base::checked_sum(settings.output_bytes, bytes);
  }
  return shapes;
}

/// Runs the total and traces it back.
Tensor decode_run(const Posed& posed, engine::Settings settings, const adjoint::Choice& choice,
                  const std::function<void()>& allocate, std::vector<Integers>& chosen) {
  const Call& call = posed.call;
  const auto runnable = call.plan.runnable(call.plan.parts({.kind = Question::Kind::map})[0]);
  const planner::Schedule& schedule = runnable->schedule();
  const std::vector<Tensor> inputs = posed.operands(schedule, posed.inputs.centred());
  const Runnable::Lease lease(*runnable);
  // A choice takes as long as some flops.
  constexpr double flops_a_choice = 16;
  const bool watched = base::detail::watched().watch != nullptr;
  const double forward = watched ? planner::schedule_cost(schedule, call.extents(), settings.semiring, 8).flops : 0.0;
  const double choices = flops_a_choice * static_cast<double>(settings.output_bytes) / sizeof(std::int64_t);
  base::Phases phases;
  Tensor total;
  settings.recalls = true;
  settings.output_bytes = base::checked_sum(
      settings.output_bytes, adjoint::backtrace_bytes(schedule, call.extents(), choice, settings.threads));
  {
    const auto phase = phases.next(forward > 0 ? forward / (forward + choices) : 0.0);
    total = runnable->run(call.output_shapes(schedule.graph, posed.dtype), inputs, settings, lease)[0];
  }
  engine::check_possible(call.graph, total, settings.semiring);
  allocate();
  const auto phase = phases.next(1.0);
  adjoint::backtrace(
      schedule, settings.semiring, inputs, *lease, choice, settings.threads, chosen,
      [&](std::int64_t first, std::int64_t last) { engine::recall(*lease, first, last, settings.threads); });
  return total;
}

/// Traces back what an evaluation has kept.
Tensor decode_kept(const Posed& posed, const engine::Settings& settings, const adjoint::Choice& choice,
                   const std::function<void()>& allocate, std::vector<Integers>& chosen) {
  const Tensor& total = posed.kept()->outputs()[posed.total({})];
  engine::check_possible(posed.call.graph, total, posed.semiring);
  adjoint::Choice of_total = choice;
  of_total.total = posed.total({});
  engine::check_limit(
      base::checked_sum(settings.output_bytes,
                        adjoint::backtrace_bytes(posed.forward(), posed.call.extents(), of_total, settings.threads)),
      settings.memory_limit);
  allocate();
  adjoint::backtrace(posed.forward(), posed.semiring, posed.operands(posed.forward(), posed.inputs.centred()),
                     posed.kept()->workspace(), of_total, posed.call.threads(), chosen);
  return engine::filled(posed.dtype, total.shape(), total.values());
}

}  // namespace

Tensor decode(const Posed& posed, const adjoint::Choice& choice, std::map<std::string, Integers>& assignment) {
  const Call& call = posed.call;
  engine::Settings settings = posed.settings();
  const std::vector<std::vector<std::int64_t>> shapes = shapes_of(call, choice, settings);
  std::vector<Integers> chosen(shapes.size());
  const auto allocate = [&] {
    for (DimId v = 0; v < chosen.size(); ++v) {
      if (call.graph.dims()[v].kind != DimKind::variable) continue;
      chosen[v].shape = shapes[v];
      const auto entries = static_cast<std::size_t>(base::checked_product(shapes[v]));
      base::watched_resize(chosen[v].values, entries, std::int64_t{-1});
    }
  };
  Tensor total;
  try {
    if (posed.kept() != nullptr) {
      total = decode_kept(posed, settings, choice, allocate, chosen);
    } else {
      total = decode_run(posed, settings, choice, allocate, chosen);
    }
  } catch (const std::bad_alloc&) {
    throw MemoryLimitError(
        "the assignments need " + std::to_string(settings.output_bytes) + " bytes, which the machine refused",
        settings.output_bytes, settings.memory_limit);
  }
  base::tell_progress(1);
  const engine::Exponents lengths = call.presence();
  for (const DimId v : graph::variables(call.graph)) {
    if (const Integers* observed = call.observed(v)) engine::put_observed(*observed, chosen[v]);
    engine::erase(call.extents(), lengths, call.plan.axes(v, false), chosen[v]);
    assignment.emplace(call.graph.dims()[v].name, std::move(chosen[v]));
  }
  return total;
}

}  // namespace plated::api
