// Finds the strides of values.
#include "engine/layout.hpp"

#include <algorithm>

#include "base/checked_size.hpp"
#include "engine/bound_schedule.hpp"

namespace plated::engine {
namespace {

using planner::Value;

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

}  // namespace

Layout row_major(Dtype dtype, const std::vector<DimId>& dims, const planner::Extents& extents) {
  Layout layout{.dtype = dtype, .stride = {}};
  layout.stride.reserve(dims.size());
  std::int64_t stride = 1;
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    layout.stride.emplace_back(dims[axis], stride);
    stride = base::checked_product(stride, extents[dims[axis]]);
  }
  return layout;
}

Layouts::Layouts(const planner::Schedule& schedule, const planner::Extents& extents, std::span<const Tensor> outputs,
                 std::span<const Tensor> operands, Dtype element, Dtype message)
    : schedule_(schedule),
      extents_(extents),
      outputs_(outputs),
      operands_(operands),
      element_(element),
      message_(message) {}

Layout Layouts::operator()(planner::ValueId v, const planner::Extents& loops) const {
  const Value& value = schedule_.values[v];
  if (value.kind == Value::Kind::operand) return layout_of(operands_[value.index], schedule_.operands[value.index]);
  if (value.kind == Value::Kind::output) return layout_of(outputs_[value.index], schedule_.outputs[value.index]);
  return row_major(dtype(v), axes(v), is_in_blocks(v) && !chain_ ? loops : extents_);
}

bool Layouts::is_computed(planner::ValueId v) const {
  if (schedule_.values[v].kind == Value::Kind::operand) return false;
  const auto writer = std::find_if(schedule_.steps.begin(), schedule_.steps.end(),
                                   [&](const planner::Step& step) { return step.output == v; });
  if (writer == schedule_.steps.end()) return true;
  const auto* gather = writer->as<planner::Gather>();
  return gather == nullptr || !gather->product.empty() || gather->partial || is_computed(writer->inputs[0]);
}

std::vector<DimId> Layouts::axes(planner::ValueId v) const {
  std::vector<DimId> dims = schedule_.values[v].dims;
  if (!is_in_blocks(v) || !chain_) return dims;
  const auto chain = std::find(dims.begin(), dims.end(), *chain_);
  std::rotate(dims.begin(), chain, chain + 1);
  return dims;
}

double Layouts::bytes(planner::ValueId v) const {
  auto bytes = static_cast<double>(size_of(dtype(v)));
  for (const DimId d : schedule_.values[v].dims) bytes *= static_cast<double>(extents_[d]);
  return bytes;
}

std::int64_t Layouts::bytes_along(planner::ValueId v, DimId dim, std::int64_t slices) const {
  const auto size = static_cast<std::int64_t>(size_of(dtype(v)));
  if (!is_in_blocks(v)) return (*this)(v, extents_).along(dim) * slices * size;
  return planner::elements(extents_, schedule_.values[v].dims) / extents_[dim] * slices * size;
}

Dtype Layouts::dtype(planner::ValueId v) const {
  const Value& value = schedule_.values[v];
  if (value.kind == Value::Kind::operand) return operands_[value.index].dtype();
  if (value.kind == Value::Kind::output) return outputs_[value.index].dtype();
  switch (value.precision) {
    case planner::Precision::element:
      return element_;
    case planner::Precision::message:
      return message_;
    case planner::Precision::wide:
      break;
  }
  return Dtype::float64;
}

}  // namespace plated::engine
