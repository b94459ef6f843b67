// Packs a matrix, and sums its columns exactly where the packed form would underflow.
#include "kernels/packed_matrix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace plated::kernels {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Columns whose largest entries differ by less than this share one shift: products then need no scaling of columns.
constexpr double alike = 10.0;

}  // namespace

template <class T>
PackedMatrix<T>::PackedMatrix(Semiring semiring, std::int64_t states, const T* matrix, std::int64_t row_stride,
                              std::int64_t column_stride, std::byte* memory)
    : states_(states),
      width_(width(states)),
      original_(matrix),
      row_stride_(row_stride),
      column_stride_(column_stride) {
  if (memory == nullptr) memory_.reset(base::allocate_aligned(bytes(states)));
  packed_ = reinterpret_cast<T*>(memory != nullptr ? memory : memory_.get());
  const T zero = semiring == Semiring::log ? T{0} : -std::numeric_limits<T>::infinity();
  std::fill_n(part(0), states_ * width_, zero);
  std::fill_n(part(states_ * width_), 4 * width_, T{0});
  std::fill_n(part((states_ + 1) * width_), width_, semiring == Semiring::log ? T{1} : T{0});
  if (semiring == Semiring::log) {
    pack_logs();
  } else {
    if (semiring == Semiring::min_plus) sign_ = -1;
    pack_sums();
  }
  const auto pitch = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(states)));
  for (std::int64_t at = 0; at < (states_ + 4) * width_ && pitch < panel; at += panel) {
    for (std::int64_t b = pitch; b < panel; ++b) packed_[at + b] = packed_[at + b - pitch];
  }
}

template <class T>
auto PackedMatrix<T>::range(std::int64_t column) const -> Range {
  Range found{.top = -infinity, .low = infinity};
  for (std::int64_t a = 0; a < states_; ++a) {
    const double value = original(a, column);
    if (value == -infinity) continue;
    found.top = std::max(found.top, value);
    found.low = std::min(found.low, value);
  }
  return found;
}

template <class T>
void PackedMatrix<T>::pack_logs() {
  double highest = -infinity;
  double lowest_top = infinity;
  for (std::int64_t b = 0; b < states_; ++b) {
    const double top = range(b).top;
    if (top == -infinity) continue;
    highest = std::max(highest, top);
    lowest_top = std::min(lowest_top, top);
  }
  if (highest == -infinity) return;
  shift_ = highest;
  const bool uniform = highest - lowest_top < alike;
  T* column_shift = part(states_ * width_);
  for (std::int64_t b = 0; b < states_; ++b) {
    const auto [top, low] = range(b);
    if (top == -infinity) continue;
    if (!uniform) column_shift[b] = static_cast<T>(top - highest);
    // What is added back later is the rounded shift, so that is what is taken out.
    const double out = shift_ + static_cast<double>(column_shift[b]);
    for (std::int64_t a = 0; a < states_; ++a) {
      const double value = std::exp(original(a, b) - out);
      // Denormal numbers are slow, and the depth speaks for what is lost.
      if (value >= static_cast<double>(std::numeric_limits<T>::min())) *place(a, b) = static_cast<T>(value);
    }
    const double depth = out - low;
    column_shift[b + width_] =
        static_cast<T>(std::max(std::exp(static_cast<double>(column_shift[b])), double{std::numeric_limits<T>::min()}));
    column_shift[b + 2 * width_] = static_cast<T>(std::min(depth, 1e30));
    if (depth > RealSpaceDepth<T>::column) {
      deep_ = true;
      column_shift[b + 3 * width_] =
          static_cast<T>(states_) * (std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon());
    }
  }
}

template <class T>
void PackedMatrix<T>::pack_sums() {
  const auto sign = static_cast<double>(sign_);
  double highest = -infinity;
  for (std::int64_t a = 0; a < states_; ++a) {
    for (std::int64_t b = 0; b < states_; ++b) highest = std::max(highest, sign * original(a, b));
  }
  // Relative to the largest entry, a vector near 0 loses no digits to a matrix far from it.
  shift_ = highest == -infinity ? 0.0 : highest;
  for (std::int64_t a = 0; a < states_; ++a) {
    for (std::int64_t b = 0; b < states_; ++b) *place(a, b) = static_cast<T>(sign * original(a, b) - shift_);
  }
}

template <class T>
double PackedMatrix<T>::exact_log_sum(const T* row, std::int64_t column) const noexcept {
  double largest = -infinity;
  for (std::int64_t a = 0; a < states_; ++a) {
    largest = std::max(largest, static_cast<double>(row[a]) + original(a, column));
  }
  if (largest == -infinity) return largest;
  double sum = 0.0;
  for (std::int64_t a = 0; a < states_; ++a) {
    const double below = static_cast<double>(row[a]) + original(a, column) - largest;
    // Smaller terms leave a double as it is, even many of them.
    if (below > -80.0) sum += std::exp(below);
  }
  return largest + std::log(sum);
}

template <class T>
PackedMatrix<T> PackedMatrix<T>::in_blocks(std::int64_t count, std::int64_t pitch, bool transposed,
                                           std::byte* memory) const {
  if (count == 1 && !transposed) return {states_, packed_};
  PackedMatrix all(count == 1 ? states_ : count * pitch, reinterpret_cast<T*>(memory));
  std::fill_n(all.packed_, all.states_ * all.width_, T{0});
  for (std::int64_t first = 0; first < count * pitch; first += pitch) {
    for (std::int64_t a = 0; a < states_; ++a) {
      for (std::int64_t b = 0; b < states_; ++b) {
        *(transposed ? all.place(first + b, first + a) : all.place(first + a, first + b)) = packed(a, b);
      }
    }
  }
  return all;
}

template class PackedMatrix<float>;
template class PackedMatrix<double>;

std::size_t packed_matrix_bytes(Dtype dtype, std::int64_t states) {
  return dtype == Dtype::float32 ? PackedMatrix<float>::bytes(states) : PackedMatrix<double>::bytes(states);
}

std::size_t packed_vector_bytes(Dtype dtype, std::int64_t states) {
  const bool narrow = dtype == Dtype::float32;
  const std::int64_t width = narrow ? PackedMatrix<float>::width(states) : PackedMatrix<double>::width(states);
  return static_cast<std::size_t>(width) * size_of(dtype);
}

AnyPackedMatrix pack_matrix(Semiring semiring, Dtype dtype, std::int64_t states, const void* matrix,
                            std::int64_t row_stride, std::int64_t column_stride, std::byte* memory) {
  if (dtype == Dtype::float32) {
    return PackedMatrix<float>(semiring, states, static_cast<const float*>(matrix), row_stride, column_stride, memory);
  }
  return PackedMatrix<double>(semiring, states, static_cast<const double*>(matrix), row_stride, column_stride, memory);
}

}  // namespace plated::kernels
