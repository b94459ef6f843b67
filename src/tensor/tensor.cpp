// Tensor storage, views and element access.
#include "plated/tensor.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/aligned_memory.hpp"
#include "base/checked_size.hpp"
#include "base/hash.hpp"
#include "base/watch.hpp"
#include "plated/error.hpp"
#include "tensor/offset.hpp"

namespace plated {
namespace {

std::shared_ptr<std::byte> allocate(std::int64_t bytes) {
  // Small ones lie in one block with their count of owners: there are many, and aligned blocks are slow to get.
  struct alignas(16) Cell {
    std::byte bytes[16];
  };
  constexpr std::int64_t small = 512;
  if (bytes > small) return {base::allocate_aligned(static_cast<std::size_t>(bytes)), base::free_aligned};
  std::size_t space = (static_cast<std::size_t>(bytes) + base::cache_line - 1) / sizeof(Cell) * sizeof(Cell);
  auto block = std::make_shared_for_overwrite<Cell[]>(space / sizeof(Cell));
  void* first = block.get();
  std::align(base::cache_line, static_cast<std::size_t>(bytes), first, space);
  return {std::move(block), static_cast<std::byte*>(first)};
}

}  // namespace

std::string_view name(Dtype dtype) {
  switch (dtype) {
    case Dtype::float32:
      return "float32";
    case Dtype::int8:
      return "int8";
    case Dtype::int16:
      return "int16";
    case Dtype::int32:
      return "int32";
    case Dtype::int64:
      return "int64";
    case Dtype::uint8:
      return "uint8";
    case Dtype::uint16:
      return "uint16";
    case Dtype::uint32:
      return "uint32";
    case Dtype::float64:
      break;
  }
  return "float64";
}

Tensor::Tensor(Dtype dtype, Shape shape) : Tensor(uninitialised(dtype, std::move(shape))) {
  // Piece by piece: touching gigabytes for the first time takes seconds.
  constexpr std::size_t piece = std::size_t{16} << 20;
  const std::size_t bytes = static_cast<std::size_t>(elements()) * size_of(dtype);
  for (std::size_t done = 0; done < bytes; done += piece) {
    if (done > 0) base::check_wanted();
    std::memset(static_cast<std::byte*>(data_) + done, 0, std::min(piece, bytes - done));
  }
}

Tensor Tensor::uninitialised(Dtype dtype, Shape shape) {
  Tensor tensor(dtype, nullptr, row_major_axes(std::move(shape)), true);
  tensor.owner_ = allocate(base::checked_product(tensor.elements(), static_cast<std::int64_t>(size_of(dtype))));
  tensor.data_ = tensor.owner_.get();
  return tensor;
}

Tensor::Tensor(Dtype dtype, void* data, Shape shape, Shape strides, bool writable)
    : Tensor(dtype, data, nullptr, writable) {
  if (shape.size() != strides.size()) {
    throw RankError("a view of rank " + std::to_string(shape.size()) + " was given " + std::to_string(strides.size()) +
                    " strides");
  }
  const std::int64_t elements = base::checked_product(shape);
  if (!shape.empty()) {
    axes_ = std::make_shared<const Axes>(
        Axes{.shape = std::move(shape), .strides = std::move(strides), .elements = elements});
  }
}

std::shared_ptr<const Tensor::Axes> Tensor::row_major_axes(Shape shape) {
  if (shape.empty()) return nullptr;
  // The shapes that this thread has made tensors of lately.
  constexpr std::size_t most_known = 64;
  thread_local std::array<std::shared_ptr<const Axes>, most_known> known;
  base::Hash hash;
  for (const std::int64_t extent : shape) hash.add(static_cast<std::size_t>(extent));
  std::shared_ptr<const Axes>& place = known[hash.value() % most_known];
  if (!place || place->shape != shape) {
    const std::int64_t elements = base::checked_product(shape);
    Shape strides = row_major(shape);
    place = std::make_shared<const Axes>(
        Axes{.shape = std::move(shape), .strides = std::move(strides), .elements = elements});
  }
  return place;
}

template <class T>
Tensor Tensor::copy_of(Shape shape, std::span<const T> values) {
  Tensor result(dtype_of<T>, std::move(shape));
  check_count(result.elements(), values.size());
  std::copy(values.begin(), values.end(), static_cast<T*>(result.data_));
  return result;
}
template Tensor Tensor::copy_of<float>(Shape, std::span<const float>);
template Tensor Tensor::copy_of<double>(Shape, std::span<const double>);

Tensor Tensor::keeping(const std::shared_ptr<void>& owner) const {
  Tensor result = *this;
  result.owner_ = std::shared_ptr<std::byte>(owner, static_cast<std::byte*>(data_));
  return result;
}

void* Tensor::mutable_data() const {
  if (!writable_) throw Error("this tensor views read-only memory");
  return data_;
}

double Tensor::read(std::int64_t offset) const {
  if (data_ == nullptr) throw NullDataError("a tensor without data was read");
  const auto as = [&]<class T>(const T* entries) { return static_cast<double>(entries[offset]); };
  switch (dtype_) {
    case Dtype::float32:
      return as(static_cast<const float*>(data_));
    case Dtype::int8:
      return as(static_cast<const std::int8_t*>(data_));
    case Dtype::int16:
      return as(static_cast<const std::int16_t*>(data_));
    case Dtype::int32:
      return as(static_cast<const std::int32_t*>(data_));
    case Dtype::int64:
      return as(static_cast<const std::int64_t*>(data_));
    case Dtype::uint8:
      return as(static_cast<const std::uint8_t*>(data_));
    case Dtype::uint16:
      return as(static_cast<const std::uint16_t*>(data_));
    case Dtype::uint32:
      return as(static_cast<const std::uint32_t*>(data_));
    case Dtype::float64:
      break;
  }
  return as(static_cast<const double*>(data_));
}

std::int64_t Tensor::offset_of(std::span<const std::int64_t> index) const {
  return tensor::offset_at(index, shape(), strides());
}
std::int64_t Tensor::offset_of(std::initializer_list<Index> index) const {
  return tensor::offset_at(index, shape(), strides());
}

double Tensor::at(std::span<const std::int64_t> index) const { return read(offset_of(index)); }
double Tensor::at(std::initializer_list<Index> index) const { return read(offset_of(index)); }

void Tensor::check_dtype(Dtype wanted) const {
  if (data_ == nullptr && elements() > 0) throw NullDataError("a tensor without data was read");
  if (dtype_ != wanted) {
    throw Error("elements of a tensor of " + std::string(name(dtype_)) + " are asked for as " +
                std::string(name(wanted)));
  }
}

void Tensor::check_row_major() const {
  std::int64_t expected = 1;
  for (std::size_t axis = rank(); axis-- > 0;) {
    if (shape()[axis] != 1 && strides()[axis] != expected && elements() > 0) {
      throw ShapeError("a span of a tensor whose elements do not lie in row-major order: axis " + std::to_string(axis) +
                       " has the stride " + std::to_string(strides()[axis]) + ", not " + std::to_string(expected));
    }
    expected *= shape()[axis];
  }
}

void Tensor::check_count(std::int64_t elements, std::size_t given) {
  if (elements == static_cast<std::int64_t>(given)) return;
  throw SizeError("a shape of " + std::to_string(elements) + " elements was given " + std::to_string(given) +
                  " values");
}

Tensor::Iterator& Tensor::Iterator::operator++() {
  ++done_;
  std::int64_t within = done_;  // of the axis, then of those before it
  for (std::size_t axis = tensor_->rank(); axis-- > 0;) {
    offset_ += tensor_->strides()[axis];
    if (within % tensor_->shape()[axis] != 0) break;
    offset_ -= tensor_->strides()[axis] * tensor_->shape()[axis];
    within /= tensor_->shape()[axis];
  }
  return *this;
}

bool Tensor::operator==(const Tensor& other) const {
  return dtype_ == other.dtype_ && shape() == other.shape() && (data_ == nullptr) == (other.data_ == nullptr) &&
         std::equal(begin(), end(), other.begin(), other.end());
}

double Tensor::item() const {
  if (elements() != 1) throw SizeError("item() of a tensor with " + std::to_string(elements()) + " elements");
  return read(0);
}

std::vector<double> Tensor::values() const {
  const std::int64_t count = elements();
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(count));
  if (count > 0 && data_ == nullptr) throw NullDataError("a tensor without data was read");
  if (dtype_ == Dtype::float64 && strides() == row_major(shape())) {
    const auto* const entries = static_cast<const double*>(data_);
    result.assign(entries, entries + count);
    return result;
  }
  Shape index(rank(), 0);
  std::int64_t offset = 0;
  base::Pace pace;
  for (std::int64_t k = 0; k < count; ++k) {
    if (pace.stops(4)) base::check_wanted();
    result.push_back(read(offset));
    for (std::size_t axis = rank(); axis-- > 0;) {
      offset += strides()[axis];
      if (++index[axis] < shape()[axis]) break;
      offset -= strides()[axis] * shape()[axis];
      index[axis] = 0;
    }
  }
  return result;
}

