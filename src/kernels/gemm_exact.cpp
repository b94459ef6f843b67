// A two-pass log-sum-exp on strided operands.
#include "kernels/gemm_exact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/watch.hpp"

namespace plated::kernels {
namespace {

// Terms between two questions whether to stop.
constexpr std::int64_t terms_at_once = 1 << 14;

template <class A, class B>
double log_sum(const IndexGroup& k, const A* row, const B* column) {
  constexpr double zero = -std::numeric_limits<double>::infinity();
  const std::int64_t count = k.size();
  base::Pace pace;
  const auto walk = [&](const auto& visit) {
    for (std::int64_t first = 0; first < count && !pace.stops(8 * terms_at_once); first += terms_at_once) {
      k.walk(first, std::min(terms_at_once, count - first), visit);
    }
  };
  double largest = zero;
  walk([&](std::int64_t, const GemmOffset& at) {
    largest = std::max(largest, static_cast<double>(row[at.a]) + static_cast<double>(column[at.b]));
  });
  if (largest == zero) return zero;
  double sum = 0.0;
  walk([&](std::int64_t, const GemmOffset& at) {
    const double below = static_cast<double>(row[at.a]) + static_cast<double>(column[at.b]) - largest;
    // Smaller terms leave a double as it is, even many of them.
    if (below > -80.0) sum += std::exp(below);
  });
  return largest + std::log(sum);
}

}  // namespace

double exact_log_sum(const GemmLayout& layout, const void* row, const void* column) noexcept {
  const auto with_row = [&]<class A>(const A* a) {
    return layout.b_dtype == Dtype::float32 ? log_sum(layout.k, a, static_cast<const float*>(column))
                                            : log_sum(layout.k, a, static_cast<const double*>(column));
  };
  return layout.a_dtype == Dtype::float32 ? with_row(static_cast<const float*>(row))
                                          : with_row(static_cast<const double*>(row));
}

}  // namespace plated::kernels
