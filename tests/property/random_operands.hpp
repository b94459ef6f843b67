// Random operands for a graph, in every layout that a caller's array may have: transposed, sliced, reversed, broadcast.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "property/random_case.hpp"

namespace plated::test {

struct OperandOptions {
  Semiring semiring = Semiring::log;
  std::vector<Dtype> dtypes = {Dtype::float64};  // one of them for each operand
  bool strided = false;
  int zero_percent = 0;  // of entries that are the semiring's zero
  bool extreme = false;  // slices that weigh 1e±300, or are masked with −1e30 in log space
};

/// Tensors that view buffers of their own; gaps between their entries are NaN.
class Operands {
 public:
  Operands(const FactorGraph& graph, Random& random, const OperandOptions& options) {
    for (const Factor& factor : graph.factors()) {
      Tensor::Shape shape;
      std::vector<bool> sliced;
      for (const DimId d : factor.dims) {
        shape.push_back(graph.dims()[d].size);
        sliced.push_back(graph.dims()[d].kind != DimKind::variable);
      }
      add(shape, sliced, random, options);
    }
  }

  /// Tensors to write into, of a graph's output shapes.
  static Operands outputs(const FactorGraph& graph, Random& random, Dtype dtype) {
    Operands result;
    for (const Output& output : graph.outputs()) {
      Tensor::Shape shape;
      for (const DimId d : output.dims) shape.push_back(graph.dims()[d].size);
      result.add_layout(shape, random, dtype, true, false);
    }
    return result;
  }

  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }

  /// The entry a semiring's operand may hold.
  static double entry(Random& random, Semiring semiring) {
    switch (semiring) {
      case Semiring::real:
        return random.uniform(0.4, 1.6) * (random.chance(30) ? -1 : 1);
      case Semiring::max_product:
        return random.uniform(0.5, 1.5);
      case Semiring::boolean:
        return random.chance(70) ? 1 : 0;
      default:
        return random.uniform(-4, 4);
    }
  }

 private:
  Operands() = default;

  /// Of an entry: what a whole slice is multiplied by, or masked with.
  static double weighed(double entry, double slice, Semiring semiring) {
    if (!oracle::adds_logarithms(semiring)) return entry * slice;
    return slice == 1 ? entry : -1e30;
  }
  static double slice_weight(Random& random, Semiring semiring, Dtype dtype) {
    if (!random.chance(40)) return 1;
    if (oracle::adds_logarithms(semiring)) return 0;
    const double digits = dtype == Dtype::float32 ? 30 : 300;
    return std::pow(10, random.uniform(-digits, digits));
  }

  void add(const Tensor::Shape& shape, const std::vector<bool>& sliced, Random& random, const OperandOptions& options) {
    const Dtype dtype =
        options.dtypes[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(options.dtypes.size())))];
    const Tensor tensor = add_layout(shape, random, dtype, options.strided, options.strided);
    std::vector<std::int64_t> index(shape.size(), 0);
    std::map<std::int64_t, double> weight;  // by the first entry of a slice
    for (std::int64_t k = tensor.elements(); k > 0; --k) {
      std::int64_t offset = 0, slice = 0;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        offset += index[axis] * tensor.strides()[axis];
        if (sliced[axis]) slice += index[axis] * tensor.strides()[axis];
      }
      const bool zero = random.chance(options.zero_percent);
      double value = zero ? static_cast<double>(oracle::zero(options.semiring)) : entry(random, options.semiring);
      if (options.extreme && !weight.contains(slice)) {
        weight[slice] = slice_weight(random, options.semiring, dtype);
      }
      if (options.extreme && !zero) value = weighed(value, weight[slice], options.semiring);
      if (dtype == Dtype::float32) {
        static_cast<float*>(tensor.mutable_data())[offset] = static_cast<float>(value);
      } else {
        static_cast<double*>(tensor.mutable_data())[offset] = value;
      }
      for (std::size_t axis = shape.size(); axis-- > 0;) {
        if (++index[axis] < shape[axis]) break;
        index[axis] = 0;
      }
    }
  }

  const Tensor& add_layout(const Tensor::Shape& shape, Random& random, Dtype dtype, bool strided, bool broadcast) {
    std::vector<std::size_t> axes(shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    if (strided) random.shuffle(axes);
    Tensor::Shape strides(shape.size(), 0);
    std::int64_t length = 1, first = 0;
    for (const std::size_t axis : axes) {
      if (broadcast && random.chance(10)) continue;
      const std::int64_t step = strided ? 1 + random.below(2) : 1;
      const bool reversed = strided && random.chance(30);
      strides[axis] = (reversed ? -step : step) * length;
      if (reversed && shape[axis] > 0) first += step * length * (shape[axis] - 1);
      length *= step * std::max<std::int64_t>(shape[axis], 1);
    }
    if (!strided) strides = Tensor::row_major(shape);
    const auto size = static_cast<std::size_t>(length);
    if (dtype == Dtype::float32) {
      floats_.emplace_back(size, std::numeric_limits<float>::quiet_NaN());
      tensors_.push_back(Tensor::view(floats_.back().data() + first, shape, strides));
    } else {
      doubles_.emplace_back(size, std::numeric_limits<double>::quiet_NaN());
      tensors_.push_back(Tensor::view(doubles_.back().data() + first, shape, strides));
    }
    return tensors_.back();
  }

  std::deque<std::vector<float>> floats_;
  std::deque<std::vector<double>> doubles_;
  std::vector<Tensor> tensors_;
};

}  // namespace plated::test
