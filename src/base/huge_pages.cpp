// Transparent huge pages of Linux, which many systems give only to those that ask.
#include "base/huge_pages.hpp"

#include <sys/mman.h>

#include <cstdint>

namespace plated::base {

void prefer_huge_pages(void* memory, std::size_t bytes) noexcept {
  constexpr std::uintptr_t huge = std::uintptr_t{2} << 20;
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + huge - 1) / huge * huge;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / huge * huge;
  if (begin < end) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace plated::base
