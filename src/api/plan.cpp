// Running, pricing and printing plans.
#include "plated/plan.hpp"

#include <limits>
#include <new>

#include "api/plan_impl.hpp"
#include "base/checked_size.hpp"
#include "engine/check_operands.hpp"
#include "engine/thread_pool.hpp"
#include "planner/planner.hpp"
#include "planner/print_schedule.hpp"
#include "planner/schedule_cost.hpp"
#include "plated/error.hpp"

namespace plated {
namespace {

constexpr std::size_t most_idle_workspaces = 8;

std::int64_t most_checked(Check check) {
  switch (check) {
    case Check::none:
      return -1;
    case Check::small:
      return 65536;
    case Check::all:
      break;
  }
  return std::numeric_limits<std::int64_t>::max();
}

engine::Settings settings_of(const RunOptions& options, const planner::Schedule& schedule) {
  if (options.threads < 0) throw OptionError("the number of threads is negative: " + std::to_string(options.threads));
  if (options.memory_limit < 0)
    throw OptionError("the memory limit is negative: " + std::to_string(options.memory_limit));
  const bool sums = options.semiring == Semiring::real || options.semiring == Semiring::log;
  if (schedule.sums_only && !sums) {
    throw OptionError("this plan was compiled with sums_only and cannot run in the " +
                      std::string(name(options.semiring)) + " semiring");
  }
  return {.semiring = options.semiring,
          .threads = options.threads == 0 ? engine::hardware_threads() : options.threads,
          .memory_limit = options.memory_limit,
          .cancelled = options.cancelled ? &options.cancelled : nullptr,
          .progress = options.progress ? &options.progress : nullptr};
}

/// Tensors for the outputs or, not `allocated`, their shapes alone.
std::vector<Tensor> make_outputs(const FactorGraph& graph, Dtype dtype, bool allocated) {
  std::vector<Tensor> outputs;
  for (const Output& output : graph.outputs()) {
    Tensor::Shape shape;
    for (const DimId d : output.dims) shape.push_back(graph.dims()[d].size);
    if (!allocated) {
      outputs.push_back(dtype == Dtype::float32 ? Tensor::view(static_cast<float*>(nullptr), std::move(shape))
                                                : Tensor::view(static_cast<double*>(nullptr), std::move(shape)));
      continue;
    }
    try {
      outputs.emplace_back(dtype, shape);
    } catch (const std::bad_alloc&) {
      const std::int64_t bytes =
          base::checked_product(base::checked_product(shape), static_cast<std::int64_t>(size_of(dtype)));
      throw MemoryLimitError("output " + std::to_string(outputs.size()) + " needs " + std::to_string(bytes) +
                                 " bytes, which the machine refused",
                             bytes, 0);
    }
  }
  return outputs;
}

}  // namespace

Workspace::Workspace(const Plan& plan) : impl_(std::make_unique<Impl>()) { impl_->plan = plan.impl_; }
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
Workspace::~Workspace() = default;
std::int64_t Workspace::bytes() const { return impl_->memory.bytes(); }

Plan::Plan(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

std::vector<Tensor> Plan::run(std::span<const Tensor> operands, const RunOptions& options) const {
  engine::check_shapes(graph(), operands);
  engine::check_values(graph(), operands, options.semiring, most_checked(options.check));
  engine::Settings settings = settings_of(options, impl_->schedule);
  std::unique_ptr<engine::Workspace> workspace;
  {
    const std::lock_guard lock(impl_->idle->mutex);
    if (!impl_->idle->workspaces.empty()) {
      workspace = std::move(impl_->idle->workspaces.back());
      impl_->idle->workspaces.pop_back();
    }
  }
  if (!workspace) workspace = std::make_unique<engine::Workspace>();
  const Dtype dtype = engine::element_dtype(operands);
  if (options.memory_limit > 0) {  // refused before the outputs are allocated, too
    const std::vector<Tensor> shapes = make_outputs(graph(), dtype, false);
    for (const Tensor& shape : shapes) {
      const auto bytes = base::checked_product(shape.elements(), static_cast<std::int64_t>(size_of(dtype)));
      settings.output_bytes = base::checked_sum(settings.output_bytes, bytes);
    }
    engine::prepare(impl_->schedule, shapes, operands, *workspace, settings);
  }
  std::vector<Tensor> outputs = make_outputs(graph(), dtype, true);
  engine::run(impl_->schedule, outputs, operands, *workspace, settings);
  const std::lock_guard lock(impl_->idle->mutex);
  if (impl_->idle->workspaces.size() < most_idle_workspaces) impl_->idle->workspaces.push_back(std::move(workspace));
  return outputs;
}

void Plan::run_into(std::span<const Tensor> outputs, std::span<const Tensor> operands, Workspace& workspace,
                    const RunOptions& options) const {
  if (!workspace.impl_ || workspace.impl_->plan != impl_) throw OptionError("this workspace was made for another plan");
  engine::check_shapes(graph(), operands);
  engine::check_outputs(graph(), outputs, operands);
  engine::check_values(graph(), operands, options.semiring, most_checked(options.check));
  engine::run(impl_->schedule, outputs, operands, workspace.impl_->memory, settings_of(options, impl_->schedule));
}

const FactorGraph& Plan::graph() const { return impl_->schedule.graph; }

Cost Plan::cost(Semiring semiring, Dtype dtype) const {
  return planner::schedule_cost(impl_->schedule, semiring, static_cast<int>(size_of(dtype)));
}

std::string Plan::print() const { return planner::print_schedule(impl_->schedule); }

std::vector<std::string> Plan::elimination_order() const {
  std::vector<std::string> order;
  for (const planner::Step& step : impl_->schedule.steps) {
    for (const DimId v : step.sum) order.push_back(graph().dims()[v].name);
  }
  return order;
}

std::vector<std::string> Plan::dropped() const {
  std::vector<std::string> names;
  for (const DimId v : impl_->schedule.problem.dropped) names.push_back(graph().dims()[v].name);
  return names;
}

std::size_t Plan::steps() const { return impl_->schedule.steps.size(); }

std::vector<std::string> Plan::passes() { return planner::optional_passes(); }

}  // namespace plated
