// Turns dims into loops with strides.
#include "engine/bound_schedule.hpp"

#include <algorithm>
#include <utility>

#include "base/checked_size.hpp"
#include "base/overloaded.hpp"
#include "planner/passes.hpp"
#include "planner/schedule_cost.hpp"

namespace plated::engine {
namespace {

using planner::Precision;
using planner::Schedule;
using planner::Step;
using planner::Value;
using planner::ValueId;

/// A value's element type and, for each of its dims, its stride.
struct Layout {
  Dtype dtype = Dtype::float64;
  std::vector<std::pair<DimId, std::int64_t>> stride;
  [[nodiscard]] std::int64_t along(DimId d) const {
    for (const auto& [dim, step] : stride) {
      if (dim == d) return step;
    }
    return 0;
  }
};

/// Axes that name the same dim are walked together: the diagonal.
Layout layout_of(const Tensor& tensor, const std::vector<DimId>& axes) {
  Layout layout{.dtype = tensor.dtype(), .stride = {}};
  layout.stride.reserve(axes.size());
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const auto known = std::find_if(layout.stride.begin(), layout.stride.end(),
                                    [&](const auto& entry) { return entry.first == axes[axis]; });
    if (known == layout.stride.end()) {
      layout.stride.emplace_back(axes[axis], tensor.strides()[axis]);
    } else {
      known->second += tensor.strides()[axis];
    }
  }
  return layout;
}

class Binder {
 public:
  Binder(const Schedule& schedule, const planner::Extents& extents, Semiring semiring, std::span<const Tensor> outputs,
         std::span<const Tensor> operands)
      : schedule_(schedule),
        extents_(extents),
        semiring_(semiring),
        outputs_(outputs),
        operands_(operands),
        // What a question brings along, cotangents and the like, does not widen the arithmetic.
        element_(element_dtype(operands.first(schedule.graph.factors().size()))) {}

  BoundSchedule run() {
    const auto element_size = static_cast<std::int64_t>(size_of(element_));
    const planner::Arena arena = planner::place_buffers(schedule_, extents_, element_size);
    if (schedule_.verified) planner::verify_places(schedule_, arena, extents_, element_size);
    bound_.extents = extents_;
    bound_.arena_bytes = arena.bytes;
    bound_.cleared = cleared();
    bound_.steps.reserve(schedule_.steps.size());
    for (const Step& step : schedule_.steps) {
      BoundStep& b = bound_.steps.emplace_back(BoundStep{.kernel = kernel(step)});
      b.inputs.reserve(step.inputs.size());
      for (const ValueId v : step.inputs) b.inputs.push_back(place(v, arena));
      b.output = place(step.output, arena);
      b.flops = planner::step_flops(schedule_, extents_, step);
      bound_.flops += b.flops;
    }
    return std::move(bound_);
  }

 private:
  decltype(BoundStep::kernel) kernel(const Step& step) {
    using Kernel = decltype(BoundStep::kernel);
    return std::visit(base::Overloaded{
                          [&](const planner::Contract& contract) -> Kernel {
                            return reserved(kernels::Contraction(contraction(step, contract)));
                          },
                          [&](const planner::LeaveOneOut& others) -> Kernel { return leave_one_out(step, others); },
                          [&](const planner::Weigh& weigh) -> Kernel {
                            return reserved(kernels::WeightedSum(weighted_sum(step, weigh)));
                          },
                          [&](const planner::LogMass&) -> Kernel { return log_mass(step); },
                      },
                      step.operation);
  }

  /// Has room for a kernel's scratch.
  template <class Kernel>
  Kernel reserved(Kernel kernel) {
    bound_.task_scratch_bytes = std::max(bound_.task_scratch_bytes, kernel.task_scratch_bytes());
    bound_.shared_scratch_bytes = std::max(bound_.shared_scratch_bytes, kernel.shared_scratch_bytes());
    return kernel;
  }

  std::vector<std::size_t> cleared() const {
    std::vector<bool> whole(schedule_.outputs.size(), false);
    for (const Step& step : schedule_.steps) {
      const Value& value = schedule_.values[step.output];
      if (value.kind != Value::Kind::output) continue;
      const std::vector<DimId>& axes = schedule_.outputs[value.index];
      whole[value.index] = base::sorted(axes).size() == axes.size();
    }
    std::vector<std::size_t> list;
    for (std::size_t o = 0; o < whole.size(); ++o) {
      if (!whole[o]) list.push_back(o);
    }
    return list;
  }

  Place place(ValueId v, const planner::Arena& arena) const {
    const Value& value = schedule_.values[v];
    return {value.kind, value.index, arena.offset[v]};
  }

  Layout layout(ValueId v) const {
    const Value& value = schedule_.values[v];
    if (value.kind == Value::Kind::operand) {
      return layout_of(operands_[value.index], schedule_.operands[value.index]);
    }
    if (value.kind == Value::Kind::output) {
      return layout_of(outputs_[value.index], schedule_.outputs[value.index]);
    }
    Layout layout{.dtype = value.precision == Precision::wide ? Dtype::float64 : element_, .stride = {}};
    layout.stride.reserve(value.dims.size());
    std::int64_t stride = 1;
    for (std::size_t axis = value.dims.size(); axis-- > 0;) {
      layout.stride.emplace_back(value.dims[axis], stride);
      stride = base::checked_product(stride, extents_[value.dims[axis]]);
    }
    return layout;
  }

