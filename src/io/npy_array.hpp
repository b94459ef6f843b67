// Reads arrays in NumPy's format from any memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "plated/tensor.hpp"

namespace plated::io {

/// What the header of a .npy file says, and where the data begin.
struct NpyHeader {
  Dtype dtype = Dtype::float64;
  bool fortran_order = false;
  Tensor::Shape shape;
  std::size_t data = 0;
};

/// Throws FormatError for headers that are no array of floats; `file` is what errors call the file.
[[nodiscard]] NpyHeader read_npy_header(std::span<const std::byte> bytes, const std::string& file);
/// The header of an array in C order, padded so that the data are aligned.
[[nodiscard]] std::string npy_header(Dtype dtype, const Tensor::Shape& shape);

/// The array of a whole .npy file in memory that `owner` keeps; copied only where the data are not aligned. Throws
/// FormatError where the header promises other data than follow it.
[[nodiscard]] Tensor npy_array(std::span<const std::byte> bytes, const std::shared_ptr<void>& owner,
                               const std::string& file);

}  // namespace plated::io
