// Normalises posteriors slice by slice.
#include "engine/normalise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/slices.hpp"

namespace plated::engine {
namespace {

/// Sums this close to one are left alone: most are, and a division costs more than all else here.
template <class T>
constexpr double rounding = 8 * static_cast<double>(std::numeric_limits<T>::epsilon());

/// The sum and the largest of a slice's entries, in four parts that do not wait for each other.
template <class T>
class Mass {
 public:
  void add(std::int64_t state, T entry) {
    const auto part = static_cast<std::size_t>(state % 4);
    sum_[part] += static_cast<double>(entry);
    largest_[part] = std::max(largest_[part], entry);
  }
  [[nodiscard]] double sum() const { return (sum_[0] + sum_[1]) + (sum_[2] + sum_[3]); }
  [[nodiscard]] bool is_normal() const {
    const T largest = std::max(std::max(largest_[0], largest_[1]), std::max(largest_[2], largest_[3]));
    return (std::abs(sum() - 1) <= rounding<T> && largest <= 1) || sum() == 0;
  }

 private:
  std::array<double, 4> sum_ = {};
  std::array<T, 4> largest_ = {};
};

/// Slices that lie one after the other, of `known` states if it is not 0.
template <int known, class T>
void divide_dense(T* first, std::int64_t slices, std::int64_t states) {
  const std::int64_t n = known == 0 ? states : known;
  for (std::int64_t s = 0; s < slices; ++s) {
    T* const p = first + s * n;
    Mass<T> mass;
    std::int64_t k = 0;
    for (; k + 4 <= n; k += 4) {
      for (std::int64_t part = 0; part < 4; ++part) mass.add(part, p[k + part]);
    }
    for (; k < n; ++k) mass.add(k, p[k]);
    if (mass.is_normal()) continue;
    const double sum = mass.sum();
    for (k = 0; k < n; ++k) p[k] = static_cast<T>(static_cast<double>(p[k]) / sum);
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
    Mass<T> mass;
    slices.visit(slice, [&](std::int64_t state, std::int64_t at) { mass.add(state, p[at]); });
    if (mass.is_normal()) return;
    const double sum = mass.sum();
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
