// Runs, prices and prints plans.
#include "plated/plan.hpp"

#include <algorithm>
#include <optional>

#include "adjoint/backtrace.hpp"
#include "api/held_value.hpp"
#include "api/inputs.hpp"
#include "api/padding.hpp"
#include "api/plan_impl.hpp"
#include "base/watch.hpp"
#include "engine/check_operands.hpp"
#include "engine/predict.hpp"
#include "engine/thread_pool.hpp"
#include "planner/planner.hpp"
#include "planner/print_schedule.hpp"
#include "planner/schedule_cost.hpp"
#include "plated/error.hpp"

namespace plated {

namespace {

using adjoint::Asked;

/// The bytes of one assignment of all variables.
std::int64_t states_bytes(const api::PlanImpl& plan, const planner::Extents& extents) {
  std::int64_t bytes = 0;
  for (const DimId v : graph::variables(plan.graph)) {
    bytes += planner::elements(extents, plan.axes(v, false)) * static_cast<std::int64_t>(sizeof(std::int64_t));
  }
  return bytes;
}

/// The bytes of copies of operands without the slices that plates of these names lack.
std::int64_t padding_bytes(const api::PlanImpl& plan, const planner::Extents& extents,
                           const std::vector<std::string>& ragged, int element_bytes) {
  std::int64_t bytes = 0;
  for (const Factor& factor : plan.graph.factors()) {
    const bool is_ragged = std::any_of(ragged.begin(), ragged.end(), [&](const std::string& name) {
      return engine::holds(factor.dims, *plan.graph.find(name));
    });
    if (is_ragged) bytes += planner::elements(extents, factor.dims) * element_bytes;
  }
  return bytes;
}

/// Throws OptionError where the plan does not serve the semiring.
void check_semiring(const RunOptions& options, const api::PlanImpl& plan) {
  const bool sums = options.semiring == Semiring::real || options.semiring == Semiring::log;
  if (plan.options.sums_only && !sums) {
    throw OptionError("this plan was compiled with sums_only and cannot run in the " +
                      std::string(name(options.semiring)) + " semiring");
  }
}

/// The sizes of a workspace's last run: those of the call, or memory for them.
api::KnownSizes lent_sizes(engine::Workspace& workspace, bool are_known) {
  workspace.extents_hold = false;  // unless they are returned
  return {.buffer = std::move(workspace.extents), .are_known = are_known};
}

void return_sizes(engine::Workspace& workspace, api::Call& call, bool hold) {
  workspace.extents = call.take_extents();
  workspace.extents_hold = hold;
}

/// Operands, evidence and exponents as a schedule of a call's plan reads them.
std::vector<Tensor> all_inputs(const api::Call& call, const planner::Schedule& schedule) {
  const Semiring semiring = call.options.semiring;
  api::PaddedCopies padded;
  std::vector<Tensor> inputs = api::with_evidence(call, semiring, padded);
  api::as_read_by(schedule, call, semiring, inputs);
  return inputs;
}

/// Outputs that are not finite may show that of operands that were left to the run.
void check_outputs(const api::Call& call, std::span<const Tensor> outputs, const api::LeftToRun* left) {
  try {
    api::check_results(outputs, "output", call.options.semiring, call);
  } catch (const ValueError&) {
    for (std::size_t f = 0; left != nullptr && f < call.operands.size(); ++f) {
      if (left->most(f) != api::LeftToRun::searched) left->search(f);
    }
    throw;
  }
}

bool are_writable(std::span<const Tensor> tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) { return tensor.writable(); });
}

}  // namespace

Workspace::Workspace(const Plan& plan) : impl_(std::make_unique<Impl>()) { impl_->plan = plan.impl_; }
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
Workspace::~Workspace() = default;
std::int64_t Workspace::bytes() const {
  std::int64_t sum = impl_->memory.bytes();
  for (const auto& question : impl_->held) sum += question->bytes();
  return sum;
}

void api::PlanAccess::check(const Workspace& workspace, const Plan& plan) {
  if (workspace.impl_ && workspace.impl_->plan == plan.impl_) return;
  throw OptionError("this workspace was made for another plan");
}

Plan::Plan(std::shared_ptr<const api::PlanImpl> impl) : impl_(std::move(impl)) {}

