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

/// Unpacks a deflated member from its beginning, a piece at a time: nobody need make room for what it claims to hold.
class Inflate {
 public:
  /// `file` is what errors call the member. Throws FormatError where Plated was built without zlib.
  Inflate(std::span<const std::byte> packed, const std::string& file);
  Inflate(const Inflate&) = delete;
  Inflate& operator=(const Inflate&) = delete;
  ~Inflate();

  /// Fills `to` with what comes next, and returns how much that was: less than asked for only at the member's end.
  /// Throws FormatError where the member is damaged or cut short.
  std::size_t read(std::span<std::byte> to);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plated::io
