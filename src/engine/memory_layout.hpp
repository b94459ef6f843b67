// Lays arrays out one after the other in a block of memory, each on a cache line's boundary.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/aligned_memory.hpp"

namespace plated::engine {

/// Without memory it only counts.
class MemoryLayout {
 public:
  explicit MemoryLayout(std::byte* memory = nullptr) : memory_(memory) {}

  template <class T = std::byte>
  T* take(std::int64_t count) {
    auto* array = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + bytes_);
    bytes_ += base::in_whole_lines(static_cast<std::size_t>(count) * sizeof(T));
    return array;
  }
  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(bytes_); }

 private:
  std::byte* memory_;
  std::size_t bytes_ = 0;
};

}  // namespace plated::engine
