// Counts allocations, and the bytes that are in use at a time, by replacing the global operator new.
//
// To be included by one file of a program. Programs with a sanitizer have replaced it already.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace plated::test {

inline std::atomic<bool> counting = false;
inline std::atomic<int> allocations = 0;
/// Of allocations of a page or more: lists of steps and names are not what limits are about.
inline std::atomic<std::int64_t> bytes_in_use = 0;
inline std::atomic<std::int64_t> most_bytes_in_use = 0;

namespace detail {

constexpr std::size_t plain = alignof(std::max_align_t);
constexpr std::size_t page = 4096;
constexpr std::size_t header = 64;

/// The size is kept in front of the memory.
inline void* allocate(std::size_t bytes, std::size_t alignment) {
  if (counting) ++allocations;
  const std::size_t before = std::max(header, alignment);
  const std::size_t size = (bytes + before + alignment - 1) / alignment * alignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(std::max(alignment, header), (size + 63) / 64 * 64));
  if (memory == nullptr) return nullptr;
  std::byte* data = memory + before;
  reinterpret_cast<std::size_t*>(data)[-1] = bytes;
  reinterpret_cast<std::size_t*>(data)[-2] = before;
  if (bytes >= page) {
    const std::int64_t now = bytes_in_use += static_cast<std::int64_t>(bytes);
    for (std::int64_t most = most_bytes_in_use; most < now && !most_bytes_in_use.compare_exchange_weak(most, now);) {
    }
  }
  return data;
}

inline void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* memory = allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

inline void release(void* data) noexcept {
  if (data == nullptr) return;
  const std::size_t bytes = static_cast<std::size_t*>(data)[-1];
  const std::size_t before = static_cast<std::size_t*>(data)[-2];
  if (bytes >= page) bytes_in_use -= static_cast<std::int64_t>(bytes);
  std::free(static_cast<std::byte*>(data) - before);
}

}  // namespace detail

/// The most bytes in use while something is done, beyond those in use before.
template <class Work>
std::int64_t most_bytes(const Work& work) {
  const std::int64_t before = bytes_in_use;
  most_bytes_in_use = before;
  work();
  return most_bytes_in_use - before;
}

}  // namespace plated::test

// The replacements below are consistent; inlining one into the other's caller makes GCC doubt it.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
// NOLINTBEGIN(misc-definitions-in-headers)
void* operator new(std::size_t bytes) {
  return plated::test::detail::allocate_or_throw(bytes, plated::test::detail::plain);
}
void* operator new[](std::size_t bytes) {
  return plated::test::detail::allocate_or_throw(bytes, plated::test::detail::plain);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return plated::test::detail::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return plated::test::detail::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return plated::test::detail::allocate(bytes, plated::test::detail::plain);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return plated::test::detail::allocate(bytes, plated::test::detail::plain);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return plated::test::detail::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { plated::test::detail::release(memory); }
void operator delete[](void* memory) noexcept { plated::test::detail::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { plated::test::detail::release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { plated::test::detail::release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { plated::test::detail::release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { plated::test::detail::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { plated::test::detail::release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { plated::test::detail::release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { plated::test::detail::release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { plated::test::detail::release(memory); }
// NOLINTEND(misc-definitions-in-headers)
