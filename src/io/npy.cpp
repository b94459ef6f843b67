// Reads .npy files by mapping them where they are aligned, and writes them atomically.
#include "plated/npy.hpp"

#include <bit>
#include <cstring>

#include "base/checked_size.hpp"
#include "io/disk.hpp"
#include "io/npy_array.hpp"
#include "io/source.hpp"
#include "plated/error.hpp"

namespace plated {

static_assert(std::endian::native == std::endian::little,
              "array files are read as they are, and they are little-endian");

namespace io {
namespace {

Tensor::Shape column_major(const Tensor::Shape& shape) {
  Tensor::Shape strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

template <class T>
Tensor view_of(const std::byte* data, const NpyHeader& header) {
  const auto* const numbers = reinterpret_cast<const T*>(data);
  return header.fortran_order ? Tensor::view(numbers, header.shape, column_major(header.shape))
                              : Tensor::view(numbers, header.shape);
}

}  // namespace

Tensor npy_array(std::span<const std::byte> bytes, const std::shared_ptr<void>& owner, const std::string& file) {
  const NpyHeader header = read_npy_header(bytes, file);
  const std::size_t size = size_of(header.dtype);
  const std::size_t left = bytes.size() - header.data;
  std::int64_t promised = 0;
  try {
    promised = base::checked_product(base::checked_product(header.shape), static_cast<std::int64_t>(size));
  } catch (const ShapeError&) {
    throw FormatError(file, 0, "its header promises more than 2^63 bytes, and " + std::to_string(left) + " follow");
  }
  if (static_cast<std::size_t>(promised) != left) {
    throw FormatError(
        file, 0, "its header promises " + std::to_string(promised) + " bytes, and " + std::to_string(left) + " follow");
  }
  if (promised == 0) return {header.dtype, header.shape};
  const std::byte* data = bytes.data() + header.data;
  std::shared_ptr<void> keeper = owner;
  if (reinterpret_cast<std::uintptr_t>(data) % size != 0) {
    const Tensor copy = Tensor::uninitialised(header.dtype, {promised / static_cast<std::int64_t>(size)});
    std::memcpy(copy.mutable_data(), data, left);
    data = static_cast<const std::byte*>(copy.data());
    keeper = std::make_shared<Tensor>(copy);
  }
  return (header.dtype == Dtype::float32 ? view_of<float>(data, header) : view_of<double>(data, header))
      .keeping(keeper);
}

}  // namespace io

Tensor read_npy(const std::filesystem::path& path) {
  const auto file = std::make_shared<io::MappedFile>(path);
  return io::npy_array(file->bytes(), file, io::one_line(path.string()));
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  if (tensor.elements() > 0 && tensor.data() == nullptr) throw NullDataError("a tensor without data cannot be written");
  io::NewFile file(path);
  file.write(io::npy_header(tensor.dtype(), tensor.shape()));
  const std::size_t size = size_of(tensor.dtype());
  const std::int64_t count = tensor.elements();
  if (tensor.strides() == Tensor::row_major(tensor.shape())) {
    file.write({static_cast<const char*>(tensor.data()), static_cast<std::size_t>(count) * size});
    file.commit();
    return;
  }
  // Gathered a piece at a time: an array larger than memory may be transposed on its way.
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::string gathered;
  Tensor::Shape index(tensor.rank(), 0);
  std::int64_t offset = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    gathered.append(static_cast<const char*>(tensor.data()) + offset * static_cast<std::int64_t>(size), size);
    if (gathered.size() >= piece) {
      file.write(gathered);
      gathered.clear();
    }
    for (std::size_t axis = tensor.rank(); axis-- > 0;) {
      offset += tensor.strides()[axis];
      if (++index[axis] < tensor.shape()[axis]) break;
      offset -= tensor.strides()[axis] * tensor.shape()[axis];
      index[axis] = 0;
    }
  }
  file.write(gathered);
  file.commit();
}

}  // namespace plated
