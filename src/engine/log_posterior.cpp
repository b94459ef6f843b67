// Normalises in log space.
#include "engine/log_posterior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/checked_size.hpp"
#include "base/watch.hpp"
#include "engine/check_operands.hpp"
#include "engine/write_entries.hpp"
#include "plated/error.hpp"

namespace plated::engine {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// About, in nanoseconds: between questions whether to stop.
constexpr std::int64_t work_of_an_entry = 16;

}  // namespace

Tensor filled(Dtype dtype, const Tensor::Shape& shape, const std::vector<double>& values) {
  if (dtype == Dtype::float64) return Tensor::of(shape, values);
  return Tensor::of(shape, std::vector<float>(values.begin(), values.end()));
}

Tensor filled(Dtype dtype, const Tensor::Shape& shape, double value) {
  Tensor tensor = Tensor::uninitialised(dtype, shape);
  if (dtype == Dtype::float32) {
    std::fill_n(static_cast<float*>(tensor.mutable_data()), tensor.elements(), static_cast<float>(value));
  } else {
    std::fill_n(static_cast<double*>(tensor.mutable_data()), tensor.elements(), value);
  }
  return tensor;
}

namespace {

/// Allocates a place that has no data, and checks one that has.
void make_place(const Tensor::Shape& shape, Dtype dtype, Tensor& place, const char* what, const std::string& name) {
  if (place.data() == nullptr) {
    place = Tensor::uninitialised(dtype, shape);
  } else {
    check_place(what, name, place, shape);
  }
}

}  // namespace

void put(const Tensor& answer, Dtype dtype, Tensor& place, const char* what, const std::string& name) {
  make_place(answer.shape(), dtype, place, what, name);
  copy_entries(answer, place);
}

void put_everywhere(double value, const Tensor::Shape& shape, Dtype dtype, Tensor& place, const char* what,
                    const std::string& name) {
  make_place(shape, dtype, place, what, name);
  write_entries(place, [&](std::int64_t) { return value; });
}

void put_repeated(const Tensor& numbers, const Tensor::Shape& shape, Dtype dtype, Tensor& place, const char* what,
                  const std::string& name) {
  make_place(shape, dtype, place, what, name);
  const std::int64_t each = numbers.elements() == 0 ? 1 : place.elements() / numbers.elements();
  Tensor::Iterator number = numbers.begin();
  write_entries(place, [&](std::int64_t k) { return (k + 1) % each == 0 ? *number++ : *number; });
}

void make_posterior(const Tensor& joint, std::int64_t states, bool log) {
  const std::span<double> values = joint.span<double>();
  const auto each = static_cast<std::size_t>(states);
  base::Pace pace;
  for (std::size_t first = 0; first < values.size(); first += each) {
    if (pace.stops(work_of_an_entry * states)) base::check_wanted();
    const std::span<double> slice = values.subspan(first, each);
    const double high = *std::max_element(slice.begin(), slice.end());
    if (high == minus_infinity) {
      if (!log) std::fill(slice.begin(), slice.end(), 0.0);
      continue;
    }
    double sum = 0;
    for (double& x : slice) {
      x -= high;
      sum += std::exp(x);
    }
    // Not x − (high + log sum), which would round to the digits of `high`.
    for (double& x : slice) x = log ? x - std::log(sum) : std::exp(x) / sum;
  }
}

Tensor factor_posterior(const FactorGraph& graph, const planner::Extents& extents, std::size_t factor,
                        const std::vector<DimId>& axes, const Tensor& joint, const std::vector<double>& copies,
                        bool log, Dtype dtype) {
  std::int64_t states = 1;
  for (const DimId v : graph.factor_variables(factor)) states *= graph.dims()[v].size;
  make_posterior(joint, states, true);
  const std::span<const double> values = joint.span<double>();
  const std::vector<DimId>& operand_axes = graph.factors()[factor].dims;
  Tensor::Shape shape;
  for (const DimId d : operand_axes) shape.push_back(extents[d]);
  const Tensor::Shape strides = Tensor::row_major(shape);
  std::vector<std::int64_t> stride(graph.dims().size(), 0);  // of a dim in the operand, its diagonal where it repeats
  for (std::size_t axis = 0; axis < operand_axes.size(); ++axis) stride[operand_axes[axis]] += strides[axis];
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  std::vector<double> sum(static_cast<std::size_t>(elements), minus_infinity);
  std::vector<std::int64_t> at(axes.size(), 0);
  base::Pace pace;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double count = copies.empty() ? 1.0 : copies[k];
    const double x = values[k] == minus_infinity || count == 0 ? minus_infinity : values[k] + std::log(count);
    if (pace.stops(2 * work_of_an_entry)) base::check_wanted();
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) place += at[axis] * stride[axes[axis]];
    double& to = sum[static_cast<std::size_t>(place)];
    if (x != minus_infinity) {
      const double high = std::max(to, x);
      to = high + std::log(std::exp(to - high) + std::exp(x - high));
    }
    for (std::size_t axis = axes.size(); axis-- > 0 && ++at[axis] == joint.shape()[axis];) at[axis] = 0;
  }
  // Each slice that exists has the mass of its copies: dividing by the sum over the states gives their mean.
  std::vector<double> mass(sum.size(), 0.0);
  const auto row_of = [&](std::size_t k) {
    std::int64_t row = 0;
    for (std::size_t axis = 0; axis < operand_axes.size(); ++axis) {
      if (graph.dims()[operand_axes[axis]].kind == DimKind::variable) continue;
      row += static_cast<std::int64_t>(k) / strides[axis] % shape[axis] * strides[axis];
    }
    return static_cast<std::size_t>(row);
  };
  for (std::size_t k = 0; k < sum.size(); ++k) mass[row_of(k)] += std::exp(sum[k]);
  for (std::size_t k = 0; k < sum.size(); ++k) {
    double& x = sum[k];
    const double whole = mass[row_of(k)];
    if (x == minus_infinity) {
      x = log ? x : 0.0;
    } else {
      x = log ? std::min(0.0, x - std::log(whole)) : std::exp(x) / whole;
    }
  }
  return filled(dtype, shape, sum);
}

void predict(const FactorGraph& graph, DimId plate, const Tensor& log_partition, const Tensor& without) {
  auto* const values = static_cast<double*>(without.mutable_data());
  const auto* const total = static_cast<const double*>(log_partition.data());
  const std::int64_t slices = without.shape().back();
  const std::int64_t each = log_partition.elements() == 0 ? 1 : without.elements() / log_partition.elements();
  for (std::int64_t k = 0; k < without.elements(); ++k) {
    if (values[k] == minus_infinity) {
      throw ImpossibleError("the slices of '" + graph.dims()[plate].name + "' without slice " +
                            std::to_string(k % slices) + " are impossible by themselves");
    }
    values[k] = total[k / each] - values[k];
  }
}

}  // namespace plated::engine
