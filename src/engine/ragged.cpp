// Reads lengths, and fills in what they leave out.
#include "engine/ragged.hpp"

#include <algorithm>

#include "semiring/dispatch.hpp"

namespace plated::engine {
namespace {

/// Copies one axis after the other.
template <class T>
class Padder {
 public:
  Padder(const Tensor& from, const std::vector<Padding::Part>& parts, std::vector<std::int64_t>& at, T one, T* to)
      : from_(from), parts_(parts), at_(at), one_(one), to_(to) {}

  void copy(std::size_t axis, const T* from) {
    if (axis == at_.size()) {
      *to_++ = exists() ? *from : one_;
      return;
    }
    const std::int64_t size = from_.shape()[axis];
    const std::int64_t stride = from_.strides()[axis];
    const auto ignores = [axis](const Padding::Part& part) {
      return !part.is_dim[axis] && part.length_stride[axis] == 0;
    };
    if (axis + 1 == at_.size() && std::all_of(parts_.begin(), parts_.end(), ignores)) {
      if (!exists()) {
        to_ = std::fill_n(to_, size, one_);
        return;
      }
      for (std::int64_t k = 0; k < size; ++k) *to_++ = from[k * stride];
      return;
    }
    for (at_[axis] = 0; at_[axis] < size; ++at_[axis]) copy(axis + 1, from + at_[axis] * stride);
    at_[axis] = 0;
  }

 private:
  [[nodiscard]] bool exists() const {
    return std::all_of(parts_.begin(), parts_.end(), [this](const Padding::Part& part) {
      std::int64_t slice = 0;
      std::int64_t index = 0;
      for (std::size_t axis = 0; axis < at_.size(); ++axis) {
        if (part.is_dim[axis]) slice = std::max(slice, at_[axis]);
        index += at_[axis] * part.length_stride[axis];
      }
      return slice < part.lengths.values[static_cast<std::size_t>(index)];
    });
  }

  const Tensor& from_;
  const std::vector<Padding::Part>& parts_;
  std::vector<std::int64_t>& at_;
  T one_;
  T* to_;
};

/// The lengths of a dim, for those dims among the axes that they depend on.
Padding::Part part_of(const std::vector<DimId>& axes, DimId dim, const Ragged& lengths) {
  std::vector<DimId> kept;
  std::vector<std::int64_t> sizes;
  for (std::size_t k = 0; k < lengths.dims.size(); ++k) {
    if (!holds(axes, lengths.dims[k])) continue;
    kept.push_back(lengths.dims[k]);
    sizes.push_back(lengths.sizes[k]);
  }
  Padding::Part part{.lengths = lengths.over(kept, sizes)};
  for (const DimId axis : axes) part.is_dim.push_back(axis == dim);
  part.length_stride.assign(axes.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t k = kept.size(); k-- > 0; stride *= sizes[k]) {
    const auto axis = std::find(axes.begin(), axes.end(), kept[k]) - axes.begin();
    part.length_stride[static_cast<std::size_t>(axis)] = stride;
  }
  return part;
}

}  // namespace

Padding::Padding(const std::vector<DimId>& axes, const RaggedDims& lengths) {
  for (const auto& [dim, ragged] : lengths) {
    if (holds(axes, dim)) parts_.push_back(part_of(axes, dim, ragged));
  }
  if (!parts_.empty()) at_.resize(axes.size());
}

Tensor Padding::fill(const Tensor& operand, Semiring semiring, const Tensor& memory) {
  if (parts_.empty()) return operand;
  const bool fits = memory.dtype() == operand.dtype() && memory.shape() == operand.shape() && memory.data() != nullptr;
  Tensor to = fits ? memory : Tensor::uninitialised(operand.dtype(), operand.shape());
  const double one = semiring::dispatch(semiring, [](auto ring) { return decltype(ring)::one(); });
  const auto copy = [&]<class T>(const T* from) {
    Padder<T>(operand, parts_, at_, static_cast<T>(one), static_cast<T*>(to.mutable_data())).copy(0, from);
  };
  if (operand.dtype() == Dtype::float32) {
    copy(static_cast<const float*>(operand.data()));
  } else {
    copy(static_cast<const double*>(operand.data()));
  }
  return to;
}

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
  return Padding(axes, lengths).fill(operand, semiring);
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
