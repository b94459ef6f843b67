// Reads lengths, and fills in what they leave out.
#include "engine/ragged.hpp"

#include <algorithm>

#include "semiring/dispatch.hpp"

namespace plated::engine {
namespace {

/// Copies one axis after the other; axes of ragged dims choose a length, and the ragged one's own is cut off there.
template <class T>
class Padder {
 public:
  Padder(const Tensor& from, const std::vector<DimId>& axes, DimId dim, const Ragged& lengths, T one)
      : from_(from), axes_(axes), dim_(dim), lengths_(lengths), one_(one), at_(axes.size()) {
    length_stride_.assign(axes.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t k = lengths.dims.size(); k-- > 0;) {
      for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        if (axes[axis] == lengths.dims[k]) {
          length_stride_[axis] = stride;
          break;
        }
      }
      stride *= lengths.sizes[k];
    }
  }

  Tensor run() {
    Tensor to = Tensor::uninitialised(from_.dtype(), from_.shape());
    to_ = static_cast<T*>(to.mutable_data());
    copy(0, static_cast<const T*>(from_.data()));
    return to;
  }

 private:
  void copy(std::size_t axis, const T* from) {
    if (axis == axes_.size()) {
      *to_++ = exists() ? *from : one_;
      return;
    }
    const std::int64_t size = from_.shape()[axis];
    const std::int64_t stride = from_.strides()[axis];
    if (axis + 1 == axes_.size() && axes_[axis] != dim_ && length_stride_[axis] == 0) {
      if (!exists()) {
        to_ = std::fill_n(to_, size, one_);
        return;
      }
      for (std::int64_t k = 0; k < size; ++k) *to_++ = from[k * stride];
      return;
    }
    for (at_[axis] = 0; at_[axis] < size; ++at_[axis]) copy(axis + 1, from + at_[axis] * stride);
  }

  [[nodiscard]] bool exists() const {
    std::int64_t slice = 0;
    std::int64_t index = 0;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      if (axes_[axis] == dim_) slice = std::max(slice, at_[axis]);
      index += at_[axis] * length_stride_[axis];
    }
    return slice < lengths_.values[index];
  }

  const Tensor& from_;
  const std::vector<DimId>& axes_;
  DimId dim_;
  const Ragged& lengths_;
  T one_;
  std::vector<std::int64_t> at_;
  std::vector<std::int64_t> length_stride_;
  T* to_ = nullptr;
};

/// A copy without padding of one dim. What has no axis for the dim stays as it is.
Tensor padded(const Tensor& operand, const std::vector<DimId>& axes, DimId dim, const Ragged& lengths,
              Semiring semiring) {
  if (!holds(axes, dim)) return operand;
  std::vector<DimId> kept;
  std::vector<std::int64_t> sizes;
  for (std::size_t k = 0; k < lengths.dims.size(); ++k) {
    if (!holds(axes, lengths.dims[k])) continue;
    kept.push_back(lengths.dims[k]);
    sizes.push_back(lengths.sizes[k]);
  }
  const Ragged own = lengths.over(kept, sizes);
  const double one = semiring::dispatch(semiring, [](auto ring) { return decltype(ring)::one(); });
  if (operand.dtype() == Dtype::float32) {
    return Padder<float>(operand, axes, dim, own, static_cast<float>(one)).run();
  }
  return Padder<double>(operand, axes, dim, own, one).run();
}

}  // namespace

bool holds(const std::vector<DimId>& dims, DimId dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

Ragged Ragged::over(const std::vector<DimId>& kept, const std::vector<std::int64_t>& kept_sizes) const {
  Ragged result{.dims = kept, .sizes = kept_sizes, .values = {}};
  std::int64_t count = 1;
  for (const std::int64_t size : kept_sizes) count *= size;
  result.values.assign(static_cast<std::size_t>(count), 0);
  // Where each index of ours lies among the kept ones; dims that we do not have repeat our lengths.
  const auto entries = static_cast<std::int64_t>(values.size());
  std::vector<std::int64_t> repeats{0};
  std::vector<std::int64_t> place(dims.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t k = kept.size(); k-- > 0;) {
    const auto mine = std::find(dims.begin(), dims.end(), kept[k]);
    if (mine != dims.end()) {
      place[mine - dims.begin()] = stride;
    } else {
      const std::size_t before = repeats.size();
      for (std::int64_t j = 1; j < kept_sizes[k]; ++j) {
        for (std::size_t i = 0; i < before; ++i) repeats.push_back(repeats[i] + j * stride);
      }
      if (kept_sizes[k] == 0) repeats.clear();
    }
    stride *= kept_sizes[k];
  }
  for (std::int64_t e = 0; e < entries; ++e) {
    std::int64_t rest = e;
    std::int64_t at = 0;
    for (std::size_t k = dims.size(); k-- > 0;) {
      at += rest % sizes[k] * place[k];
      rest /= sizes[k];
    }
    for (const std::int64_t offset : repeats) {
      std::int64_t& length = result.values[at + offset];
      length = std::max(length, values[e]);
    }
  }
  return result;
}

Tensor without_padding(const std::vector<DimId>& axes, const Tensor& operand, const RaggedDims& lengths,
                       Semiring semiring) {
  Tensor result = operand;
  for (const auto& [dim, ragged] : lengths) result = padded(result, axes, dim, ragged, semiring);
  return result;
}

void end_inner(RaggedDims& ragged) {
  for (auto& [inner, lengths] : ragged) {
    for (const auto& [outer, around] : ragged) {
      const auto found = std::find(lengths.dims.begin(), lengths.dims.end(), outer);
      const bool known = std::all_of(around.dims.begin(), around.dims.end(),
                                     [&, &all = lengths.dims](DimId d) { return holds(all, d); });
      if (found == lengths.dims.end() || !known) continue;
      const std::vector<std::int64_t> exist = around.over(lengths.dims, lengths.sizes).values;
      const auto axis = static_cast<std::size_t>(found - lengths.dims.begin());
      std::int64_t stride = 1;
      for (std::size_t k = axis + 1; k < lengths.sizes.size(); ++k) stride *= lengths.sizes[k];
      for (std::size_t k = 0; k < lengths.values.size(); ++k) {
        const std::int64_t slice = static_cast<std::int64_t>(k) / stride % lengths.sizes[axis];
        if (slice >= exist[k]) lengths.values[k] = 0;
      }
    }
  }
}

}  // namespace plated::engine
