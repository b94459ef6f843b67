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
        // What a question brings along, cotangents and the like, does not widen the arithmetic.
        element_(element_dtype(operands.first(schedule.graph.factors().size()))) {}

  BoundSchedule run() {
    BoundSchedule bound;
    const Schedule::Arena& arena = schedule_.arena[element_ == Dtype::float32 ? 0 : 1];
    bound.arena_bytes = arena.bytes;
    bound.cleared = cleared();
    bound.steps.reserve(schedule_.steps.size());
    for (const Step& step : schedule_.steps) {
      BoundStep b;
      for (const ValueId v : step.inputs) b.inputs.push_back(place(v, arena));
      b.output = place(step.output, arena);
      b.flops = planner::step_flops(schedule_, step);
      bound.flops += b.flops;
      const auto reserve = [&](const auto& kernel) {
        bound.task_scratch_bytes = std::max(bound.task_scratch_bytes, kernel.task_scratch_bytes());
        bound.shared_scratch_bytes = std::max(bound.shared_scratch_bytes, kernel.shared_scratch_bytes());
      };
      switch (step.kind) {
        case Step::Kind::contract:
          reserve(b.contraction.emplace(contraction(step)));
          break;
        case Step::Kind::weigh:
          reserve(b.weighted_sum.emplace(weighted_sum(step)));
          break;
        case Step::Kind::leave_one_out:
          b.leave_one_out = leave_one_out(step);
          b.kept = base::checked_product(b.leave_one_out->kept_extent);
          b.slices = base::checked_product(b.leave_one_out->product_extent);
          if (step.inputs.size() > 1) {
            bound.task_scratch_bytes =
                std::max(bound.task_scratch_bytes, static_cast<std::size_t>(base::checked_product(
                                                       b.slices, 4 * static_cast<std::int64_t>(sizeof(double)))));
          }
          break;
        case Step::Kind::log_mass:
          b.log_mass = log_mass(step);
          break;
      }
      bound.steps.push_back(std::move(b));
    }
    return bound;
  }

 private:
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

  Place place(ValueId v, const Schedule::Arena& arena) const {
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
    std::int64_t stride = 1;
    for (std::size_t axis = value.dims.size(); axis-- > 0;) {
      layout.stride[value.dims[axis]] = stride;
      stride = base::checked_product(stride, schedule_.problem.size[value.dims[axis]]);
    }
    return layout;
  }

  static std::vector<std::int64_t> along(const Layout& layout, const std::vector<DimId>& loops) {
    std::vector<std::int64_t> strides;
    for (const DimId d : loops) strides.push_back(layout.along(d));
    return strides;
  }

  kernels::ContractionShape contraction(const Step& step) const {
    kernels::ContractionShape shape;
    shape.semiring = step.semiring.value_or(semiring_);
    shape.power = step.power;
    const std::vector<DimId> loops = schedule_.loops(step);
    const std::size_t kept = schedule_.values[step.output].dims.size();
    for (std::size_t k = 0; k < loops.size(); ++k) {
      shape.extent.push_back(schedule_.problem.size[loops[k]]);
      shape.role.push_back(k < kept                         ? kernels::Role::kept
                           : k < kept + step.product.size() ? kernels::Role::product
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

  kernels::WeightedSumShape weighted_sum(const Step& step) const {
    kernels::WeightedSumShape shape;
    const std::vector<DimId> loops = schedule_.loops(step);
    for (const DimId d : loops) {
      shape.extent.push_back(schedule_.problem.size[d]);
      shape.summed.push_back(base::contains(step.sum, d));
    }
    bool only_masses = true;
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      const Layout input = layout(step.inputs[k]);
      auto& list = k < step.added ? shape.added : k < step.added + step.subtracted ? shape.subtracted : shape.factors;
      list.push_back({.stride = along(input, loops), .dtype = input.dtype});
      only_masses = only_masses && k >= step.added;
    }
    const Layout output = layout(step.output);
    shape.output_stride = along(output, loops);
    shape.output_dtype = output.dtype;
    shape.compute_dtype = only_masses ? Dtype::float64 : element_;
    shape.scale = step.scale;
    shape.accumulate = step.accumulate;
    shape.surprisal = step.surprisal;
    return shape;
  }

  kernels::LogMassShape log_mass(const Step& step) const {
    kernels::LogMassShape shape;
    const std::vector<DimId>& loops = schedule_.values[step.output].dims;
    for (const DimId d : loops) shape.extent.push_back(schedule_.problem.size[d]);
    shape.mass_stride = along(layout(step.inputs[0]), loops);
    const Layout normaliser = step.inputs.size() > 1 ? layout(step.inputs[1]) : Layout{};
    shape.normaliser_stride = along(normaliser, loops);
    shape.normaliser_dtype = normaliser.dtype;
    shape.output_dtype = layout(step.output).dtype;
    return shape;
  }

  kernels::LeaveOneOutShape leave_one_out(const Step& step) const {
    kernels::LeaveOneOutShape shape;
    shape.semiring = step.semiring.value_or(semiring_);
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
