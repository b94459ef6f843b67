// CRC-32 (polynomial 0xEDB88320), eight bytes a step: a table for each distance from the end of the eight. It is our
// own because archives are checked without zlib too.
#include "io/crc32.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace plated::io {
namespace {

constexpr std::size_t at_once = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, at_once>;

constexpr Tables made() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1U) != 0 ? 0xEDB88320U : 0U);
    tables[0][byte] = rest;
  }
  for (std::size_t k = 1; k < at_once; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t nearer = tables[k - 1][byte];
      tables[k][byte] = (nearer >> 8) ^ tables[0][nearer & 0xFFU];
    }
  }
  return tables;
}

constexpr Tables tables = made();

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) {
  static_assert(std::endian::native == std::endian::little, "eight bytes are read as one number");
  std::uint32_t rest = ~before;
  for (; bytes.size() >= at_once; bytes = bytes.subspan(at_once)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), at_once);
    word ^= rest;
    rest = 0;
    for (std::size_t k = 0; k < at_once; ++k) rest ^= tables[at_once - 1 - k][(word >> (8 * k)) & 0xFFU];
  }
  for (const std::byte byte : bytes) {
    rest = (rest >> 8) ^ tables[0][(rest ^ std::to_integer<std::uint32_t>(byte)) & 0xFFU];
  }
  return ~rest;
}

}  // namespace plated::io
