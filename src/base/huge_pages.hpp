// Asks the system to map large memory in large pieces.
#pragma once

#include <cstddef>

namespace plated::base {

/// Of memory that has not been touched: one page of 2 MiB takes a fraction of the time of 512 small ones, at first and
/// whenever the memory is read in strides. It is a wish; nothing follows from it.
void prefer_huge_pages(void* memory, std::size_t bytes) noexcept;

}  // namespace plated::base
