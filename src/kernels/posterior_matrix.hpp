// The tied matrix of a chain as its posteriors read it: in real space, by columns.
#pragma once

#include <cstdint>
#include <memory>

#include "base/aligned_memory.hpp"

namespace plated::kernels {

template <class T>
class PosteriorMatrix {
 public:
  static constexpr std::int64_t panel = static_cast<std::int64_t>(base::cache_line / sizeof(T));

  /// `matrix` may be null: then there are states only.
  PosteriorMatrix(std::int64_t states, const T* matrix, std::int64_t row_stride, std::int64_t column_stride);

  [[nodiscard]] std::int64_t states() const { return states_; }
  /// The states, padded to whole cache lines.
  [[nodiscard]] std::int64_t width() const { return width_; }
  /// exp(W[a, column] − shift − column_shift[column]) for a = 0 … width − 1: 0 beyond the states.
  [[nodiscard]] const T* column(std::int64_t column) const { return part(column * width_); }
  /// At most 0: how far a column's largest entry is below the matrix's.
  [[nodiscard]] const T* column_shift() const { return part(states_ * width_); }
  /// exp(column_shift).
  [[nodiscard]] const T* column_scale() const { return part((states_ + 1) * width_); }
  /// totals ∘ exp(W − shift).
  void weigh(const double* totals, double* to) const noexcept;

 private:
  struct Free {
    void operator()(std::byte* memory) const { base::free_aligned(memory); }
  };
  [[nodiscard]] T* part(std::int64_t at) const { return reinterpret_cast<T*>(memory_.get()) + at; }
  [[nodiscard]] double original(std::int64_t a, std::int64_t b) const {
    return static_cast<double>(original_[a * row_stride_ + b * column_stride_]);
  }

  std::int64_t states_, width_;
  const T* original_;
  std::int64_t row_stride_, column_stride_;
  std::unique_ptr<std::byte, Free> memory_;
  double shift_ = 0.0;
};

extern template class PosteriorMatrix<float>;
extern template class PosteriorMatrix<double>;

}  // namespace plated::kernels
