// The kernels of a binding, each shape once.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/kernel.hpp"

namespace plated::engine {

class KernelPool {
 public:
  explicit KernelPool(std::vector<Kernel>& kernels) : kernels_(kernels) {}

  /// The index of the kernel of this shape.
  std::uint32_t operator()(KernelShape shape) {
    const std::size_t hash = hash_of(shape);
    const auto [first, last] = known_.equal_range(hash);
    for (auto same = first; same != last; ++same) {
      if (kernels_[same->second].has_shape(shape)) return same->second;
    }
    const auto index = static_cast<std::uint32_t>(kernels_.size());
    kernels_.emplace_back(std::move(shape));
    known_.emplace(hash, index);
    return index;
  }

 private:
  std::vector<Kernel>& kernels_;
  std::unordered_multimap<std::size_t, std::uint32_t> known_;
};

}  // namespace plated::engine
