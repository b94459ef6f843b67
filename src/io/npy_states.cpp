// Reads integers of any width, and whole numbers in floats, from .npy files.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "base/checked_size.hpp"
#include "io/data_file.hpp"
#include "io/disk.hpp"
#include "io/npy_header.hpp"
#include "io/source.hpp"
#include "plated/error.hpp"
#include "plated/npy.hpp"

namespace plated::io {
namespace {

/// Where the entries of a file in C or Fortran order lie.
struct Layout {
  std::size_t count = 0;
  Tensor::Shape shape, strides;

  Layout(const NpyHeader& header, std::int64_t entries)
      : count(static_cast<std::size_t>(entries)), shape(header.shape), strides(Tensor::row_major(shape)) {
    if (!header.fortran_order) return;
    strides = Tensor::row_major(Tensor::Shape(shape.rbegin(), shape.rend()));
    std::reverse(strides.begin(), strides.end());
  }
};

/// Whole numbers in floats, NaN for what is missing.
template <class T>
IntegerView whole_numbers(const std::byte* data, const Layout& layout, const std::string& file) {
  const auto states = std::make_shared<std::vector<std::int64_t>>(std::max<std::size_t>(1, layout.count), -1);
  for (std::size_t k = 0; k < layout.count; ++k) {
    T entry;
    std::memcpy(&entry, data + k * sizeof(T), sizeof(T));
    if (std::isnan(entry)) continue;
    if (std::abs(entry) > 0x1p53 || entry != std::floor(entry)) {
      throw FormatError(file, 0, "entry " + std::to_string(k) + " is no whole number, and states are");
    }
    (*states)[k] = static_cast<std::int64_t>(entry);
  }
  return IntegerView::view(states->data(), layout.shape, layout.strides).keeping(states);
}

/// Integers in place, or copied where they are not aligned.
template <class T>
IntegerView integers(const std::byte* data, const Layout& layout, const std::shared_ptr<const MappedFile>& file) {
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0) {
    return IntegerView::view(reinterpret_cast<const T*>(data), layout.shape, layout.strides).keeping(file);
  }
  const auto copy = std::make_shared<std::vector<T>>(std::max<std::size_t>(1, layout.count));
  std::memcpy(copy->data(), data, layout.count * sizeof(T));
  return IntegerView::view(copy->data(), layout.shape, layout.strides).keeping(copy);
}

IntegerView entries_of(const NpyHeader& header, const Layout& layout, const std::shared_ptr<const MappedFile>& file,
                       const std::string& name) {
  const std::byte* const data = file->bytes().data() + header.data;
  const std::size_t bytes = header.item_bytes;
  switch (header.kind) {
    case 'f':
      return bytes == 4 ? whole_numbers<float>(data, layout, name) : whole_numbers<double>(data, layout, name);
    case 'i':
      return bytes == 1   ? integers<std::int8_t>(data, layout, file)
             : bytes == 2 ? integers<std::int16_t>(data, layout, file)
             : bytes == 4 ? integers<std::int32_t>(data, layout, file)
                          : integers<std::int64_t>(data, layout, file);
    default:
      return bytes == 1   ? integers<std::uint8_t>(data, layout, file)
             : bytes == 2 ? integers<std::uint16_t>(data, layout, file)
             : bytes == 4 ? integers<std::uint32_t>(data, layout, file)
                          : integers<std::uint64_t>(data, layout, file);
  }
}

}  // namespace

Tensor read_npy_numbers(const std::filesystem::path& path) {
  {
    const MappedFile file(path);
    if (read_npy_header(file.bytes(), one_line(path.string()), true).kind == 'f') return read_npy(path);
  }
  const IntegerView whole = read_npy_states(path);
  return Tensor::of<double>(whole.shape(), std::vector<double>(whole.begin(), whole.end()));
}

IntegerView read_npy_states(const std::filesystem::path& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  const std::string name = one_line(path.string());
  const NpyHeader header = read_npy_header(file->bytes(), name, true);
  std::int64_t count = 0;
  try {
    count = base::checked_product(header.shape);
  } catch (const ShapeError&) {
    throw FormatError(name, 0, "its header promises more than 2^63 numbers");
  }
  const std::size_t left = file->bytes().size() - header.data;
  if (left % header.item_bytes != 0 || static_cast<std::uint64_t>(count) != left / header.item_bytes) {
    throw FormatError(name, 0,
                      "its header promises " + std::to_string(count) + " numbers of " +
                          std::to_string(header.item_bytes) + " bytes, and " + std::to_string(left) + " bytes follow");
  }
  IntegerView entries = entries_of(header, Layout(header, count), file, name);
  if (entries.type() == IntegerType::uint64) {
    const auto beyond = std::find(entries.begin(), entries.end(), std::numeric_limits<std::int64_t>::max());
    if (beyond != entries.end()) throw FormatError(name, 0, "a number is too large to be a state");
  }
  return entries;
}

}  // namespace plated::io
