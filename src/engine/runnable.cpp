// Leases workspaces and allocates outputs.
#include "engine/runnable.hpp"

#include <new>
#include <string>

#include "base/checked_size.hpp"
#include "engine/kept.hpp"
#include "plated/error.hpp"

namespace plated::engine {
namespace {

constexpr std::size_t most_idle_workspaces = 8;

std::int64_t bytes_of(const Tensor& tensor) {
  return base::checked_product(tensor.elements(), static_cast<std::int64_t>(size_of(tensor.dtype())));
}

}  // namespace

Runnable::Lease::Lease(const Runnable& owner) : owner_(owner) {
  const std::lock_guard lock(owner_.mutex_);
  if (owner_.idle_.empty()) {
    workspace_ = std::make_unique<Workspace>();
  } else {
    workspace_ = std::move(owner_.idle_.back());
    owner_.idle_.pop_back();
  }
}

Runnable::Lease::~Lease() {
  const std::lock_guard lock(owner_.mutex_);
  if (owner_.idle_.size() < most_idle_workspaces) owner_.idle_.push_back(std::move(workspace_));
}

std::vector<Tensor> run_allocating(const planner::Schedule& schedule, std::vector<Tensor> outputs,
                                   std::span<const Tensor> operands, Workspace& workspace, Settings settings) {
  const std::size_t first = settings.kept != nullptr ? settings.kept->outputs().size() : 0;
  for (std::size_t k = 0; k < first; ++k) outputs[k] = settings.kept->outputs()[k];
  const auto to_allocate = [](const Tensor& output) { return output.data() == nullptr && output.elements() > 0; };
  for (const Tensor& output : outputs) {
    if (to_allocate(output)) settings.output_bytes = base::checked_sum(settings.output_bytes, bytes_of(output));
  }
  if (settings.memory_limit > 0) prepare(schedule, outputs, operands, workspace, settings);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].data() != nullptr) continue;
    try {
      outputs[k] = Tensor::uninitialised(outputs[k].dtype(), outputs[k].shape());
    } catch (const std::bad_alloc&) {
      const std::int64_t bytes = bytes_of(outputs[k]);
      throw MemoryLimitError(
          "output " + std::to_string(k) + " needs " + std::to_string(bytes) + " bytes, which the machine refused",
          bytes, 0);
    }
  }
  run(schedule, outputs, operands, workspace, settings);
  return outputs;
}

Tensor shape_only(Dtype dtype, std::vector<std::int64_t> shape) {
  return dtype == Dtype::float32 ? Tensor::view(static_cast<float*>(nullptr), std::move(shape))
                                 : Tensor::view(static_cast<double*>(nullptr), std::move(shape));
}

std::vector<std::int64_t> sizes(const FactorGraph& graph, const std::vector<DimId>& dims) {
  std::vector<std::int64_t> list;
  for (const DimId d : dims) list.push_back(graph.dims()[d].size);
  return list;
}

std::vector<Tensor> output_shapes(const FactorGraph& graph, Dtype dtype) {
  std::vector<Tensor> outputs;
  for (const Output& output : graph.outputs()) outputs.push_back(shape_only(dtype, sizes(graph, output.dims)));
  return outputs;
}

}  // namespace plated::engine
