// Normalises in log space.
#include "api/log_posterior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "adjoint/questions.hpp"
#include "api/inputs.hpp"
#include "base/watch.hpp"
#include "plated/error.hpp"

namespace plated::api {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// About, in nanoseconds: between questions whether to stop.
constexpr std::int64_t work_of_an_entry = 16;

}  // namespace

Tensor filled(Dtype dtype, const Tensor::Shape& shape, const std::vector<double>& values) {
  if (dtype == Dtype::float64) return Tensor::of(shape, values);
  return Tensor::of(shape, std::vector<float>(values.begin(), values.end()));
}

Tensor posterior(const Tensor& joint, const Tensor& log_partition, bool log, Dtype dtype) {
  std::vector<double> values = joint.values();
  const std::vector<double> total = log_partition.values();
  const std::size_t each = total.empty() ? 0 : values.size() / total.size();
  base::Pace pace;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (pace.stops(work_of_an_entry)) base::check_wanted();
    const double x = values[k] == minus_infinity ? values[k] : values[k] - total[k / each];
    values[k] = log ? x : std::exp(x);
  }
  return filled(dtype, joint.shape(), values);
}

void level_slices(const FactorGraph& graph, const std::vector<DimId>& axes, const Tensor& log_partition,
                  Tensor& joint) {
  const auto is = [&](DimKind kind) { return [&graph, kind](DimId d) { return graph.dims()[d].kind == kind; }; };
  if (std::none_of(axes.begin(), axes.end(), is(DimKind::chain))) return;
  std::int64_t states = 1;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (is(DimKind::variable)(axes[axis])) states *= joint.shape()[axis];
  }
  const std::vector<double> total = log_partition.values();
  auto* values = static_cast<double*>(joint.mutable_data());
  const std::int64_t elements = joint.elements();
  if (elements == 0) return;
  const std::int64_t each = elements / static_cast<std::int64_t>(total.size());
  base::Pace pace;
  for (std::int64_t first = 0; first < elements; first += states) {
    if (pace.stops(work_of_an_entry * states)) base::check_wanted();
    const double high = *std::max_element(values + first, values + first + states);
    if (high == minus_infinity) continue;
    double sum = 0;
    for (std::int64_t k = first; k < first + states; ++k) sum += std::exp(values[k] - high);
    const double shift = total[static_cast<std::size_t>(first / each)] - (high + std::log(sum));
    for (std::int64_t k = first; k < first + states; ++k) values[k] += shift;
  }
}

Tensor factor_posterior(const FactorGraph& graph, std::size_t factor, const std::vector<DimId>& axes,
                        const Tensor& joint, const Tensor& log_partition, bool log, Dtype dtype, bool ragged) {
  const std::vector<double> values = posterior(joint, log_partition, true, Dtype::float64).values();
  const std::vector<DimId>& operand_axes = graph.factors()[factor].dims;
  const Tensor::Shape shape = sizes(graph, operand_axes);
  const Tensor::Shape strides = Tensor::row_major(shape);
  std::vector<std::int64_t> stride(graph.dims().size(), 0);  // of a dim in the operand, its diagonal where it repeats
  for (std::size_t axis = 0; axis < operand_axes.size(); ++axis) stride[operand_axes[axis]] += strides[axis];
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  std::vector<double> sum(static_cast<std::size_t>(elements), minus_infinity);
  std::vector<std::int64_t> at(axes.size(), 0);
  base::Pace pace;
  for (const double x : values) {
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
  std::vector<double> shared(sum.size(), 0.0);  // log of how many slices share an entry
  if (ragged) {
    // Each slice that exists has the mass one: the sum over the states counts them.
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
    for (std::size_t k = 0; k < sum.size(); ++k) shared[k] = std::log(mass[row_of(k)]);
  }
  double slices = 1;  // that share an entry of the operand
  for (const DimId d : axes) {
    const bool carried = std::find(operand_axes.begin(), operand_axes.end(), d) != operand_axes.end();
    if (!carried) slices *= static_cast<double>(graph.dims()[d].size);
  }
  for (std::size_t k = 0; k < sum.size(); ++k) {
    double& x = sum[k];
    if (x != minus_infinity) x -= ragged ? shared[k] : std::log(slices);  // without slices there is no mean
    if (!log) x = std::exp(x);
  }
  return filled(dtype, shape, sum);
}

Tensor predictive(const FactorGraph& graph, DimId plate, const Tensor& log_partition, const Tensor& without,
                  Dtype dtype) {
  std::vector<double> values = without.values();
  const std::vector<double> total = log_partition.values();
  const auto slices = static_cast<std::size_t>(graph.dims()[plate].size);
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k] == minus_infinity) {
      throw ImpossibleError("the slices of '" + graph.dims()[plate].name + "' without slice " +
                            std::to_string(k % slices) + " are impossible by themselves");
    }
    values[k] = total[k / slices] - values[k];
  }
  return filled(dtype, without.shape(), values);
}

std::vector<DimId> variables(const FactorGraph& graph) {
  std::vector<DimId> list;
  for (DimId d = 0; d < graph.dims().size(); ++d) {
    if (graph.dims()[d].kind == DimKind::variable && graph.dims()[d].end == End::none) list.push_back(d);
  }
  return list;
}

FactorGraph asking_each(const FactorGraph& graph, const std::vector<DimId>& variables) {
  std::vector<std::vector<std::string>> outputs;
  const adjoint::AnswerAxes axes(graph);
  for (const DimId v : variables) {
    auto& output = outputs.emplace_back();
    for (const DimId d : axes(v)) output.push_back(graph.dims()[d].name);
  }
  return graph.asking(outputs);
}

}  // namespace plated::api
