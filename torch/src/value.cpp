// Broadcasting, indexing and arithmetic by name.
#include "plated/torch/value.hpp"

#include <ATen/ATen.h>

#include <algorithm>

#include "plated/error.hpp"

namespace plated::torch {

namespace {

using Dims = std::vector<DimPointer>;

std::int64_t position(const Dims& axes, const DimPointer& dim) { return std::ranges::find(axes, dim) - axes.begin(); }

bool has(const Dims& axes, const DimPointer& dim) { return std::ranges::find(axes, dim) != axes.end(); }

/// The named axes of all values, in the order in which they are met.
Dims join(const std::vector<Value>& values) {
  Dims result;
  for (const Value& value : values) {
    for (const DimPointer& dim : value.axes()) {
      if (!has(result, dim)) result.push_back(dim);
    }
  }
  return result;
}

/// The tensor with these named axes, of size 1 where it lacks one, and with `own` axes behind them.
at::Tensor aligned(const Value& value, const Dims& axes, std::int64_t own) {
  const Dims& mine = value.axes();
  // Broadcasting aligns the last axes itself.
  if (value.own_axes() == own && mine.size() <= axes.size() && std::equal(mine.rbegin(), mine.rend(), axes.rbegin())) {
    return value.tensor();
  }
  std::vector<std::int64_t> order;
  std::vector<std::int64_t> shape;
  for (const DimPointer& dim : axes) {
    const bool here = has(mine, dim);
    if (here) order.push_back(position(mine, dim));
    shape.push_back(here ? dim->size : 1);
  }
  shape.resize(shape.size() + own - value.own_axes(), 1);
  for (std::int64_t k = static_cast<std::int64_t>(mine.size()); k < value.tensor().dim(); ++k) {
    order.push_back(k);
    shape.push_back(value.tensor().size(k));
  }
  return value.tensor().permute(order).reshape(shape);
}

at::Tensor number_of(const Value& value) {
  return at::isIntegralType(value.tensor().scalar_type(), true) ? value.tensor().to(at::kDouble) : value.tensor();
}

}  // namespace

Value::Value(double number) : tensor_(at::scalar_tensor(number, at::kDouble)) {}

Value::Value(at::Tensor tensor) : tensor_(std::move(tensor)) {
  if (!tensor_.defined()) throw NullDataError("a value is made of a tensor that is not defined");
}

Value::Value(at::Tensor tensor, std::vector<DimPointer> axes) : tensor_(std::move(tensor)), axes_(std::move(axes)) {}

Value::Value(const at::Tensor& tensor, const std::vector<Plate>& plates) : Value(tensor) {
  if (tensor_.dim() < static_cast<std::int64_t>(plates.size())) {
    throw RankError("a tensor with " + std::to_string(tensor_.dim()) + " axes cannot have one for each of " +
                    std::to_string(plates.size()) + " plates");
  }
  for (std::size_t k = 0; k < plates.size(); ++k) {
    const auto axis = static_cast<std::int64_t>(k);
    if (plates[k].batch().defined()) {
      if (tensor_.size(axis) <= plates[k].batch().max().item<std::int64_t>()) {
        throw SizeError("axis " + std::to_string(k) + " has " + std::to_string(tensor_.size(axis)) +
                        " slices; along the subsampled plate '" + plates[k].name() + "' it has the plate's full size");
      }
      tensor_ = tensor_.index_select(axis, plates[k].batch());
    } else if (tensor_.size(axis) != plates[k].size()) {
      throw SizeError("axis " + std::to_string(k) + " has size " + std::to_string(tensor_.size(axis)) + ", and '" +
                      plates[k].name() + "' has " + std::to_string(plates[k].size()) + " slices");
    }
    axes_.push_back(plates[k].dim());
  }
}

Value Value::states(const DimPointer& variable) {
  Value result(at::arange(variable->size, at::kLong), Dims{variable});
  result.variable_ = variable;
  return result;
}

Value Value::index(const std::vector<Value>& indices) const {
  const auto count = static_cast<std::int64_t>(indices.size());
  if (own_axes() < count) {
    throw RankError("a value with " + std::to_string(own_axes()) + " axes of its own is indexed by " +
                    std::to_string(count) + " values");
  }
  Dims renamed = axes_;
  bool rename = true;
  auto axis = static_cast<std::int64_t>(axes_.size());
  for (const Value& index : indices) {
    if (!at::isIntegralType(index.tensor().scalar_type(), false) || index.own_axes() != 0) {
      throw ValueError("an index is a value of integers without axes of its own, such as a sampled one");
    }
    const DimPointer& variable = index.variable();
    if (variable && variable->size != tensor_.size(axis)) {
      throw SizeError("'" + variable->name + "' has " + std::to_string(variable->size) +
                      " states and indexes an axis of " + std::to_string(tensor_.size(axis)));
    }
    rename = rename && variable && !has(renamed, variable);
    renamed.push_back(variable);
    ++axis;
  }
  // All states in order: the axis itself, without a copy.
  if (rename) return {tensor_, std::move(renamed)};
  Dims axes = axes_;
  for (const DimPointer& dim : join(indices)) {
    if (!has(axes, dim)) axes.push_back(dim);
  }
  c10::List<std::optional<at::Tensor>> places;
  for (const DimPointer& dim : axes_) {
    places.push_back(aligned(Value(at::arange(dim->size, at::kLong), Dims{dim}), axes, 0));
  }
  for (const Value& index : indices) places.push_back(aligned(index, axes, 0).to(at::kLong));
  return {at::index(tensor_, places), std::move(axes)};
}

Value map_entries(const std::vector<Value>& inputs,
                  const std::function<at::Tensor(const std::vector<at::Tensor>&)>& function) {
  Dims axes = join(inputs);
  std::int64_t own = 0;
  for (const Value& input : inputs) own = std::max(own, input.own_axes());
  std::vector<at::Tensor> tensors;
  tensors.reserve(inputs.size());
  for (const Value& input : inputs) tensors.push_back(aligned(input, axes, own));
  at::Tensor result = function(tensors);
  return {std::move(result), std::move(axes)};
}

Value map_rows(const std::vector<Value>& inputs, const std::function<at::Tensor(const at::Tensor&)>& function) {
  Dims axes = join(inputs);
  std::vector<std::int64_t> shape;
  for (const DimPointer& dim : axes) shape.push_back(dim->size);
  std::vector<std::int64_t> entry = shape;
  entry.push_back(-1);
  std::vector<at::Tensor> columns;
  for (const Value& input : inputs) {
    at::Tensor column = aligned(Value(number_of(input), input.axes()), axes, input.own_axes());
    std::vector<std::int64_t> full = shape;
    const auto own = input.tensor().sizes().slice(input.axes().size());
    full.insert(full.end(), own.begin(), own.end());
    columns.push_back(column.expand(full).reshape(entry));
  }
  const at::Tensor rows = at::cat(columns, -1).flatten(0, static_cast<std::int64_t>(axes.size()) - 1);
  const at::Tensor result = function(axes.empty() ? rows.unsqueeze(0) : rows);
  std::vector<std::int64_t> back = shape;
  back.insert(back.end(), result.sizes().begin() + 1, result.sizes().end());
  return {result.reshape(back), std::move(axes)};
}

namespace {

template <class Operation>
Value combined(const Value& a, const Value& b, Operation operation) {
  const std::vector<Value> both{Value(number_of(a), a.axes()), Value(number_of(b), b.axes())};
  return map_entries(both, [&](const std::vector<at::Tensor>& t) { return operation(t[0], t[1]); });
}

}  // namespace

Value operator+(const Value& a, const Value& b) {
  return combined(a, b, [](const at::Tensor& x, const at::Tensor& y) { return x + y; });
}
Value operator-(const Value& a, const Value& b) {
  return combined(a, b, [](const at::Tensor& x, const at::Tensor& y) { return x - y; });
}
Value operator*(const Value& a, const Value& b) {
  return combined(a, b, [](const at::Tensor& x, const at::Tensor& y) { return x * y; });
}
Value operator/(const Value& a, const Value& b) {
  return combined(a, b, [](const at::Tensor& x, const at::Tensor& y) { return x / y; });
}
Value operator-(const Value& a) { return {-number_of(a), a.axes()}; }

}  // namespace plated::torch
