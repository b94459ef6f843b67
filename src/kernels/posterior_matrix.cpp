// Packs the matrix of a chain's posteriors.
#include "kernels/posterior_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plated::kernels {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

template <class T>
PosteriorMatrix<T>::PosteriorMatrix(std::int64_t states, const T* matrix, std::int64_t row_stride,
                                    std::int64_t column_stride)
    : states_(states),
      width_((states + panel - 1) / panel * panel),
      original_(matrix),
      row_stride_(row_stride),
      column_stride_(column_stride) {
  if (matrix == nullptr) return;
  memory_.reset(base::allocate_aligned(static_cast<std::size_t>((states_ + 2) * width_) * sizeof(T)));
  std::fill_n(part(0), (states_ + 2) * width_, T{0});
  shift_ = -infinity;
  for (std::int64_t b = 0; b < states_; ++b) {
    for (std::int64_t a = 0; a < states_; ++a) shift_ = std::max(shift_, original(a, b));
  }
  if (shift_ == -infinity) shift_ = 0.0;
  for (std::int64_t b = 0; b < states_; ++b) {
    double top = -infinity;
    for (std::int64_t a = 0; a < states_; ++a) top = std::max(top, original(a, b));
    if (top == -infinity) continue;
    const T below = static_cast<T>(top - shift_);
    part(states_ * width_)[b] = below;
    part((states_ + 1) * width_)[b] = static_cast<T>(std::exp(static_cast<double>(below)));
    // What is added back is the rounded shift, so that is what is taken out.
    const double out = shift_ + static_cast<double>(below);
    for (std::int64_t a = 0; a < states_; ++a) {
      const double value = std::exp(original(a, b) - out);
      // Denormal numbers are slow, and too small to count.
      if (value >= static_cast<double>(std::numeric_limits<T>::min())) part(b * width_)[a] = static_cast<T>(value);
    }
  }
}

template <class T>
void PosteriorMatrix<T>::weigh(const double* totals, double* to) const noexcept {
  for (std::int64_t a = 0; a < states_; ++a) {
    for (std::int64_t b = 0; b < states_; ++b) {
      const std::int64_t at = a * states_ + b;
      to[at] = totals[at] * std::exp(original(a, b) - shift_);
    }
  }
}

template class PosteriorMatrix<float>;
template class PosteriorMatrix<double>;

}  // namespace plated::kernels
