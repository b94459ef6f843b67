// Memory on cache-line boundaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "base/huge_pages.hpp"

namespace plated::base {

inline constexpr std::size_t cache_line = 64;

[[nodiscard]] inline std::size_t in_whole_lines(std::size_t bytes) {
  return (bytes + cache_line - 1) / cache_line * cache_line;
}

/// At least one byte, aligned to a cache line. Throws std::bad_alloc where the machine refuses.
[[nodiscard]] inline std::byte* allocate_aligned(std::size_t bytes) {
  // The form that does not throw: under AddressSanitizer the other one ends the program.
  void* memory = ::operator new (bytes == 0 ? 1 : bytes, std::align_val_t{cache_line}, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  // Less may hold no whole huge page.
  if (bytes >= std::size_t{4} << 20) prefer_huge_pages(memory, bytes);
  return static_cast<std::byte*>(memory);
}

inline void free_aligned(std::byte* memory) noexcept { ::operator delete (memory, std::align_val_t{cache_line}); }

/// Such memory for one run after another: it only grows, and what it held is lost then.
class GrowingMemory {
 public:
  void grow(std::int64_t bytes) {
    if (bytes <= bytes_) return;
    memory_.reset();
    bytes_ = 0;
    memory_.reset(allocate_aligned(static_cast<std::size_t>(bytes)));
    bytes_ = bytes;
  }
  [[nodiscard]] std::byte* get() const { return memory_.get(); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { free_aligned(memory); }
  };
  std::unique_ptr<std::byte[], Free> memory_;
  std::int64_t bytes_ = 0;
};

}  // namespace plated::base
