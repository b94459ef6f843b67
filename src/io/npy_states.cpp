// Reads integers of any width, and whole numbers in floats, from .npy files.
#include <cmath>
#include <cstring>

#include "base/checked_size.hpp"
#include "io/data_file.hpp"
#include "io/disk.hpp"
#include "io/npy_header.hpp"
#include "io/source.hpp"
#include "plated/error.hpp"
#include "plated/npy.hpp"

namespace plated::io {
namespace {

template <class T>
std::int64_t entry_at(const std::byte* data, std::size_t k, const std::string& file) {
  T entry;
  std::memcpy(&entry, data + k * sizeof(T), sizeof(T));
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(entry)) return -1;
    if (std::abs(entry) > 0x1p53 || entry != std::floor(entry)) {
      throw FormatError(file, 0, "entry " + std::to_string(k) + " is no whole number, and states are");
    }
  } else if constexpr (sizeof(T) == 8 && std::is_unsigned_v<T>) {
    if (entry > 0x7FFFFFFFFFFFFFFFU) throw FormatError(file, 0, "entry " + std::to_string(k) + " is no state");
  }
  return static_cast<std::int64_t>(entry);
}

using EntryAt = std::int64_t (*)(const std::byte*, std::size_t, const std::string&);

EntryAt reader_of(char kind, std::size_t bytes) {
  switch (kind) {
    case 'f':
      return bytes == 4 ? entry_at<float> : entry_at<double>;
    case 'i':
      return bytes == 1   ? entry_at<std::int8_t>
             : bytes == 2 ? entry_at<std::int16_t>
             : bytes == 4 ? entry_at<std::int32_t>
                          : entry_at<std::int64_t>;
    default:
      return bytes == 1   ? entry_at<std::uint8_t>
             : bytes == 2 ? entry_at<std::uint16_t>
             : bytes == 4 ? entry_at<std::uint32_t>
                          : entry_at<std::uint64_t>;
  }
}

/// Entries in C order, of a file in Fortran order.
std::vector<std::int64_t> transposed(const std::vector<std::int64_t>& entries, const Tensor::Shape& shape) {
  std::vector<std::int64_t> result(entries.size());
  for (std::size_t k = 0; k < entries.size(); ++k) {
    auto rest = static_cast<std::int64_t>(k);
    std::int64_t from = 0;
    std::int64_t stride = static_cast<std::int64_t>(entries.size());
    for (std::size_t a = shape.size(); a-- > 0;) {
      stride /= shape[a];
      from += rest % shape[a] * stride;
      rest /= shape[a];
    }
    result[k] = entries[static_cast<std::size_t>(from)];
  }
  return result;
}

}  // namespace

Tensor read_npy_numbers(const std::filesystem::path& path) {
  {
    const MappedFile file(path);
    if (read_npy_header(file.bytes(), one_line(path.string()), true).kind == 'f') return read_npy(path);
  }
  const Integers whole = read_npy_states(path);
  return Tensor::of<double>(whole.shape, std::vector<double>(whole.values.begin(), whole.values.end()));
}

Integers read_npy_states(const std::filesystem::path& path) {
  const MappedFile file(path);
  const std::string name = one_line(path.string());
  const NpyHeader header = read_npy_header(file.bytes(), name, true);
  std::int64_t count = 0;
  try {
    count = base::checked_product(header.shape);
  } catch (const ShapeError&) {
    throw FormatError(name, 0, "its header promises more than 2^63 numbers");
  }
  const std::size_t left = file.bytes().size() - header.data;
  if (left % header.item_bytes != 0 || static_cast<std::uint64_t>(count) != left / header.item_bytes) {
    throw FormatError(name, 0,
                      "its header promises " + std::to_string(count) + " numbers of " +
                          std::to_string(header.item_bytes) + " bytes, and " + std::to_string(left) + " bytes follow");
  }
  const EntryAt read = reader_of(header.kind, header.item_bytes);
  std::vector<std::int64_t> entries(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < entries.size(); ++k) entries[k] = read(file.bytes().data() + header.data, k, name);
  if (header.fortran_order) entries = transposed(entries, header.shape);
  return {header.shape, std::move(entries)};
}

}  // namespace plated::io
