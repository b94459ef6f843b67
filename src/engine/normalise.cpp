// Normalises posteriors slice by slice.
#include "engine/normalise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/slices.hpp"

namespace plated::engine {
namespace {

/// Sums this close to one are left alone: most are, and a division costs more than all else here.
template <class T>
constexpr double rounding = 8 * static_cast<double>(std::numeric_limits<T>::epsilon());

template <class T>
bool is_normal(double sum, T largest) {
  return (std::abs(sum - 1) <= rounding<T> && largest <= 1) || sum == 0;
}

/// Slices that lie one after the other, of `known` states if it is not 0.
template <int known, class T>
void divide_dense(T* first, std::int64_t slices, std::int64_t states) {
  const std::int64_t n = known == 0 ? states : known;
  for (std::int64_t s = 0; s < slices; ++s) {
    T* const p = first + s * n;
    double sum = 0;
    T largest = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      sum += static_cast<double>(p[k]);
      largest = std::max(largest, p[k]);
    }
    if (is_normal(sum, largest)) continue;
    for (std::int64_t k = 0; k < n; ++k) p[k] = static_cast<T>(static_cast<double>(p[k]) / sum);
  }
}

template <class T>
void divide(const Slices& slices, T* p, int threads) {
  if (slices.dense()) {
    slices.for_each_block(threads, [&](std::int64_t begin, std::int64_t end) {
      T* const first = p + begin * slices.states();
      switch (slices.states()) {
        case 2:
          return divide_dense<2>(first, end - begin, 2);
        case 3:
          return divide_dense<3>(first, end - begin, 3);
        case 4:
          return divide_dense<4>(first, end - begin, 4);
        default:
          return divide_dense<0>(first, end - begin, slices.states());
      }
    });
    return;
  }
  slices.for_each(threads, [&](std::int64_t slice) {
    double sum = 0;
    T largest = 0;
    slices.visit(slice, [&](std::int64_t, std::int64_t at) {
      sum += static_cast<double>(p[at]);
      largest = std::max(largest, p[at]);
    });
    if (is_normal(sum, largest)) return;
    slices.visit(slice,
                 [&](std::int64_t, std::int64_t at) { p[at] = static_cast<T>(static_cast<double>(p[at]) / sum); });
  });
}

}  // namespace

void normalise(const FactorGraph& graph, const std::vector<DimId>& axes, const Tensor& posterior, int threads) {
  // Kept between calls: a question that has been asked before must not allocate.
  thread_local std::vector<bool> is_state;
  thread_local Slices slices;
  is_state.clear();
  for (const DimId d : axes) is_state.push_back(graph.dims()[d].kind == DimKind::variable);
  slices.assign(posterior, is_state);
  if (posterior.dtype() == Dtype::float32) {
    divide(slices, static_cast<float*>(posterior.mutable_data()), threads);
  } else {
    divide(slices, static_cast<double*>(posterior.mutable_data()), threads);
  }
}

}  // namespace plated::engine
