// Bounds what a model's logarithms add up to.
#include "reduce/log_range.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "graph/spell.hpp"
#include "plated/error.hpp"
#include "tensor/numbers.hpp"

namespace plated::reduce {
namespace {

/// The largest entry, and not less than zero; NaN is somebody else's business.
template <class T>
double largest(const T* data, const Tensor& tensor, std::size_t axis) {
  if (axis == tensor.rank()) return std::max(0.0, static_cast<double>(*data));
  T top = 0;
  double rest = 0;
  for (std::int64_t k = 0; k < tensor.shape()[axis]; ++k, data += tensor.strides()[axis]) {
    if (axis + 1 == tensor.rank()) {
      top = std::max(top, *data);
    } else {
      rest = std::max(rest, largest(data, tensor, axis + 1));
    }
  }
  return std::max(rest, static_cast<double>(top));
}

double largest(const Tensor& tensor) {
  return tensor::of_type(tensor.dtype(),
                         [&]<class T>(T) { return largest(static_cast<const T*>(tensor.data()), tensor, 0); });
}

double slices(const FactorGraph& graph, const Factor& factor) {
  double count = 1;
  for (const std::vector<DimId>& dims : {factor.dims, factor.tied}) {
    for (const DimId d : dims) {
      if (has_slices(graph.dims()[d].kind)) count *= static_cast<double>(graph.dims()[d].size);
    }
  }
  return count;
}

}  // namespace

void check_log_range(const Model& model) {
  if (model.space != Space::log) return;
  long double total = 0;  // beyond a double, in which all this is about
  long double worst = 0;
  std::size_t blamed = 0;
  bool wide = model.factors.empty();
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    const long double share =
        static_cast<long double>(largest(model.factors[f])) * slices(model.graph, model.graph.factors()[f]);
    wide = wide || model.factors[f].dtype() == Dtype::float64;
    total += share;
    if (share > worst) {
      worst = share;
      blamed = f;
    }
  }
  // A quarter: sums over states and rounding come on top.
  const long double most =
      (wide ? std::numeric_limits<double>::max() : static_cast<double>(std::numeric_limits<float>::max())) / 4;
  if (total <= most) return;
  char bound[64];
  std::snprintf(bound, sizeof bound, "%.3Lg, beyond a %s", total, wide ? "float64" : "float32");
  throw ValueError("the logarithms of the factors may add up to " + std::string(bound) + "; most of it comes from " +
                   graph::quoted(model.graph.factors()[blamed].name) + ": subtract a constant from its numbers");
}

}  // namespace plated::reduce
