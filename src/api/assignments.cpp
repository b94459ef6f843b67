// Decodes assignments.
#include "api/assignments.hpp"

#include <algorithm>
#include <new>

#include "api/inputs.hpp"
#include "base/checked_size.hpp"
#include "base/watch.hpp"
#include "base/watched_resize.hpp"
#include "engine/check_answers.hpp"
#include "engine/indicator.hpp"
#include "engine/log_posterior.hpp"
#include "planner/schedule_cost.hpp"
#include "plated/error.hpp"

namespace plated::api {

Decoder::Decoder(const Posed& posed, const adjoint::Choice& choice, bool keeps)
    : posed_(posed), choice_(choice), keeps_(keeps), chosen_(posed.call.graph.dims().size()) {
  const Call& call = posed.call;
  const engine::Exponents presence = call.presence();
  for (DimId v = 0; v < call.graph.dims().size(); ++v) {
    if (call.graph.dims()[v].kind != DimKind::variable) continue;
    const std::vector<DimId> axes = call.plan.axes(v, false);
    Variable of{v, call.shape(axes), engine::Absent(call.extents(), presence, axes)};
    if (choice.draw) of.shape.insert(of.shape.begin(), choice.count);
    const std::int64_t bytes = base::checked_product(base::checked_product(of.shape), sizeof(std::int64_t));
    state_bytes_ = base::checked_sum(state_bytes_, bytes);
    variables_.push_back(std::move(of));
  }
  if (posed.kept() != nullptr) {
    choice_.total = posed.total({});
    backtrace_bytes_ = adjoint::backtrace_bytes(posed.forward(), call.extents(), choice_, call.threads());
    return;
  }
  runnable_ = call.plan.runnable(call.plan.parts({.kind = Question::Kind::map})[0]);
  total_ = call.output_shapes(runnable_->schedule().graph, posed.dtype);
  backtrace_bytes_ = adjoint::backtrace_bytes(runnable_->schedule(), call.extents(), choice_, call.threads());
}

void Decoder::allocate() {
  for (const Variable& of : variables_) {
    Integers& states = chosen_[of.id];
    states.shape = of.shape;
    const auto entries = static_cast<std::size_t>(base::checked_product(of.shape));
    std::fill(states.values.begin(), states.values.end(), -1);
    base::watched_resize(states.values, entries, std::int64_t{-1});
  }
}

/// Runs the total and traces it back.
void Decoder::run_and_trace(engine::Settings settings) {
  const Call& call = posed_.call;
  // A choice takes as long as some flops.
  constexpr double flops_a_choice = 16;
  const planner::Schedule& schedule = runnable_->schedule();
  const bool watched = base::detail::watched().watch != nullptr;
  const double forward = watched ? planner::schedule_cost(schedule, call.extents(), settings.semiring, 8).flops : 0.0;
  const double choices = flops_a_choice * static_cast<double>(settings.output_bytes) / sizeof(std::int64_t);
  base::Phases phases;
  settings.recalls = true;
  settings.output_bytes = base::checked_sum(settings.output_bytes, backtrace_bytes_);
  {
    const auto phase = phases.next(forward > 0 ? forward / (forward + choices) : 0.0);
    if (!lease_) lease_.emplace(*runnable_);
    try {
      total_ = runnable_->run(std::move(total_), posed_.inputs.centred(), settings, *lease_);
    } catch (...) {
      total_ = call.output_shapes(schedule.graph, posed_.dtype);
      throw;
    }
  }
  engine::check_possible(call.graph, total_[0], settings.semiring);
  allocate();
  const auto phase = phases.next(1.0);
  trace(settings);
}

void Decoder::trace(const engine::Settings& settings) {
  const planner::Schedule& schedule = runnable_->schedule();
  const std::vector<Tensor>& inputs = posed_.inputs.centred();
  const adjoint::RecallBlocks recall = [this, &settings](std::int64_t first, std::int64_t last) {
    engine::recall(**lease_, first, last, settings.threads);
  };
  if (!keeps_ || settings.memory_limit > 0) {
    return adjoint::backtrace(schedule, settings.semiring, inputs, **lease_, choice_, settings.threads, chosen_,
                              recall);
  }
  const auto lies_at = [](const Tensor& input, const void* data) { return input.data() == data; };
  if (!backtrace_ || !std::equal(inputs.begin(), inputs.end(), traced_.begin(), traced_.end(), lies_at)) {
    traced_.clear();
    for (const Tensor& input : inputs) traced_.push_back(input.data());
    backtrace_.emplace(schedule, settings.semiring, inputs, **lease_, choice_, settings.threads, chosen_);
  }
  backtrace_->run(recall);
}

/// Traces back what an evaluation has kept.
void Decoder::trace_kept(const engine::Settings& settings) {
  const Tensor& total = posed_.kept()->outputs()[choice_.total];
  engine::check_possible(posed_.call.graph, total, posed_.semiring);
  engine::check_limit(base::checked_sum(settings.output_bytes, backtrace_bytes_), settings.memory_limit);
  allocate();
  adjoint::backtrace(posed_.forward(), posed_.semiring, posed_.operands(posed_.forward(), posed_.inputs.centred()),
                     posed_.kept()->workspace(), choice_, posed_.call.threads(), chosen_);
  total_ = {engine::filled(posed_.dtype, total.shape(), total.values())};
}

const Tensor& Decoder::run(std::map<std::string, Integers>& assignment, std::uint64_t seed, std::int64_t first) {
  const Call& call = posed_.call;
  choice_.seed = seed;
  choice_.first = first;
  engine::Settings settings = posed_.settings();
  settings.output_bytes = base::checked_sum(settings.output_bytes, state_bytes_);
  try {
    if (posed_.kept() != nullptr) {
      trace_kept(settings);
    } else {
      run_and_trace(settings);
    }
  } catch (const std::bad_alloc&) {
    throw MemoryLimitError(
        "the assignments need " + std::to_string(settings.output_bytes) + " bytes, which the machine refused",
        settings.output_bytes, settings.memory_limit);
  }
  base::tell_progress(1);
  for (const Variable& of : variables_) {
    const Dim& dim = call.graph.dims()[of.id];
    if (dim.end != End::none) continue;
    if (const IntegerView* observed = call.observed(of.id)) engine::put_observed(*observed, chosen_[of.id]);
    of.absent.erase(chosen_[of.id]);
    Integers& answer = assignment[dim.name];
    if (keeps_) {
      answer = chosen_[of.id];
    } else {
      answer = std::move(chosen_[of.id]);
    }
  }
  return total_[0];
}

Tensor decode(const Posed& posed, const adjoint::Choice& choice, std::map<std::string, Integers>& assignment) {
  return Decoder(posed, choice, false).run(assignment, choice.seed, choice.first);
}

}  // namespace plated::api
