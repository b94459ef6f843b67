// Running, pricing and printing plans.
#include "plated/plan.hpp"

#include "api/inputs.hpp"
#include "api/plan_impl.hpp"
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
          .memory_limit = options.memory_limit,
          .cancelled = options.cancelled ? &options.cancelled : nullptr,
          .progress = options.progress ? &options.progress : nullptr};
}

namespace {

constexpr std::size_t most_questions = 64;

engine::Settings value_settings(const RunOptions& options, const planner::Schedule& schedule) {
  const bool sums = options.semiring == Semiring::real || options.semiring == Semiring::log;
  if (schedule.sums_only && !sums) {
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
      options(std::move(how)),
      value(planner::plan(observed, options)) {}

std::shared_ptr<const api::Runnable> api::PlanImpl::question(const std::string& question,
                                                             const std::function<planner::Schedule()>& plan) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = questions_.find(question); found != questions_.end()) return found->second;
  }
  // Planned outside the lock: two threads may plan the same question at once, and the first plan is kept.
  auto runnable = std::make_shared<const api::Runnable>(plan());
  const std::lock_guard lock(mutex_);
  if (questions_.size() >= most_questions) questions_.clear();  // those being answered live on with their askers
  return questions_.try_emplace(question, std::move(runnable)).first->second;
}

Workspace::Workspace(const Plan& plan) : impl_(std::make_unique<Impl>()) { impl_->plan = plan.impl_; }
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
Workspace::~Workspace() = default;
std::int64_t Workspace::bytes() const { return impl_->memory.bytes(); }

Plan::Plan(std::shared_ptr<const api::PlanImpl> impl) : impl_(std::move(impl)) {}

std::vector<Tensor> Plan::run(std::span<const Tensor> operands, const RunOptions& options) const {
  api::check_inputs(*impl_, operands, options);
  const Dtype dtype = engine::element_dtype(operands);
  std::vector<Tensor> inputs;
  if (!impl_->observable.empty()) operands = inputs = api::with_evidence(*impl_, operands, options);
  return impl_->value.run(api::output_shapes(graph(), dtype), operands,
                          value_settings(options, impl_->value.schedule()));
}

void Plan::run_into(std::span<const Tensor> outputs, std::span<const Tensor> operands, Workspace& workspace,
                    const RunOptions& options) const {
  if (!workspace.impl_ || workspace.impl_->plan != impl_) throw OptionError("this workspace was made for another plan");
  api::check_inputs(*impl_, operands, options);
  engine::check_outputs(graph(), outputs, operands);
  const engine::Settings settings = value_settings(options, impl_->value.schedule());
  std::vector<Tensor> inputs;
  if (!impl_->observable.empty()) operands = inputs = api::with_evidence(*impl_, operands, options);
  engine::run(impl_->value.schedule(), outputs, operands, workspace.impl_->memory, settings);
}

const FactorGraph& Plan::graph() const { return impl_->graph; }

Cost Plan::cost(Semiring semiring, Dtype dtype) const {
  return planner::schedule_cost(impl_->value.schedule(), semiring, static_cast<int>(size_of(dtype)));
}

std::string Plan::print() const { return planner::print_schedule(impl_->value.schedule()); }

std::vector<std::string> Plan::elimination_order() const {
  std::vector<std::string> order;
  for (const planner::Step& step : impl_->value.schedule().steps) {
    for (const DimId v : step.sum) order.push_back(graph().dims()[v].name);
  }
  return order;
}

std::vector<std::string> Plan::dropped() const {
  std::vector<std::string> names;
  for (const DimId v : impl_->value.schedule().problem.dropped) names.push_back(graph().dims()[v].name);
  return names;
}

std::size_t Plan::steps() const { return impl_->value.schedule().steps.size(); }

std::vector<std::string> Plan::passes() { return planner::optional_passes(); }

}  // namespace plated
