// Searches for bad entries: in long runs of memory first, then for the exact place if there is one.
#include "kernels/check.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "kernels/check_kernels.hpp"

namespace plated::kernels {
namespace {

/// The entries that a semiring admits: all from `low` to `high`, and never NaN.
template <class T>
struct Bounds {
  T low, high;
  [[nodiscard]] bool admit(T x) const { return x >= low && x <= high; }
};

template <class T>
Bounds<T> bounds_of(Semiring semiring) {
  constexpr T most = std::numeric_limits<T>::max();
  constexpr T infinity = std::numeric_limits<T>::infinity();
  switch (semiring) {
    case Semiring::real:
      return {-most, most};
    case Semiring::log:
    case Semiring::max_plus:
      return {-infinity, most};
    case Semiring::min_plus:
      return {-most, infinity};
    case Semiring::max_product:
      return {T{0}, most};
    case Semiring::boolean:
      break;
  }
  return {-infinity, infinity};
}

/// The position of the first bad entry of a run, or its length.
template <class T>
std::int64_t scan(const T* data, std::int64_t length, std::int64_t stride, const Bounds<T>& bounds) {
  constexpr std::int64_t block = 4096;
  std::int64_t begin = 0;
  if (stride == 1) {
    while (begin < length && all_within(data + begin, std::min(block, length - begin), bounds.low, bounds.high)) {
      begin += std::min(block, length - begin);
    }
  }
  while (begin < length && bounds.admit(data[begin * stride])) ++begin;
  return begin;
}

template <class T>
std::optional<std::vector<std::int64_t>> search(const Tensor& tensor, Semiring semiring) {
  const Bounds<T> bounds = bounds_of<T>(semiring);
  const auto& shape = tensor.shape();
  const auto& strides = tensor.strides();
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return std::nullopt;
  // Trailing axes that lie in row-major order are one run.
  std::size_t outer = tensor.rank();
  std::int64_t run = 1;
  std::int64_t stride = 1;
  for (; outer > 0; --outer) {
    const std::size_t axis = outer - 1;
    if (shape[axis] == 1) continue;
    if (run == 1) stride = strides[axis];
    if (strides[axis] != run * stride) break;
    run *= shape[axis];
  }
  // Kept between calls: a run that finds nothing wrong must not allocate.
  thread_local std::vector<std::int64_t> index;
  index.assign(tensor.rank(), 0);
  const auto* data = static_cast<const T*>(tensor.data());
  while (true) {
    std::int64_t at = scan(data, run, stride, bounds);
    if (at < run) {
      for (std::size_t axis = tensor.rank(); axis-- > outer;) {
        index[axis] = at % shape[axis];
        at /= shape[axis];
      }
      return index;
    }
    std::size_t axis = outer;
    for (; axis > 0; --axis) {
      const std::size_t a = axis - 1;
      data += strides[a];
      if (++index[a] < shape[a]) break;
      data -= shape[a] * strides[a];
      index[a] = 0;
    }
    if (axis == 0) return std::nullopt;
  }
}

}  // namespace

std::optional<std::vector<std::int64_t>> first_bad_entry(const Tensor& tensor, Semiring semiring) {
  return tensor.dtype() == Dtype::float32 ? search<float>(tensor, semiring) : search<double>(tensor, semiring);
}

}  // namespace plated::kernels
