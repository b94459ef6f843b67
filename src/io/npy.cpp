// .npy files: read through ArrayFile, written through a file that appears when it is complete.
#include "plated/npy.hpp"

#include "io/disk.hpp"
#include "io/npy_header.hpp"
#include "plated/error.hpp"

namespace plated {

Tensor read_npy(const std::filesystem::path& path) { return ArrayFile(path).read(); }

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