Tensor Tensor::select(std::size_t axis, std::int64_t index) const {
  if (axis >= rank())
    throw RankError("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank()));
  if (index < 0 || index >= shape()[axis]) {
    throw SizeError("slice " + std::to_string(index) + " of axis " + std::to_string(axis) + " of size " +
                    std::to_string(shape()[axis]));
  }
  void* data = data_;
  if (data != nullptr) {
    data = static_cast<std::byte*>(data) + index * strides()[axis] * static_cast<std::int64_t>(size_of(dtype_));
  }
  Shape left = shape();
  Shape steps = strides();
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(axis));
  steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(axis));
  Tensor result(dtype_, data, std::move(left), std::move(steps), writable_);
  result.owner_ = owner_;
  return result;
}

Tensor Tensor::broadcast(const Shape& leading) const {
  Shape repeated = leading;
  repeated.insert(repeated.end(), shape().begin(), shape().end());
  Shape steps(leading.size(), 0);
  steps.insert(steps.end(), strides().begin(), strides().end());
  Tensor result(dtype_, data_, std::move(repeated), std::move(steps), false);
  result.owner_ = owner_;
  return result;
}

Tensor Tensor::permuted(std::span<const std::size_t> axes) const {
  Shape extents, steps;
  std::vector<bool> used(rank(), false);
  if (axes.size() != rank())
    throw RankError("a permutation of " + std::to_string(axes.size()) + " axes, not " + std::to_string(rank()));
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k] >= rank() || used[axes[k]]) throw RankError("not a permutation of the axes");
    used[axes[k]] = true;
    extents.push_back(shape()[axes[k]]);
    steps.push_back(strides()[axes[k]]);
  }
  Tensor result(dtype_, data_, std::move(extents), std::move(steps), writable_);
  result.owner_ = owner_;
  return result;
}

Tensor::Shape Tensor::row_major(const Shape& shape) {
  Shape strides(shape.size(), 0);
  // No element, no step: the products of the other extents need not even fit.
  if (base::checked_product(shape) == 0) return strides;
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

}  // namespace plated
