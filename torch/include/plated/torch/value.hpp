// Values of a program: tensors whose axes have names.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "plated/torch/dims.hpp"

namespace plated::torch {

/// A plate or a chain of a program.
class Plate {
 public:
  Plate(DimPointer dim, at::Tensor batch) : dim_(std::move(dim)), batch_(std::move(batch)) {}

  [[nodiscard]] const std::string& name() const { return dim_->name; }
  /// The number of slices that the program has, of a subsampled plate those that were taken.
  [[nodiscard]] std::int64_t size() const { return dim_->size; }
  [[nodiscard]] const DimPointer& dim() const { return dim_; }
  /// The slices that were taken of a subsampled plate; else not defined.
  [[nodiscard]] const at::Tensor& batch() const { return batch_; }

 private:
  DimPointer dim_;
  at::Tensor batch_;
};

/// A tensor with named axes, then axes of its own without names. What Program::sample returns stands for all states of
/// a variable at once; arithmetic broadcasts by name, so that nobody counts axes.
///
///   Value x = program.sample("x", Bernoulli(px));
///   program.observe("y", Normal(0.1 + 0.8 * x, 1), y, {I});
///   program.observe("z", Bernoulli(pz[{x, y}]), z, {I, J});
class Value {
 public:
  Value(double number);      // NOLINT(google-explicit-constructor)
  Value(at::Tensor tensor);  // NOLINT(google-explicit-constructor)
  /// A tensor whose first axes are slices of these plates and chains; along a subsampled plate it has the plate's full
  /// size, and the slices that were taken are selected. Throws RankError and SizeError.
  Value(const at::Tensor& tensor, const std::vector<Plate>& plates);
  /// A tensor whose first axes have these names.
  Value(at::Tensor tensor, std::vector<DimPointer> axes);

  /// All states of a variable: 0, 1, …
  [[nodiscard]] static Value states(const DimPointer& variable);

  /// Named axes come first, in the order of axes().
  [[nodiscard]] const at::Tensor& tensor() const { return tensor_; }
  [[nodiscard]] const std::vector<DimPointer>& axes() const { return axes_; }
  /// The number of axes without names.
  [[nodiscard]] std::int64_t own_axes() const { return tensor_.dim() - static_cast<std::int64_t>(axes_.size()); }
  /// The variable that this has the states of; null where it is computed from others.
  [[nodiscard]] const DimPointer& variable() const { return variable_; }

  /// Indexes the first of its own axes by values: `transition[{before}]`, `pz[{x, y}]`. The result has the named axes
  /// of all of them. Throws RankError and SizeError.
  [[nodiscard]] Value operator[](std::initializer_list<Value> indices) const { return index(indices); }
  [[nodiscard]] Value operator[](const Value& index) const { return (*this)[{index}]; }
  /// The same with any number of them.
  [[nodiscard]] Value index(const std::vector<Value>& indices) const;

 private:
  at::Tensor tensor_;
  std::vector<DimPointer> axes_;
  DimPointer variable_;
};

/// Arithmetic of entries; integers become float64 first.
[[nodiscard]] Value operator+(const Value& a, const Value& b);
[[nodiscard]] Value operator-(const Value& a, const Value& b);
[[nodiscard]] Value operator*(const Value& a, const Value& b);
[[nodiscard]] Value operator/(const Value& a, const Value& b);
[[nodiscard]] Value operator-(const Value& a);

/// Any function of tensors, such as a neural network, over values: it is given a matrix with a row for each combination
/// of their named axes and a column for each value, or the values' own axes in a row, and returns as many rows.
///
///   Value logits = map_rows({x, y}, [&](const at::Tensor& rows) { return network->forward(rows); });
[[nodiscard]] Value map_rows(const std::vector<Value>& inputs,
                             const std::function<at::Tensor(const at::Tensor&)>& function);

/// A function of tensors of the same axes: the values' tensors are given with all their named axes, of size 1 where a
/// value lacks one, and `own` axes of their own.
[[nodiscard]] Value map_entries(const std::vector<Value>& inputs,
                                const std::function<at::Tensor(const std::vector<at::Tensor>&)>& function);

}  // namespace plated::torch