std::vector<Tensor> Plan::run(Tensors operands, const RunOptions& options) const {
  const base::Watch watch(options.cancelled, options.progress);
  check_semiring(options, *impl_);
  const bool plain = !sized_ && impl_->is_plain(options);
  std::optional<engine::Runnable::Lease> lease;
  if (plain) lease.emplace(impl_->value());
  const bool known = plain && (**lease).knows_extents_of(operands);
  api::Call call(*this, operands, options, plain ? lent_sizes(**lease, known) : api::KnownSizes{});
  const api::LeftToRun left(call, options.semiring, false);
  const bool any_left = api::check_inputs(call, options.semiring, &left);
  std::vector<Tensor> outputs = call.output_shapes(call.graph, engine::element_dtype(operands));
  std::vector<Tensor> inputs;
  const engine::Runnable& runnable = call.plan.value();
  if (call.plan.takes_more_operands()) operands = inputs = all_inputs(call, runnable.schedule());
  engine::Settings settings = call.settings(options.semiring);
  settings.output_bytes = api::padding_bytes(call);
  settings.same_operands = known;
  if (any_left) settings.unseen = &left;
  settings.outputs_are_searched = any_left;
  if (!lease) lease.emplace(runnable);
  outputs = runnable.run(std::move(outputs), operands, settings, *lease);
  api::erase_outputs(call, outputs, options.semiring);
  check_outputs(call, outputs, any_left ? &left : nullptr);
  if (plain) return_sizes(**lease, call, true);
  return outputs;
}

void Plan::run_into(Tensors outputs, Tensors operands, Workspace& workspace, const RunOptions& options) const {
  api::PlanAccess::check(workspace, *this);
  run_into(outputs, operands, &workspace, options);
}

void Plan::run_into(Tensors outputs, Tensors operands, const RunOptions& options) const {
  run_into(outputs, operands, nullptr, options);
}

void Plan::run_into(Tensors outputs, Tensors operands, Workspace* workspace, const RunOptions& options) const {
  const base::Watch watch(options.cancelled, options.progress);
  check_semiring(options, *impl_);
  const bool plain = !sized_ && impl_->is_plain(options);
  const bool brings_more = impl_->takes_more_operands() || !options.lengths.empty() || !options.weights.empty();
  if (workspace != nullptr && brings_more) {
    return api::run_held(outputs, *this, operands, *workspace, options);
  }
  std::optional<engine::Runnable::Lease> lease;
  engine::Workspace* memory = workspace != nullptr ? &workspace->impl_->memory : nullptr;
  if (memory == nullptr && plain) memory = &*lease.emplace(impl_->value());
  // Most calls are like the one before: what was found out about shapes and memory then holds.
  const bool again = plain && memory->extents_hold && memory->has_run_on(operands, outputs) && are_writable(outputs);
  const bool known = again || (plain && memory->knows_extents_of(operands));
  api::Call call(*this, operands, options, memory != nullptr ? lent_sizes(*memory, known) : api::KnownSizes{});
  const api::LeftToRun left(call, options.semiring, false);
  const bool any_left = api::check_inputs(call, options.semiring, &left);
  if (!again) engine::check_outputs(call.graph, call.extents(), outputs, operands);
  std::vector<Tensor> inputs;
  const engine::Runnable& runnable = call.plan.value();
  if (call.plan.takes_more_operands()) operands = inputs = all_inputs(call, runnable.schedule());
  engine::Settings settings = call.settings(options.semiring);
  settings.output_bytes = api::padding_bytes(call);
  settings.same_operands = known;
  if (any_left) settings.unseen = &left;
  settings.outputs_are_searched = any_left;
  // A workspace holds what is bound for one schedule.
  const bool is_own = memory != nullptr && &call.plan == impl_.get();
  if (!is_own) lease.emplace(runnable);
  engine::Workspace& used = is_own ? *memory : **lease;
  engine::run(runnable.schedule(), outputs, operands, used, settings);
  api::erase_outputs(call, outputs, options.semiring);
  check_outputs(call, outputs, any_left ? &left : nullptr);
  if (memory != nullptr) return_sizes(*memory, call, plain);
}

