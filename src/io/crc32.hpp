// The checksum of zip archives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plated::io {

/// CRC-32 of bytes that follow those whose checksum is `before`; 0 is that of none.
[[nodiscard]] std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace plated::io