  static std::vector<std::int64_t> along(const Layout& layout, const std::vector<DimId>& loops) {
    std::vector<std::int64_t> strides;
    strides.reserve(loops.size());
    for (const DimId d : loops) strides.push_back(layout.along(d));
    return strides;
  }

  kernels::ContractionShape contraction(const Step& step, const planner::Contract& contract) const {
    kernels::ContractionShape shape;
    shape.semiring = contract.semiring.value_or(semiring_);
    shape.power = planner::value_of(contract.power, extents_);
    const std::vector<DimId> loops = schedule_.loops(step);
    const std::size_t kept = schedule_.values[step.output].dims.size();
    for (std::size_t k = 0; k < loops.size(); ++k) {
      shape.extent.push_back(extents_[loops[k]]);
      shape.role.push_back(k < kept                             ? kernels::Role::kept
                           : k < kept + contract.product.size() ? kernels::Role::product
                                                                : kernels::Role::sum);
    }
    shape.compute_dtype = Dtype::float32;
    if (step.inputs.empty()) shape.compute_dtype = element_;
    for (const ValueId v : step.inputs) {
      const Layout input = layout(v);
      shape.input_stride.push_back(along(input, loops));
      shape.input_dtype.push_back(input.dtype);
      if (input.dtype == Dtype::float64) shape.compute_dtype = Dtype::float64;
    }
    const Layout output = layout(step.output);
    shape.output_stride = along(output, loops);
    shape.output_dtype = output.dtype;
    return shape;
  }

  kernels::WeightedSumShape weighted_sum(const Step& step, const planner::Weigh& weigh) const {
    kernels::WeightedSumShape shape;
    const std::vector<DimId> loops = schedule_.loops(step);
    for (const DimId d : loops) {
      shape.extent.push_back(extents_[d]);
      shape.summed.push_back(base::contains(weigh.sum, d));
    }
    bool only_masses = true;
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      const Layout input = layout(step.inputs[k]);
      auto& list = k < weigh.added                      ? shape.added
                   : k < weigh.added + weigh.subtracted ? shape.subtracted
                                                        : shape.factors;
      list.push_back({.stride = along(input, loops), .dtype = input.dtype});
      only_masses = only_masses && k >= weigh.added;
    }
    const Layout output = layout(step.output);
    shape.output_stride = along(output, loops);
    shape.output_dtype = output.dtype;
    shape.compute_dtype = only_masses ? Dtype::float64 : element_;
    shape.scale = planner::value_of(weigh.scale, extents_);
    shape.accumulate = weigh.accumulate;
    shape.surprisal = weigh.surprisal;
    return shape;
  }

  kernels::LogMassShape log_mass(const Step& step) const {
    kernels::LogMassShape shape;
    const std::vector<DimId>& loops = schedule_.values[step.output].dims;
    for (const DimId d : loops) shape.extent.push_back(extents_[d]);
    shape.mass_stride = along(layout(step.inputs[0]), loops);
    const Layout normaliser = step.inputs.size() > 1 ? layout(step.inputs[1]) : Layout{};
    shape.normaliser_stride = along(normaliser, loops);
    shape.normaliser_dtype = normaliser.dtype;
    shape.output_dtype = layout(step.output).dtype;
    return shape;
  }

  LeaveOneOut leave_one_out(const Step& step, const planner::LeaveOneOut& others) {
    LeaveOneOut result;
    kernels::LeaveOneOutShape& shape = result.shape;
    shape.semiring = others.semiring.value_or(semiring_);
    shape.repeats = planner::value_of(others.power, extents_);
    const Layout input = layout(step.inputs[0]);
    const Layout output = layout(step.output);
    for (const DimId d : schedule_.values[step.output].dims) {
      const bool product = base::contains(others.product, d);
      (product ? shape.product_extent : shape.kept_extent).push_back(extents_[d]);
      (product ? shape.product_input_stride : shape.kept_input_stride).push_back(input.along(d));
      (product ? shape.product_output_stride : shape.kept_output_stride).push_back(output.along(d));
    }
    result.kept = base::checked_product(shape.kept_extent);
    result.slices = base::checked_product(shape.product_extent);
    if (step.inputs.size() > 1) {
      const std::int64_t scratch = base::checked_product(result.slices, 4 * static_cast<std::int64_t>(sizeof(double)));
      bound_.task_scratch_bytes = std::max(bound_.task_scratch_bytes, static_cast<std::size_t>(scratch));
    }
    return result;
  }

  const Schedule& schedule_;
  const planner::Extents& extents_;
  Semiring semiring_;
  std::span<const Tensor> outputs_;
  std::span<const Tensor> operands_;
  Dtype element_;
  BoundSchedule bound_;
};

}  // namespace

Dtype element_dtype(std::span<const Tensor> operands) {
  if (operands.empty()) return Dtype::float64;
  const bool wide =
      std::any_of(operands.begin(), operands.end(), [](const Tensor& t) { return t.dtype() == Dtype::float64; });
  return wide ? Dtype::float64 : Dtype::float32;
}

BoundSchedule bind(const planner::Schedule& schedule, const planner::Extents& extents, Semiring semiring,
                   std::span<const Tensor> outputs, std::span<const Tensor> operands) {
  return Binder(schedule, extents, semiring, outputs, operands).run();
}

}  // namespace plated::engine