const FactorGraph& Plan::graph() const { return sized_ ? *sized_ : impl_->graph; }

namespace {

/// What a part of a question takes; 0 is no limit.
engine::Prediction prediction(const api::PlanImpl& plan, const Question& question, const Asked& part,
                              const planner::Extents& extents, Dtype dtype, std::int64_t limit) {
  const planner::Schedule& schedule = plan.runnable(part)->schedule();
  const bool chooses = part.kind == Asked::Kind::choices;
  const bool differentiates = part.kind == Asked::Kind::gradient || part.kind == Asked::Kind::hessian;
  engine::PredictOptions how{.semiring = question.semiring,
                             .dtype = dtype,
                             .recalls = chooses,
                             .threads = engine::hardware_threads(),
                             .memory_limit = limit,
                             .beside = plan.bytes_beside(part, extents),
                             .constants = differentiates ? plan.graph.outputs().size() : 0};
  how.beside += padding_bytes(plan, extents, question.lengths, static_cast<int>(size_of(dtype)));
  if (chooses) {
    const adjoint::Choice choice{.draw = question.kind == Question::Kind::sample};
    how.beside += states_bytes(plan, extents) + adjoint::backtrace_bytes(schedule, extents, choice, how.threads);
  }
  return engine::predict(schedule, extents, how);
}

}  // namespace

Cost Plan::cost(const Question& question, const std::map<std::string, std::int64_t>& sizes, Dtype dtype) const {
  const planner::Extents extents = engine::named_extents(graph(), sizes);
  const auto sized = impl_->at(extents);
  const auto served = (sized ? *sized : *impl_).serving(question);
  const api::PlanImpl& plan = served ? *served : sized ? *sized : *impl_;
  const int bytes = static_cast<int>(size_of(dtype));
  Cost sum;
  for (const Asked& part : plan.parts(question)) {
    Cost cost = planner::schedule_cost(plan.runnable(part)->schedule(), extents, question.semiring, bytes);
    cost.run_bytes = prediction(plan, question, part, extents, dtype, 0).bytes;
    sum += cost;
  }
  return sum;
}

std::string Plan::print(const Question& question) const { return print(question, 0); }

std::string Plan::print(const Question& question, std::int64_t memory_limit, Dtype dtype) const {
  const auto served = impl_->serving(question);
  const api::PlanImpl& plan = served ? *served : *impl_;
  std::string text;
  const planner::Extents extents = engine::named_extents(graph(), {});
  for (const Asked& part : plan.parts(question)) {
    if (!text.empty()) text += '\n';
    text += planner::print_schedule(plan.runnable(part)->schedule());
    if (memory_limit == 0) continue;
    const engine::Prediction run = prediction(plan, question, part, extents, dtype, memory_limit);
    if (!run.loops.empty()) text += run.loops + "\n";
    if (run.bytes > memory_limit) text += "refused: needs " + std::to_string(run.bytes) + " bytes\n";
  }
  return text;
}

namespace {

/// Calls visit(step, schedule) for every step, and for those of a scan's body before the scan itself.
template <class Visit>
void for_each_step(const planner::Schedule& schedule, const Visit& visit) {
  for (const planner::Step& step : schedule.steps) {
    if (const auto* scan = step.as<planner::Scan>()) for_each_step(*scan->body, visit);
    visit(step, schedule);
  }
}

}  // namespace

std::vector<std::string> Plan::elimination_order() const {
  std::vector<std::string> order;
  for_each_step(impl_->value().schedule(), [&](const planner::Step& step, const planner::Schedule& schedule) {
    for (const DimId v : summed(step)) order.push_back(schedule.graph.dims()[v].name);
  });
  return order;
}

std::vector<std::string> Plan::dropped() const {
  const planner::Schedule& schedule = impl_->value().schedule();
  std::vector<std::string> names;
  for (const DimId v : schedule.problem.dropped) names.push_back(schedule.graph.dims()[v].name);
  return names;
}

std::size_t Plan::steps() const {
  std::size_t count = 0;
  for_each_step(impl_->value().schedule(), [&](const planner::Step&, const planner::Schedule&) { ++count; });
  return count;
}

std::vector<std::string> Plan::passes() { return planner::optional_passes(); }

}  // namespace plated
