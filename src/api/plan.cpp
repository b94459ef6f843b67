// Runs, prices and prints plans.
#include "plated/plan.hpp"

#include "api/chained.hpp"
#include "api/inputs.hpp"
#include "api/plan_impl.hpp"
#include "base/watch.hpp"
#include "chain/describe.hpp"
#include "engine/check_operands.hpp"
#include "engine/thread_pool.hpp"
#include "planner/planner.hpp"
#include "planner/print_schedule.hpp"
#include "planner/schedule_cost.hpp"
#include "plated/error.hpp"

namespace plated {

engine::Settings api::settings_of(const RunOptions& options) {
  if (options.threads < 0) throw OptionError("the number of threads is negative: " + std::to_string(options.threads));
  if (options.memory_limit < 0)
    throw OptionError("the memory limit is negative: " + std::to_string(options.memory_limit));
  return {.semiring = options.semiring,
          .threads = options.threads == 0 ? engine::hardware_threads() : options.threads,
          .memory_limit = options.memory_limit};
}

namespace {

engine::Settings value_settings(const RunOptions& options, const api::PlanImpl& plan) {
  const bool sums = options.semiring == Semiring::real || options.semiring == Semiring::log;
  if (plan.options.sums_only && !sums) {
    throw OptionError("this plan was compiled with sums_only and cannot run in the " +
                      std::string(name(options.semiring)) + " semiring");
  }
  return api::settings_of(options);
}

}  // namespace

api::PlanImpl::PlanImpl(FactorGraph asked, FactorGraph with_evidence, std::vector<DimId> observed_variables,
                        planner::Options how)
    : graph(std::move(asked)),
      observed(std::move(with_evidence)),
      observable(std::move(observed_variables)),
      axes(graph),
      options(std::move(how)) {
  if (graph.chains().empty()) {
    value.emplace(planner::plan(observed, options));
  } else {
    chains = std::make_unique<chain::Program>(observed, options);
    chain::plan_all(*chains);
  }
}

Workspace::Workspace(const Plan& plan) : impl_(std::make_unique<Impl>()) { impl_->plan = plan.impl_; }
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
Workspace::~Workspace() = default;
std::int64_t Workspace::bytes() const { return impl_->memory.bytes(); }

Plan::Plan(std::shared_ptr<const api::PlanImpl> impl) : impl_(std::move(impl)) {}

std::vector<Tensor> Plan::run(std::span<const Tensor> operands, const RunOptions& options) const {
  const base::Watch watch(options.cancelled, options.progress);
  api::check_inputs(*impl_, operands, options);
  const Dtype dtype = engine::element_dtype(operands);
  std::vector<Tensor> inputs;
  if (!impl_->observable.empty()) operands = inputs = api::with_evidence(*impl_, operands, options);
  const engine::Settings settings = value_settings(options, *impl_);
  std::vector<Tensor> outputs = api::output_shapes(graph(), dtype);
  if (impl_->chains) {
    outputs = chain::outputs(*impl_->chains, std::move(outputs), operands, api::ChainCall(*impl_, options, settings));
    watch.finish();
  } else {
    outputs = impl_->value->run(std::move(outputs), operands, settings);
  }
  api::check_results(outputs, "output", options.semiring, options);
  return outputs;
}

void Plan::run_into(std::span<const Tensor> outputs, std::span<const Tensor> operands, Workspace& workspace,
                    const RunOptions& options) const {
  if (!workspace.impl_ || workspace.impl_->plan != impl_) throw OptionError("this workspace was made for another plan");
  run_into(outputs, operands, &workspace, options);
}

void Plan::run_into(std::span<const Tensor> outputs, std::span<const Tensor> operands,
                    const RunOptions& options) const {
  run_into(outputs, operands, nullptr, options);
}

void Plan::run_into(std::span<const Tensor> outputs, std::span<const Tensor> operands, Workspace* workspace,
                    const RunOptions& options) const {
  const base::Watch watch(options.cancelled, options.progress);
  api::check_inputs(*impl_, operands, options);
  engine::check_outputs(graph(), outputs, operands);
  const engine::Settings settings = value_settings(options, *impl_);
  std::vector<Tensor> inputs;
  if (!impl_->observable.empty()) operands = inputs = api::with_evidence(*impl_, operands, options);
  if (impl_->chains) {
    (void)chain::outputs(*impl_->chains, {outputs.begin(), outputs.end()}, operands,
                         api::ChainCall(*impl_, options, settings));
    watch.finish();
  } else if (workspace != nullptr) {
    engine::run(impl_->value->schedule(), outputs, operands, workspace->impl_->memory, settings);
  } else {
    const engine::Runnable::Lease lease(*impl_->value);
    engine::run(impl_->value->schedule(), outputs, operands, *lease, settings);
  }
  api::check_results(outputs, "output", options.semiring, options);
}

const FactorGraph& Plan::graph() const { return impl_->graph; }

Cost Plan::cost(Semiring semiring, Dtype dtype) const {
  const int bytes = static_cast<int>(size_of(dtype));
  return impl_->chains
             ? chain::cost(*impl_->chains, semiring, bytes)
             : planner::schedule_cost(impl_->value->schedule(), impl_->value->schedule().extents, semiring, bytes);
}

std::string Plan::print() const {
  return impl_->chains ? chain::print(*impl_->chains) : planner::print_schedule(impl_->value->schedule());
}

namespace {

/// Shows the schedules that a plan runs: one, or of chains those of their slices and that of the rest. They live as
/// long as what holds them, which may be the list of stages alone.
template <class Show>
void for_each_schedule(const api::PlanImpl& plan, Show show) {
  if (!plan.chains) return show(plan.value->schedule());
  for (const chain::Stage& stage : chain::stages(*plan.chains)) show(stage.runnable->schedule());
}

}  // namespace

std::vector<std::string> Plan::elimination_order() const {
  std::vector<std::string> order;
  for_each_schedule(*impl_, [&](const planner::Schedule& schedule) {
    for (const planner::Step& step : schedule.steps) {
      for (const DimId v : summed(step)) order.push_back(schedule.graph.dims()[v].name);
    }
  });
  return order;
}

std::vector<std::string> Plan::dropped() const {
  std::vector<std::string> names;
  for_each_schedule(*impl_, [&](const planner::Schedule& schedule) {
    for (const DimId v : schedule.problem.dropped) names.push_back(schedule.graph.dims()[v].name);
  });
  return names;
}

std::size_t Plan::steps() const {
  std::size_t count = 0;
  for_each_schedule(*impl_, [&](const planner::Schedule& schedule) { count += schedule.steps.size(); });
  return count;
}

std::vector<std::string> Plan::passes() { return planner::optional_passes(); }

}  // namespace plated
