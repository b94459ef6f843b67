// Headers of arrays in NumPy's format.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "plated/tensor.hpp"

namespace plated::io {

/// What the header of a .npy file says, and where the data begin.
struct NpyHeader {
  Dtype dtype = Dtype::float64;  ///< of floats
  char kind = 'f';               ///< 'f', or 'i' and 'u' for integers with and without a sign
  std::size_t item_bytes = 8;
  bool fortran_order = false;
  Tensor::Shape shape;
  std::size_t data = 0;
};

/// As many first bytes of a .npy file as tell how long its header is.
inline constexpr std::size_t npy_prefix = 12;
/// How many bytes the header takes, from the first ones. Throws FormatError for what is no .npy file; `file` is what
/// errors call it.
[[nodiscard]] std::size_t npy_header_bytes(std::span<const std::byte> bytes, const std::string& file);

/// Throws FormatError for headers that are no array of floats or, if these are wanted, of integers.
[[nodiscard]] NpyHeader read_npy_header(std::span<const std::byte> bytes, const std::string& file,
                                        bool integers = false);
/// The header of an array in C order, padded so that the data are aligned.
[[nodiscard]] std::string npy_header(Dtype dtype, const Tensor::Shape& shape);

}  // namespace plated::io
