// NumPy's array files: .npy read where it lies, .npz, headers alone, and .npy written whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plated/tensor.hpp"

namespace plated {

/// The array of a .npy file: float32 or float64, little-endian, C or Fortran order. The file is mapped into memory and
/// stays so while the tensor or a view of it lives; it must not be cut short meanwhile. Throws FileError and
/// FormatError.
[[nodiscard]] Tensor read_npy(const std::filesystem::path& path);

/// The names of the arrays in a .npz file, in its order, without `.npy`.
[[nodiscard]] std::vector<std::string> npz_names(const std::filesystem::path& path);
/// One of them; stored arrays are mapped like those of .npy files, deflated ones are unpacked into memory, and both are
/// held against their checksums. Throws FileError, FormatError, and UnknownNameError listing the names there are.
[[nodiscard]] Tensor read_npz(const std::filesystem::path& path, std::string_view array);

/// An array file of which the header has been read and nothing else: whoever needs another shape, or has no room for
/// the numbers, need not wait for them. A header that promises more or less than follows it is refused here.
///
///   ArrayFile file("all.npz", "f");
///   if (file.shape() == wanted && file.allocated_bytes() <= limit) f = file.read();
class ArrayFile {
 public:
  /// A .npy file. Throws FileError and FormatError.
  explicit ArrayFile(const std::filesystem::path& npy);
  /// An array of a .npz file. Throws what read_npz throws, but for damaged numbers, which read() finds.
  ArrayFile(const std::filesystem::path& npz, std::string_view array);

  /// A .npy file from a stream, which is read to its end, a GiB at most; `file` is what errors call it.
  ArrayFile(std::istream& npy, const std::string& file);

  [[nodiscard]] Dtype dtype() const;
  [[nodiscard]] const Tensor::Shape& shape() const;
  /// Bytes that read() allocates: 0 for numbers that are mapped, all of them for deflated ones.
  [[nodiscard]] std::int64_t allocated_bytes() const;
  /// The array, as read_npy and read_npz return it. Throws FormatError.
  [[nodiscard]] Tensor read() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

/// Writes a tensor of any strides in C order; the file appears under its name when it is complete. Throws FileError.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace plated
