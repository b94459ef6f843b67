// A square matrix that is packed once for many products with vectors, in real space where the semiring is log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>

#include "base/aligned_memory.hpp"
#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::kernels {

/// How far below its largest entry a vector may reach in real space, and a column of the matrix, so that every product
/// of their entries is a normal number: then nothing is lost, and a sum of 0 is a true zero.
template <class T>
struct RealSpaceDepth {
  static constexpr T least_entry = sizeof(T) == 4 ? T(0x1p-80) : T(0x1p-650);
  static constexpr double column = sizeof(T) == 4 ? 31.5 : 256.0;
  // In logarithms, a little above least_entry: what a vector must exceed to go back to real space.
  static constexpr T vector = sizeof(T) == 4 ? T(50) : T(440);
};

template <class T>
class PackedMatrix {
 public:
  /// A panel of columns is a cache line wide on every SIMD target.
  static constexpr std::int64_t panel = static_cast<std::int64_t>(base::cache_line / sizeof(T));

  /// Packs into `memory`, on a cache line's boundary, or, where it is
  /// null, into memory of its own.
  PackedMatrix(Semiring semiring, std::int64_t states, const T* matrix, std::int64_t row_stride,
               std::int64_t column_stride, std::byte* memory);
  [[nodiscard]] static constexpr std::int64_t width(std::int64_t states) {
    return (states + panel - 1) / panel * panel;
  }
  /// Of the memory that it packs into.
  [[nodiscard]] static constexpr std::size_t bytes(std::int64_t states) {
    return static_cast<std::size_t>((states + 4) * width(states)) * sizeof(T);
  }

  [[nodiscard]] std::int64_t states() const { return states_; }
  /// The states, padded to whole panels with the semiring's zero. Few states fill half of a panel or less: then it
  /// holds the same columns again and again, at a distance that is a power of two, and so do the columns' numbers.
  [[nodiscard]] std::int64_t width() const { return width_; }
  /// Entry (a, b) is at panels()[(b / panel · states + a) · panel + b % panel].
  ///
  /// log: exp(W[a,b] − shift − column_shift[b]); max_plus: W[a,b] − shift; min_plus: the negated matrix's.
  [[nodiscard]] const T* panels() const { return part(0); }
  [[nodiscard]] T packed(std::int64_t a, std::int64_t b) const { return *place(a, b); }
  /// At most 0; all 0 in max_plus and min_plus, and where the columns' largest entries are alike.
  [[nodiscard]] const T* column_shift() const { return part(states_ * width_); }
  /// log: exp(column_shift), never 0; 0 in max_plus and min_plus.
  [[nodiscard]] const T* column_scale() const { return column_shift() + width_; }
  /// How far a column's entries that are not zero reach below its shifts.
  [[nodiscard]] const T* column_depth() const { return column_scale() + width_; }
  /// The smallest sum that has lost nothing to underflow: 0 for a column that loses nothing anyway.
  [[nodiscard]] const T* least_sum() const { return column_depth() + width_; }
  [[nodiscard]] double shift() const { return shift_; }
  /// −1 in min_plus, which is max_plus of negated numbers.
  [[nodiscard]] T sign() const { return sign_; }
  /// Whether some column has a least sum.
  [[nodiscard]] bool deep() const { return deep_; }

  /// log Σ_a exp(row[a] + W[a, column]), exactly.
  [[nodiscard]] double exact_log_sum(const T* row, std::int64_t column) const noexcept;

  /// So many of it along the diagonal of a matrix of zeros, `pitch` entries apart, or of its transpose: the same
  /// numbers in panels, for products alone. In that memory, or in its own where nothing changes.
  [[nodiscard]] PackedMatrix in_blocks(std::int64_t count, std::int64_t pitch, bool transposed,
                                       std::byte* memory) const;

 private:
  PackedMatrix(std::int64_t states, T* packed) : states_(states), width_(width(states)), packed_(packed) {}
  struct Free {
    void operator()(std::byte* memory) const { base::free_aligned(memory); }
  };
  [[nodiscard]] T* part(std::int64_t at) const { return packed_ + at; }
  [[nodiscard]] double original(std::int64_t a, std::int64_t b) const {
    return static_cast<double>(original_[a * row_stride_ + b * column_stride_]);
  }
  struct Range {
    double top, low;
  };
  /// Of a column's entries that are not zero.
  [[nodiscard]] Range range(std::int64_t column) const;
  void pack_logs();
  void pack_sums();
  [[nodiscard]] T* place(std::int64_t a, std::int64_t b) const {
    return part((b / panel * states_ + a) * panel + b % panel);
  }

  std::int64_t states_, width_;
  const T* original_ = nullptr;
  std::int64_t row_stride_ = 0, column_stride_ = 0;
  std::unique_ptr<std::byte, Free> memory_;  // null where it is the caller's
  T* packed_ = nullptr;
  double shift_ = 0.0;
  T sign_ = 1;
  bool deep_ = false;
};

extern template class PackedMatrix<float>;
extern template class PackedMatrix<double>;

using AnyPackedMatrix = std::variant<PackedMatrix<float>, PackedMatrix<double>>;

/// Of the memory that a matrix of that type packs into, and of a vector that is padded as its columns are.
[[nodiscard]] std::size_t packed_matrix_bytes(Dtype dtype, std::int64_t states);
[[nodiscard]] std::size_t packed_vector_bytes(Dtype dtype, std::int64_t states);

/// Of that type, to which `matrix` points.
[[nodiscard]] AnyPackedMatrix pack_matrix(Semiring semiring, Dtype dtype, std::int64_t states, const void* matrix,
                                          std::int64_t row_stride, std::int64_t column_stride, std::byte* memory);

}  // namespace plated::kernels
