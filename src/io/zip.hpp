// Reads zip archives of the kind that NumPy writes: stored and deflated members, 64-bit sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace plated::io {

/// A member of an archive, from its central directory.
struct ZipMember {
  std::string name;
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t size = 0;
  std::span<const std::byte> packed;  // as it lies in the archive
};

/// Throws FormatError for what is no archive, is cut short, or uses what NumPy never does.
[[nodiscard]] std::vector<ZipMember> read_zip(std::span<const std::byte> bytes, const std::string& file);

/// Unpacks a deflated member into `size` bytes, aligned to 64. Throws FormatError where they do not come out, and where
/// Plated was built without zlib.
[[nodiscard]] std::shared_ptr<std::byte> inflate(const ZipMember& member, const std::string& file);

}  // namespace plated::io
