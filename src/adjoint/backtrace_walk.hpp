// Walks the slices of a step: several offsets that move together, slice after slice.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace plated::adjoint {

/// Nested loops, the slowest first, each of which moves the same number of offsets.
class SliceWalk {
 public:
  explicit SliceWalk(std::size_t offsets = 0) : offsets_(offsets) {}

  void add(std::int64_t extent, std::vector<std::int64_t> stride) {
    loops_.push_back({extent, std::move(stride)});
    size_ *= extent;
  }
  /// Offsets of the first slice; 0 unless told.
  void begin_at(std::vector<std::int64_t> offset) { origin_ = std::move(offset); }
  /// The same, each as a function of its number.
  template <class Offset>
  void begin_where(const Offset& offset) {
    origin_.resize(offsets_);
    for (std::size_t o = 0; o < offsets_; ++o) origin_[o] = offset(o);
  }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::size_t offsets() const { return offsets_; }

  /// Calls visit(k, offsets) at slices first + k for k below count.
  template <class Visit>
  void visit(std::int64_t first, std::int64_t count, const Visit& call) const {
    if (count <= 0) return;  // a loop may be empty
    // Slices of chains are visited one by one: no memory is taken for few offsets.
    std::array<std::int64_t, 24> few{};
    std::vector<std::int64_t> many(offsets_ + loops_.size() > few.size() ? offsets_ + loops_.size() : 0);
    std::int64_t* offset = many.empty() ? few.data() : many.data();
    std::int64_t* index = offset + offsets_;
    std::copy(origin_.begin(), origin_.end(), offset);
    for (std::size_t l = loops_.size(); l-- > 0;) {
      index[l] = first % loops_[l].extent;
      first /= loops_[l].extent;
      for (std::size_t o = 0; o < offsets_; ++o) offset[o] += index[l] * loops_[l].stride[o];
    }
    for (std::int64_t k = 0; k < count; ++k) {
      call(k, static_cast<const std::int64_t*>(offset));
      for (std::size_t l = loops_.size(); l-- > 0;) {
        const Loop& loop = loops_[l];
        if (++index[l] < loop.extent) {
          for (std::size_t o = 0; o < offsets_; ++o) offset[o] += loop.stride[o];
          break;
        }
        index[l] = 0;
        for (std::size_t o = 0; o < offsets_; ++o) offset[o] -= (loop.extent - 1) * loop.stride[o];
      }
    }
  }

 private:
  struct Loop {
    std::int64_t extent;
    std::vector<std::int64_t> stride;  // [offset]
  };
  std::size_t offsets_;
  std::vector<std::int64_t> origin_;
  std::vector<Loop> loops_;
  std::int64_t size_ = 1;
};

}  // namespace plated::adjoint
