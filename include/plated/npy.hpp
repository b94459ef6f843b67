// Reads NumPy's .npy (mapped into memory) and .npz files, and writes .npy files atomically.
#pragma once

#include <filesystem>
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
/// One of them; stored arrays are mapped like those of .npy files, deflated ones are unpacked into memory. Throws
/// FileError, FormatError, and UnknownNameError listing the names there are.
[[nodiscard]] Tensor read_npz(const std::filesystem::path& path, std::string_view array);

/// Writes a tensor of any strides in C order; the file appears under its name when it is complete. Throws FileError.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace plated
