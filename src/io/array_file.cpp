// Array files whose headers alone have been read.
#include <span>
#include <string>
#include <utility>

#include "io/disk.hpp"
#include "io/source.hpp"
#include "io/stored_array.hpp"
#include "plated/npy.hpp"

namespace plated {

struct ArrayFile::Impl {
  io::StoredArray array;
};

ArrayFile::ArrayFile(const std::filesystem::path& npy) {
  const auto file = std::make_shared<io::MappedFile>(npy);
  impl_ = std::make_shared<Impl>(Impl{io::StoredArray(file->bytes(), file, io::one_line(npy.string()))});
}

ArrayFile::ArrayFile(const std::filesystem::path& npz, std::string_view array) {
  const auto file = std::make_shared<io::MappedFile>(npz);
  impl_ = std::make_shared<Impl>(Impl{io::npz_array(file->bytes(), array, file, io::one_line(npz.string()))});
}

ArrayFile::ArrayFile(std::istream& npy, const std::string& file) {
  const auto text = std::make_shared<std::string>(io::read_stream(npy, file));
  impl_ = std::make_shared<Impl>(Impl{io::StoredArray(std::as_bytes(std::span(*text)), text, io::one_line(file))});
}

Dtype ArrayFile::dtype() const { return impl_->array.header().dtype; }
const Tensor::Shape& ArrayFile::shape() const { return impl_->array.header().shape; }
std::int64_t ArrayFile::allocated_bytes() const { return impl_->array.allocated_bytes(); }
Tensor ArrayFile::read() const { return impl_->array.read(); }

}  // namespace plated
