// Recentres operands.
#include "engine/recentre.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "base/checked_size.hpp"
#include "engine/each_index.hpp"
#include "engine/slices.hpp"
#include "tensor/numbers.hpp"

namespace plated::engine {
namespace {

/// Sums up to this are exact to about 1e-9, and so are the logarithms of ratios between them.
constexpr double most_of_all_slices = 1 << 23;
/// Messages of a single slice may be kept in float32, which has four digits left beside this. Sums over slices are not.
constexpr double most_of_a_float = 1 << 10;

bool repeats(const std::vector<DimId>& dims, DimId d) { return std::count(dims.begin(), dims.end(), d) > 1; }

/// The slices of a factor, without an allocation: every call of a question asks for them.
double slices_of(const FactorGraph& graph, const planner::Extents& extents, const Factor& factor) {
  double slices = 1;
  for (auto d = factor.dims.begin(); d != factor.dims.end(); ++d) {
    const bool is_new = std::find(factor.dims.begin(), d, *d) == d;
    if (is_new && has_slices(graph.dims()[*d].kind)) slices *= static_cast<double>(extents[*d]);
  }
  for (const DimId d : factor.tied) {
    if (has_slices(graph.dims()[d].kind)) slices *= static_cast<double>(extents[d]);
  }
  return slices;
}

/// The shape in which each element of the operand exists once.
Tensor::Shape compact_shape(const std::vector<DimId>& dims, const Tensor& operand) {
  Tensor::Shape shape = operand.shape();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (operand.strides()[axis] == 0 && shape[axis] > 1 && !repeats(dims, dims[axis])) shape[axis] = 1;
  }
  return shape;
}

/// The same memory with another shape.
Tensor reshaped(const Tensor& tensor, const Tensor::Shape& shape) {
  return tensor::of_type(tensor.dtype(), [&]<class T>(T) {
    return Tensor::view(static_cast<const T*>(tensor.data()), shape, tensor.strides());
  });
}

/// Of slices that lie one after the other. Four at a time, as each maximum waits for the one before it.
template <class T>
void best_of_dense(const T* data, std::int64_t states, std::int64_t slices, double* best) {
  std::int64_t s = 0;
  for (; s + 4 <= slices; s += 4) {
    const T* const at = data + s * states;
    T found[4] = {at[0], at[states], at[2 * states], at[3 * states]};
    for (std::int64_t k = 1; k < states; ++k) {
      for (int i = 0; i < 4; ++i) found[i] = std::max(found[i], at[i * states + k]);
    }
    for (int i = 0; i < 4; ++i) best[s + i] = std::isfinite(found[i]) ? static_cast<double>(found[i]) : 0.0;
  }
  for (; s < slices; ++s) {
    const T found = *std::max_element(data + s * states, data + (s + 1) * states);
    best[s] = std::isfinite(found) ? static_cast<double>(found) : 0.0;
  }
}

template <class T>
void best_entries(const Slices& slices, const T* data, bool smallest, double* best, int threads) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (slices.dense() && slices.states() > 0 && !smallest) {
    return slices.for_each_block(threads, [&](std::int64_t begin, std::int64_t end) {
      best_of_dense(data + begin * slices.states(), slices.states(), end - begin, best + begin);
    });
  }
  slices.for_each(threads, [&](std::int64_t slice) {
    double found = smallest ? infinity : -infinity;
    slices.visit(slice, [&](std::int64_t, std::int64_t at) {
      const auto x = static_cast<double>(data[at]);
      found = smallest ? std::min(found, x) : std::max(found, x);
    });
    best[slice] = std::isfinite(found) ? found : 0.0;
  });
}

