// Arrays in NumPy's format as they lie in memory: in place, or deflated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/npy_header.hpp"
#include "io/zip.hpp"
#include "plated/tensor.hpp"

namespace plated::io {

/// An array whose header has been read and held against the bytes that follow it, and whose numbers have not: who needs
/// another shape, or has no room for them, can say so first.
class StoredArray {
 public:
  /// A whole .npy file in memory that `owner` keeps; `file` is what errors call it. Throws FormatError.
  StoredArray(std::span<const std::byte> npy, std::shared_ptr<void> owner, std::string file);
  /// A member of an archive; of a deflated one the header alone is unpacked.
  StoredArray(const ZipMember& member, std::shared_ptr<void> owner, std::string file);

  [[nodiscard]] const NpyHeader& header() const { return header_; }
  /// Bytes that read() allocates: those of the numbers where they are deflated or not aligned, else none.
  [[nodiscard]] std::int64_t allocated_bytes() const { return in_place() ? 0 : promised_; }

  /// The array, in place where it can be. Members are held against their checksums; throws FormatError where one does
  /// not have its own, or unpacks to more or less than its header promises.
  [[nodiscard]] Tensor read() const;

 private:
  [[nodiscard]] bool in_place() const;
  [[nodiscard]] Tensor unpacked() const;
  [[nodiscard]] NpyHeader unpacked_header() const;
  void check_promise(std::uint64_t size);
  void check_sum(std::uint32_t found) const;

  ZipMember member_;  // of a .npy file: stored, and without a checksum
  bool has_sum_ = false;
  std::shared_ptr<void> owner_;
  std::string file_;
  NpyHeader header_;
  std::int64_t promised_ = 0;  // bytes of the numbers
};

/// The names of the arrays in an archive, without `.npy`. Throws FormatError.
[[nodiscard]] std::vector<std::string> npz_names(std::span<const std::byte> bytes, const std::string& file);
/// One array of an archive in memory that `owner` keeps. Throws FormatError, and UnknownNameError with the names there
/// are.
[[nodiscard]] StoredArray npz_array(std::span<const std::byte> bytes, std::string_view array,
                                    const std::shared_ptr<void>& owner, const std::string& file);

}  // namespace plated::io
