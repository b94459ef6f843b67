// Turns dims into loops with strides.
#include "engine/bound_schedule.hpp"

#include <algorithm>
#include <map>

#include "base/checked_size.hpp"
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
  std::map<DimId, std::int64_t> stride;
  [[nodiscard]] std::int64_t along(DimId d) const {
    const auto found = stride.find(d);
    return found == stride.end() ? 0 : found->second;
  }
};

/// Axes that name the same dim are walked together: the diagonal.
Layout layout_of(const Tensor& tensor, const std::vector<DimId>& axes) {
  Layout layout{.dtype = tensor.dtype(), .stride = {}};
  for (std::size_t axis = 0; axis < axes.size(); ++axis) layout.stride[axes[axis]] += tensor.strides()[axis];
  return layout;
}

class Binder {
 public:
  Binder(const Schedule& schedule, Semiring semiring, std::span<const Tensor> outputs, std::span<const Tensor> operands)
      : schedule_(schedule),
        semiring_(semiring),
        outputs_(outputs),
        operands_(operands),
        element_(element_dtype(operands)) {}

  BoundSchedule run() {
    BoundSchedule bound;
    const Schedule::Arena& arena = schedule_.arena[element_ == Dtype::float32 ? 0 : 1];
    bound.arena_bytes = arena.bytes;
    bound.steps.reserve(schedule_.steps.size());
    for (const Step& step : schedule_.steps) {
      BoundStep b;
      for (const ValueId v : step.inputs) b.inputs.push_back(place(v, arena));
      b.output = place(step.output, arena);
      b.flops = planner::step_flops(schedule_, step);
      bound.flops += b.flops;
      if (step.kind == Step::Kind::contract) {
        b.contraction.emplace(contraction(step));
        bound.task_scratch_bytes = std::max(bound.task_scratch_bytes, b.contraction->task_scratch_bytes());
        bound.shared_scratch_bytes = std::max(bound.shared_scratch_bytes, b.contraction->shared_scratch_bytes());
      } else {
        b.leave_one_out = leave_one_out(step);
        b.kept = base::checked_product(b.leave_one_out->kept_extent);
        b.slices = base::checked_product(b.leave_one_out->product_extent);
      }
      bound.steps.push_back(std::move(b));
    }
    return bound;
  }

 private:
  Place place(ValueId v, const Schedule::Arena& arena) const {
    const Value& value = schedule_.values[v];
    return {value.kind, value.index, arena.offset[v]};
  }

  Layout layout(ValueId v) const {
    const Value& value = schedule_.values[v];
    if (value.kind == Value::Kind::operand) {
      return layout_of(operands_[value.index], schedule_.graph.factors()[value.index].dims);
    }
    if (value.kind == Value::Kind::output) {
      return layout_of(outputs_[value.index], schedule_.graph.outputs()[value.index].dims);
    }
    Layout layout{.dtype = value.precision == Precision::wide ? Dtype::float64 : element_, .stride = {}};
    std::int64_t stride = 1;
    for (std::size_t axis = value.dims.size(); axis-- > 0;) {
      layout.stride[value.dims[axis]] = stride;
      stride = base::checked_product(stride, schedule_.problem.size[value.dims[axis]]);
    }
    return layout;
  }

  kernels::ContractionShape contraction(const Step& step) const {
    kernels::ContractionShape shape;
    shape.semiring = semiring_;
    shape.power = step.power;
    const std::vector<DimId> loops = schedule_.loops(step);
    const std::size_t kept = schedule_.values[step.output].dims.size();
    for (std::size_t k = 0; k < loops.size(); ++k) {
      shape.extent.push_back(schedule_.problem.size[loops[k]]);
      shape.role.push_back(k < kept                         ? kernels::Role::kept
                           : k < kept + step.product.size() ? kernels::Role::product
                                                            : kernels::Role::sum);
    }
    const auto strides = [&](const Layout& layout) {
      std::vector<std::int64_t> list;
      for (const DimId d : loops) list.push_back(layout.along(d));
      return list;
    };
    shape.compute_dtype = Dtype::float32;
    if (step.inputs.empty()) shape.compute_dtype = element_;
    for (const ValueId v : step.inputs) {
      const Layout input = layout(v);
      shape.input_stride.push_back(strides(input));
      shape.input_dtype.push_back(input.dtype);
      if (input.dtype == Dtype::float64) shape.compute_dtype = Dtype::float64;
    }
    const Layout output = layout(step.output);
    shape.output_stride = strides(output);
    shape.output_dtype = output.dtype;
    return shape;
  }

  kernels::LeaveOneOutShape leave_one_out(const Step& step) const {
    kernels::LeaveOneOutShape shape;
    shape.semiring = semiring_;
    shape.repeats = step.power;
    const Layout input = layout(step.inputs[0]);
    const Layout output = layout(step.output);
    for (const DimId d : schedule_.values[step.output].dims) {
      const bool product = base::contains(step.product, d);
      (product ? shape.product_extent : shape.kept_extent).push_back(schedule_.problem.size[d]);
      (product ? shape.product_input_stride : shape.kept_input_stride).push_back(input.along(d));
      (product ? shape.product_output_stride : shape.kept_output_stride).push_back(output.along(d));
    }
    return shape;
  }

  const Schedule& schedule_;
  Semiring semiring_;
  std::span<const Tensor> outputs_;
  std::span<const Tensor> operands_;
  Dtype element_;
};

}  // namespace

Dtype element_dtype(std::span<const Tensor> operands) {
  if (operands.empty()) return Dtype::float64;
  const bool wide =
      std::any_of(operands.begin(), operands.end(), [](const Tensor& t) { return t.dtype() == Dtype::float64; });
  return wide ? Dtype::float64 : Dtype::float32;
}

BoundSchedule bind(const planner::Schedule& schedule, Semiring semiring, std::span<const Tensor> outputs,
                   std::span<const Tensor> operands) {
  return Binder(schedule, semiring, outputs, operands).run();
}

}  // namespace plated::engine