template <class T>
void subtract(const Slices& from, const T* data, const Slices& to, T* result, const double* offset, int threads) {
  std::vector<std::int64_t> place(static_cast<std::size_t>(to.states()));  // of a state in a slice of the copy
  to.visit(0, [&](std::int64_t k, std::int64_t at) { place[static_cast<std::size_t>(k)] = at; });
  from.for_each(threads, [&](std::int64_t slice) {
    constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
    T* const first = result + to.first(slice);
    from.visit(slice, [&](std::int64_t k, std::int64_t at) {
      const auto x = static_cast<double>(data[at]);
      // What is finite stays finite: an infinity would be the semiring's zero.
      const double less = std::isinf(x) ? x : std::clamp(x - offset[slice], -most, most);
      first[place[static_cast<std::size_t>(k)]] = static_cast<T>(less);
    });
  });
}

/// The largest sum of absolute offsets of one batch.
double largest_sum(const FactorGraph& graph, const planner::Extents& extents, const std::vector<DimId>& dims,
                   const Tensor::Shape& compact, const Tensor& offsets, double tied) {
  std::vector<bool> is_summed;
  double repeated = tied;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    is_summed.push_back(graph.dims()[dims[axis]].kind != DimKind::batch);
    if (is_summed.back() && compact[axis] != 0) {
      repeated *= static_cast<double>(extents[dims[axis]]) / static_cast<double>(compact[axis]);
    }
  }
  const Slices batches(offsets, is_summed);
  const auto* values = static_cast<const double*>(offsets.data());
  double largest = 0;
  for (std::int64_t b = 0; b < batches.count(); ++b) {
    double sum = 0;
    batches.visit(b, [&](std::int64_t, std::int64_t at) { sum += std::abs(values[at]); });
    largest = std::max(largest, sum);
  }
  return largest * repeated;
}

}  // namespace

double most_without_offsets(const FactorGraph& graph, const planner::Extents& extents, std::size_t factor,
                            Dtype dtype) {
  const double slices = slices_of(graph, extents, graph.factors()[factor]);
  const double of_all = most_of_all_slices / std::max(slices, 1.0);
  return dtype == Dtype::float32 ? std::min(of_all, most_of_a_float) : of_all;
}

std::optional<Offsets> large_offsets(const FactorGraph& graph, const planner::Extents& extents, std::size_t factor,
                                     const Tensor& operand, double magnitude, Semiring semiring, int threads) {
  const std::vector<DimId>& dims = graph.factors()[factor].dims;
  // What is tied over no slices at all is read all the same.
  const double slices = std::max(1.0, slices_of(graph, extents, graph.factors()[factor]));
  const auto are_large = [&](double of_all, double of_one) {
    return of_all > most_of_all_slices || (operand.dtype() == Dtype::float32 && of_one > most_of_a_float);
  };
  const bool is_small = magnitude <= most_without_offsets(graph, extents, factor, operand.dtype());
  if (is_small || operand.elements() == 0) return std::nullopt;

  const Diagonal source(dims, reshaped(operand, compact_shape(dims, operand)));
  const std::vector<bool> is_variable = source.are(DimKind::variable, graph);
  const Slices parts(source.tensor, is_variable);
  Offsets offsets;
  Tensor::Shape compact, full;
  double tied = slices;  // slices that share an entry
  for (std::size_t axis = 0; axis < source.dims.size(); ++axis) {
    if (is_variable[axis]) continue;
    offsets.dims.push_back(source.dims[axis]);
    compact.push_back(source.tensor.shape()[axis]);
    full.push_back(extents[source.dims[axis]]);
    if (graph.dims()[source.dims[axis]].kind != DimKind::batch) tied /= static_cast<double>(full.back());
  }
  const Tensor values = Tensor::uninitialised(Dtype::float64, compact);
  auto* best = static_cast<double*>(values.mutable_data());
  const bool smallest = semiring == Semiring::min_plus;
  tensor::of_type(operand.dtype(), [&]<class T>(T) {
    best_entries(parts, static_cast<const T*>(operand.data()), smallest, best, threads);
  });
  double largest = 0;
  for (std::int64_t k = 0; operand.dtype() == Dtype::float32 && k < values.elements(); ++k) {
    largest = std::max(largest, std::abs(best[k]));
  }
  if (!are_large(largest_sum(graph, extents, offsets.dims, compact, values, tied), largest)) return std::nullopt;
  Tensor::Shape strides = values.strides();
  for (std::size_t axis = 0; axis < full.size(); ++axis) {
    if (compact[axis] != full[axis]) strides[axis] = 0;
  }
  offsets.values =
      Tensor::view(static_cast<const double*>(best), full, strides).keeping(std::make_shared<Tensor>(values));
  return offsets;
}

