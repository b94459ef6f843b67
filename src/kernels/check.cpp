// Looking for bad entries: in the order of memory first, for the exact place only once there is one.
#include "kernels/check.hpp"

#include <algorithm>
#include <cmath>
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

/// A stretch of one axis, and all of those after it. `magnitude` may be null.
template <class T>
bool all_good(const T* data, const MemoryOrder& order, std::size_t axis, std::int64_t count, const Bounds<T>& bounds,
              T* magnitude) {
  const std::int64_t stride = order.strides[axis];
  if (axis + 1 < order.extents.size()) {
    for (std::int64_t k = 0; k < count; ++k) {
      if (!all_good(data + k * stride, order, axis + 1, order.extents[axis + 1], bounds, magnitude)) return false;
    }
    return true;
  }
  if (stride == 1) {
    return magnitude != nullptr ? all_within(data, count, bounds.low, bounds.high, *magnitude)
                                : all_within(data, count, bounds.low, bounds.high);
  }
  for (std::int64_t k = 0; k < count; ++k) {
    const T x = data[k * stride];
    if (!bounds.admit(x)) return false;
    const T size = std::abs(x);
    if (magnitude != nullptr && size > *magnitude && size <= std::numeric_limits<T>::max()) *magnitude = size;
  }
  return true;
}

template <class T>
Inspection inspect_as(const MemoryOrder& order, Semiring semiring, std::int64_t begin, std::int64_t end,
                      bool with_magnitude) {
  const T* data = static_cast<const T*>(order.data) + begin * order.strides[0];
  T magnitude = 0;
  const bool admitted =
      all_good(data, order, 0, end - begin, bounds_of<T>(semiring), with_magnitude ? &magnitude : nullptr);
  return {.admitted = admitted, .magnitude = static_cast<double>(magnitude)};
}

Inspection inspect_any(const MemoryOrder& order, Semiring semiring, std::int64_t begin, std::int64_t end,
                       bool with_magnitude) {
  if (order.extents.empty()) return {};
  return order.dtype == Dtype::float32 ? inspect_as<float>(order, semiring, begin, end, with_magnitude)
                                       : inspect_as<double>(order, semiring, begin, end, with_magnitude);
}

/// Without gaps, in the order of its axes, as most tensors are.
bool is_row_major(const Tensor& tensor) {
  const Tensor::Shape& shape = tensor.shape();
  const Tensor::Shape& strides = tensor.strides();
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) {
    if (strides[axis] != stride) return false;
  }
  return true;
}

bool is_short(const Tensor& tensor) {
  constexpr std::int64_t few = 32;
  return tensor.elements() <= few && is_row_major(tensor);
}

template <class T>
bool admits_run(const T* data, std::int64_t count, Semiring semiring) {
  const Bounds<T> bounds = bounds_of<T>(semiring);
  bool admitted = true;
  for (std::int64_t k = 0; k < count; ++k) admitted &= bounds.admit(data[k]);
  return admitted;
}

template <class T>
Inspection inspect_run(const T* data, std::int64_t count, Semiring semiring) {
  const Bounds<T> bounds = bounds_of<T>(semiring);
  T magnitude = 0;
  bool admitted = true;
  for (std::int64_t k = 0; k < count; ++k) {
    const T size = std::abs(data[k]);
    admitted &= bounds.admit(data[k]);
    magnitude = size > magnitude && size <= std::numeric_limits<T>::max() ? size : magnitude;
  }
  return {.admitted = admitted, .magnitude = static_cast<double>(magnitude)};
}

template <class T>
std::optional<std::vector<std::int64_t>> search(const Tensor& tensor, Semiring semiring) {
  const Bounds<T> bounds = bounds_of<T>(semiring);
  const auto* data = static_cast<const T*>(tensor.data());
  std::vector<std::int64_t> index(tensor.rank(), 0);
  for (std::int64_t left = tensor.elements(); left > 0; --left) {
    if (!bounds.admit(*data)) return index;
    for (std::size_t axis = tensor.rank(); axis-- > 0;) {
      data += tensor.strides()[axis];
      if (++index[axis] < tensor.shape()[axis]) break;
      data -= tensor.shape()[axis] * tensor.strides()[axis];
      index[axis] = 0;
    }
  }
  return std::nullopt;
}

}  // namespace

void MemoryOrder::assign(const Tensor& tensor) {
  dtype = tensor.dtype();
  extents.clear();
  strides.clear();
  if (tensor.elements() == 0) return;
  if (is_row_major(tensor)) {
    data = tensor.data();
    extents.push_back(tensor.elements());
    strides.push_back(1);
    return;
  }
  const auto* first = static_cast<const std::byte*>(tensor.data());
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  for (std::size_t axis = 0; axis < tensor.rank(); ++axis) {
    const std::int64_t extent = tensor.shape()[axis];
    std::int64_t stride = tensor.strides()[axis];
    if (extent == 1 || stride == 0) continue;  // what repeats is looked at once
    if (stride < 0) {
      first += (extent - 1) * stride * size;
      stride = -stride;
    }
    const auto place = std::find_if(strides.begin(), strides.end(), [&](std::int64_t s) { return s < stride; });
    extents.insert(extents.begin() + (place - strides.begin()), extent);
    strides.insert(place, stride);
  }
  data = first;
  if (extents.empty()) {
    extents.push_back(1);
    strides.push_back(1);
  }
  // Axes that lie in each other without a gap are one.
  std::size_t kept = 0;
  for (std::size_t axis = 1; axis < extents.size(); ++axis) {
    if (strides[kept] == extents[axis] * strides[axis]) {
      extents[kept] *= extents[axis];
      strides[kept] = strides[axis];
    } else {
      ++kept;
      extents[kept] = extents[axis];
      strides[kept] = strides[axis];
    }
  }
  extents.resize(kept + 1);
  strides.resize(kept + 1);
}

std::int64_t MemoryOrder::elements() const {
  std::int64_t count = extents.empty() ? 0 : 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

std::optional<bool> admits_short(const Tensor& tensor, Semiring semiring) noexcept {
  if (!is_short(tensor)) return std::nullopt;
  const std::int64_t count = tensor.elements();
  return tensor.dtype() == Dtype::float32 ? admits_run(static_cast<const float*>(tensor.data()), count, semiring)
                                          : admits_run(static_cast<const double*>(tensor.data()), count, semiring);
}

std::optional<Inspection> inspect_short(const Tensor& tensor, Semiring semiring) noexcept {
  if (!is_short(tensor)) return std::nullopt;
  const std::int64_t count = tensor.elements();
  return tensor.dtype() == Dtype::float32 ? inspect_run(static_cast<const float*>(tensor.data()), count, semiring)
                                          : inspect_run(static_cast<const double*>(tensor.data()), count, semiring);
}

bool admits(const MemoryOrder& order, Semiring semiring, std::int64_t begin, std::int64_t end) noexcept {
  return inspect_any(order, semiring, begin, end, false).admitted;
}

Inspection inspect(const MemoryOrder& order, Semiring semiring, std::int64_t begin, std::int64_t end) noexcept {
  return inspect_any(order, semiring, begin, end, true);
}

std::optional<std::vector<std::int64_t>> first_bad_entry(const Tensor& tensor, Semiring semiring) {
  return tensor.dtype() == Dtype::float32 ? search<float>(tensor, semiring) : search<double>(tensor, semiring);
}

}  // namespace plated::kernels
