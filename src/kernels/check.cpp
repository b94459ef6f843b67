// Looking for bad entries: long runs of memory first, the exact place only once there is one.
#include "kernels/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace plated::kernels {
namespace {

/// 0 where x is admitted, else positive. Comparisons that NaN fails, and flags of the entries' own type: a comparison
/// and a mask, which is vectorised on every machine.
template <Semiring kSemiring, class T>
T badness(T x) {
  constexpr T most = std::numeric_limits<T>::max();
  const auto unless = [](bool admitted) { return admitted ? T{0} : T{1}; };
  if constexpr (kSemiring == Semiring::real) return unless(std::abs(x) <= most);
  if constexpr (kSemiring == Semiring::log || kSemiring == Semiring::max_plus) return unless(x <= most);
  if constexpr (kSemiring == Semiring::min_plus) return unless(x >= -most);
  if constexpr (kSemiring == Semiring::max_product) return unless(x >= T{0}) + unless(x <= most);
  return unless(!std::isnan(x));
}

/// The position of the first bad entry of a run, or its length.
template <Semiring kSemiring, class T>
std::int64_t scan(const T* data, std::int64_t length, std::int64_t stride) {
  constexpr std::int64_t block = 256;
  constexpr std::int64_t lanes = 16;
  std::int64_t begin = 0;
  if (stride == 1) {
    // Whole blocks without a branch for each entry.
    for (; begin + block <= length; begin += block) {
      T bad[lanes] = {};
      for (std::int64_t i = 0; i < block; i += lanes) {
        for (std::int64_t k = 0; k < lanes; ++k) bad[k] += badness<kSemiring>(data[begin + i + k]);
      }
      T total = 0;
      for (const T b : bad) total += b;
      if (total != T{0}) break;
    }
  }
  while (begin < length && badness<kSemiring>(data[begin * stride]) == T{0}) ++begin;
  return begin;
}

template <Semiring kSemiring, class T>
std::optional<std::vector<std::int64_t>> search(const Tensor& tensor) {
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
    std::int64_t at = scan<kSemiring>(data, run, stride);
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

template <class T>
std::optional<std::vector<std::int64_t>> search(const Tensor& tensor, Semiring semiring) {
  switch (semiring) {
    case Semiring::real:
      return search<Semiring::real, T>(tensor);
    case Semiring::max_plus:
      return search<Semiring::max_plus, T>(tensor);
    case Semiring::min_plus:
      return search<Semiring::min_plus, T>(tensor);
    case Semiring::max_product:
      return search<Semiring::max_product, T>(tensor);
    case Semiring::boolean:
      return search<Semiring::boolean, T>(tensor);
    case Semiring::log:
      break;
  }
  return search<Semiring::log, T>(tensor);
}

}  // namespace

std::optional<std::vector<std::int64_t>> first_bad_entry(const Tensor& tensor, Semiring semiring) {
  return tensor.dtype() == Dtype::float32 ? search<float>(tensor, semiring) : search<double>(tensor, semiring);
}

}  // namespace plated::kernels