Tensor recentred(const FactorGraph& graph, std::size_t factor, const Tensor& operand, const Offsets& offsets,
                 int threads) {
  const std::vector<DimId>& dims = graph.factors()[factor].dims;
  const Tensor::Shape compact = compact_shape(dims, operand);
  const bool off_diagonal = std::any_of(dims.begin(), dims.end(), [&](DimId d) { return repeats(dims, d); });
  const Tensor copy = off_diagonal ? Tensor(operand.dtype(), compact) : Tensor::uninitialised(operand.dtype(), compact);
  const Diagonal source(dims, reshaped(operand, compact));
  const Diagonal target(dims, copy);
  const Slices from(source.tensor, source.are(DimKind::variable, graph));
  const Slices to(target.tensor, target.are(DimKind::variable, graph));
  const auto* offset = static_cast<const double*>(offsets.values.data());
  Tensor::Shape strides = copy.strides();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (compact[axis] != operand.shape()[axis]) strides[axis] = 0;
  }
  const auto whole = [&]<class T>(T* data) {
    subtract(from, static_cast<const T*>(operand.data()), to, data, offset, threads);
    return Tensor::view(static_cast<const T*>(data), operand.shape(), strides).keeping(std::make_shared<Tensor>(copy));
  };
  return operand.dtype() == Dtype::float32 ? whole(static_cast<float*>(copy.mutable_data()))
                                           : whole(static_cast<double*>(copy.mutable_data()));
}

std::int64_t recentred_bytes(const FactorGraph& graph, std::size_t factor, const Tensor& operand) {
  const std::int64_t elements = base::checked_product(compact_shape(graph.factors()[factor].dims, operand));
  return base::checked_product(elements, static_cast<std::int64_t>(size_of(operand.dtype())));
}

void add_offsets(const FactorGraph& graph, const planner::Extents& extents, const Exponents& exponents,
                 const std::vector<std::optional<Offsets>>& offsets, const std::vector<std::size_t>& factors,
                 const std::vector<DimId>& axes, Tensor& answer) {
  auto* const values = static_cast<double*>(answer.mutable_data());
  for (const std::size_t f : factors) {
    if (offsets.empty() || !offsets[f]) continue;
    const auto* const offset = static_cast<const double*>(offsets[f]->values.data());
    // Every slice of the unrolled factor, for each index of the answer.
    std::vector<DimId> loops = axes;
    for (const DimId d : graph.factor_plates(f)) {
      if (!holds(loops, d)) loops.push_back(d);
    }
    const auto strides_in = [&](const std::vector<DimId>& dims, const Tensor& tensor) {
      std::vector<std::int64_t> strides(loops.size(), 0);
      for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        const auto found = std::find(loops.begin(), loops.end(), dims[axis]);
        if (found != loops.end()) strides[static_cast<std::size_t>(found - loops.begin())] = tensor.strides()[axis];
      }
      return strides;
    };
    const std::vector<std::int64_t> from = strides_in(offsets[f]->dims, offsets[f]->values);
    const std::vector<std::int64_t> to = strides_in(axes, answer);
    // How many copies of the factor a slice stands for.
    const std::vector<double> copies =
        exponents.empty() ? std::vector<double>{} : product_over(extents, exponents, loops);
    for_each_index(planner::sizes(extents, loops), [&](std::size_t k, const std::vector<std::int64_t>& at) {
      const double count = copies.empty() ? 1.0 : copies[k];
      if (count == 0) return;
      values[std::inner_product(at.begin(), at.end(), to.begin(), std::int64_t{0})] +=
          count * offset[std::inner_product(at.begin(), at.end(), from.begin(), std::int64_t{0})];
    });
  }
}

}  // namespace plated::engine
