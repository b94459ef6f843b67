// A tensor as slices: one for each index of its outer axes, each holding all indices of its inner ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/thread_pool.hpp"
#include "plated/factor_graph.hpp"
#include "plated/tensor.hpp"

namespace plated::engine {

/// A tensor's dims, each once: the diagonal of those that repeat. Its memory is the tensor's.
struct Diagonal {
  Diagonal(const std::vector<DimId>& axes, const Tensor& of);

  /// Which of the dims are of a kind.
  [[nodiscard]] std::vector<bool> are(DimKind kind, const FactorGraph& graph) const;

  std::vector<DimId> dims;
  Tensor tensor;
};

/// Slices are numbered, and the elements of one visited, in row-major order of the tensor's axes.
class Slices {
 public:
  Slices() = default;
  /// `is_inner` has an entry for each axis.
  Slices(const Tensor& tensor, const std::vector<bool>& is_inner) { assign(tensor, is_inner); }

  /// The same in the memory of an earlier one.
  void assign(const Tensor& tensor, const std::vector<bool>& is_inner) {
    outer_.clear();
    inner_.clear();
    count_ = states_ = 1;
    for (std::size_t axis = 0; axis < tensor.rank(); ++axis) {
      std::vector<Axis>& axes = is_inner[axis] ? inner_ : outer_;
      const Axis next{tensor.shape()[axis], tensor.strides()[axis]};
      // Axes that lie in each other without a gap are one.
      if (!axes.empty() && axes.back().stride == next.extent * next.stride) {
        axes.back() = {axes.back().extent * next.extent, next.stride};
      } else {
        axes.push_back(next);
      }
    }
    for (const Axis& axis : outer_) count_ *= axis.extent;
    for (const Axis& axis : inner_) states_ *= axis.extent;
  }

  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Elements of one slice.
  [[nodiscard]] std::int64_t states() const { return states_; }

  /// The place in memory of a slice's first element.
  [[nodiscard]] std::int64_t first(std::int64_t slice) const {
    if (outer_.size() == 1) return slice * outer_[0].stride;
    std::int64_t at = 0;
    for (std::size_t axis = outer_.size(); axis-- > 0;) {
      at += slice % outer_[axis].extent * outer_[axis].stride;
      slice /= outer_[axis].extent;
    }
    return at;
  }

  /// Calls visit(k, place) for each element of a slice: its number in the slice and its place in memory.
  template <class Visit>
  void visit(std::int64_t slice, Visit visit) const {
    std::int64_t k = 0;
    walk(0, first(slice), k, visit);
  }

  /// Whether all slices lie one after the other without a gap.
  [[nodiscard]] bool dense() const {
    const bool together = inner_.empty() || (inner_.size() == 1 && (inner_[0].stride == 1 || states_ == 1));
    return together && (outer_.empty() || (outer_.size() == 1 && (outer_[0].stride == states_ || count_ == 1)));
  }

  /// Calls task(begin, end) for blocks of slices, on several threads where there is enough to do.
  template <class Task>
  void for_each_block(int threads, Task task) const {
    constexpr std::int64_t elements_of_a_task = 1 << 14;
    const std::int64_t block = std::max<std::int64_t>(1, elements_of_a_task / std::max<std::int64_t>(1, states_));
    auto run = [&](std::int64_t number, int /*worker*/) {
      task(number * block, std::min(count_, (number + 1) * block));
    };
    parallel_for((count_ + block - 1) / block, threads, TaskRef(run));
  }
  /// Calls task(slice) for each slice in the same way.
  template <class Task>
  void for_each(int threads, Task task) const {
    for_each_block(threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t s = begin; s < end; ++s) task(s);
    });
  }

 private:
  struct Axis {
    std::int64_t extent;
    std::int64_t stride;
  };

  template <class Visit>
  void walk(std::size_t axis, std::int64_t at, std::int64_t& k, Visit& visit) const {
    if (axis == inner_.size()) {
      visit(k++, at);
      return;
    }
    const auto [extent, stride] = inner_[axis];
    if (axis + 1 < inner_.size()) {
      for (std::int64_t n = 0; n < extent; ++n) walk(axis + 1, at + n * stride, k, visit);
    } else {
      for (std::int64_t n = 0; n < extent; ++n) visit(k++, at + n * stride);
    }
  }

  std::vector<Axis> outer_;
  std::vector<Axis> inner_;
  std::int64_t count_ = 1;
  std::int64_t states_ = 1;
};

}  // namespace plated::engine
