// Reads arrays where they lie, or unpacks them into exactly the memory that their headers promise.
#include "io/stored_array.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/checked_size.hpp"
#include "io/crc32.hpp"
#include "plated/error.hpp"

namespace plated::io {

static_assert(std::endian::native == std::endian::little,
              "array files are read as they are, and they are little-endian");

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
Tensor view_of(const void* data, const NpyHeader& header) {
  const auto* const numbers = static_cast<const T*>(data);
  return header.fortran_order ? Tensor::view(numbers, header.shape, column_major(header.shape))
                              : Tensor::view(numbers, header.shape);
}

Tensor kept_view(const void* data, const NpyHeader& header, const std::shared_ptr<void>& owner) {
  return (header.dtype == Dtype::float32 ? view_of<float>(data, header) : view_of<double>(data, header)).keeping(owner);
}

}  // namespace

StoredArray::StoredArray(std::span<const std::byte> npy, std::shared_ptr<void> owner, std::string file)
    : owner_(std::move(owner)), file_(std::move(file)), header_(read_npy_header(npy, file_)) {
  member_.packed = npy;
  check_promise(npy.size());
}

StoredArray::StoredArray(const ZipMember& member, std::shared_ptr<void> owner, std::string file)
    : member_(member),
      has_sum_(true),
      owner_(std::move(owner)),
      file_(std::move(file)),
      header_(member.deflated ? unpacked_header() : read_npy_header(member.packed, file_)) {
  check_promise(member.size);
  // Deflate makes at most 1032 bytes of one: what promises more is refused before room is made for it.
  if (member.deflated && member.size / 1032 > member.packed.size())
    throw FormatError(file_, 0, "promises more than its packed bytes can hold");
}

NpyHeader StoredArray::unpacked_header() const {
  constexpr std::size_t longest = std::size_t{1} << 20;  // of thousands of axes
  Inflate inflate(member_.packed, file_);
  std::vector<std::byte> bytes(npy_prefix);
  bytes.resize(inflate.read(bytes));
  const std::size_t size = npy_header_bytes(bytes, file_);
  if (size > longest)
    throw FormatError(file_, 0, "has a header of " + std::to_string(size) + " bytes, which is no array's");
  const std::size_t read = bytes.size();
  bytes.resize(std::max(size, read));
  bytes.resize(read + inflate.read(std::span(bytes).subspan(read)));
  return read_npy_header(bytes, file_);
}

void StoredArray::check_promise(std::uint64_t size) {
  const std::uint64_t left = size - std::min<std::uint64_t>(size, header_.data);
  try {
    promised_ =
        base::checked_product(base::checked_product(header_.shape), static_cast<std::int64_t>(size_of(header_.dtype)));
  } catch (const ShapeError&) {
    throw FormatError(file_, 0, "its header promises more than 2^63 bytes, and " + std::to_string(left) + " follow");
  }
  if (static_cast<std::uint64_t>(promised_) != left) {
    throw FormatError(
        file_, 0,
        "its header promises " + std::to_string(promised_) + " bytes, and " + std::to_string(left) + " follow");
  }
}

void StoredArray::check_sum(std::uint32_t found) const {
  if (has_sum_ && found != member_.crc)
    throw FormatError(file_, 0, "is damaged: its bytes do not have the checksum (CRC-32) that the archive gives");
}

bool StoredArray::in_place() const {
  const auto place = reinterpret_cast<std::uintptr_t>(member_.packed.data() + header_.data);
  return promised_ == 0 || (!member_.deflated && place % size_of(header_.dtype) == 0);
}

Tensor StoredArray::read() const {
  if (member_.deflated) return unpacked();
  if (has_sum_) check_sum(crc32(member_.packed));
  if (promised_ == 0) return {header_.dtype, header_.shape};
  const std::byte* const data = member_.packed.data() + header_.data;
  if (in_place()) return kept_view(data, header_, owner_);
  const auto copy =
      std::make_shared<Tensor>(Tensor::uninitialised(header_.dtype, {base::checked_product(header_.shape)}));
  std::memcpy(copy->mutable_data(), data, static_cast<std::size_t>(promised_));
  return kept_view(copy->data(), header_, copy);
}

Tensor StoredArray::unpacked() const {
  constexpr std::size_t piece = std::size_t{1} << 18;  // summed up while it is in the cache
  Inflate inflate(member_.packed, file_);
  std::uint32_t sum = 0;
  const auto fill = [&](std::span<std::byte> to) {
    for (std::size_t at = 0; at < to.size(); at += piece) {
      const std::span<std::byte> part = to.subspan(at, std::min(piece, to.size() - at));
      const std::size_t read = inflate.read(part);
      if (read < part.size()) throw FormatError(file_, 0, "unpacks to less than its header promises");
      sum = crc32(part, sum);
    }
  };
  std::vector<std::byte> head(header_.data);
  fill(head);
  const auto numbers =
      std::make_shared<Tensor>(Tensor::uninitialised(header_.dtype, {base::checked_product(header_.shape)}));
  fill({static_cast<std::byte*>(numbers->mutable_data()), static_cast<std::size_t>(promised_)});
  std::byte beyond{};
  if (inflate.read({&beyond, 1}) > 0) throw FormatError(file_, 0, "unpacks to more than its header promises");
  check_sum(sum);
  if (promised_ == 0) return {header_.dtype, header_.shape};
  return kept_view(numbers->data(), header_, numbers);
}

}  // namespace plated::io
