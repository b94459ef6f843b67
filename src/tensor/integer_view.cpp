// Views of integers: types, strides and indices.
#include "plated/integer_view.hpp"

#include <algorithm>
#include <string>

#include "base/checked_size.hpp"
#include "plated/error.hpp"
#include "plated/tensor.hpp"
#include "tensor/offset.hpp"

namespace plated {
namespace {

std::int64_t entry(const void* data, IntegerType type, std::size_t offset) {
  // Strides may be negative: the offset wraps around.
  const auto at = static_cast<std::ptrdiff_t>(offset);
  switch (type) {
    case IntegerType::int8:
      return static_cast<const std::int8_t*>(data)[at];
    case IntegerType::int16:
      return static_cast<const std::int16_t*>(data)[at];
    case IntegerType::int32:
      return static_cast<const std::int32_t*>(data)[at];
    case IntegerType::int64:
      return static_cast<const std::int64_t*>(data)[at];
    case IntegerType::uint8:
      return static_cast<const std::uint8_t*>(data)[at];
    case IntegerType::uint16:
      return static_cast<const std::uint16_t*>(data)[at];
    case IntegerType::uint32:
      return static_cast<const std::uint32_t*>(data)[at];
    case IntegerType::uint64:
      return Index(static_cast<const std::uint64_t*>(data)[at]).value;
  }
  return 0;
}

}  // namespace

IntegerView::IntegerView(const void* data, IntegerType type, Shape shape, Shape strides)
    : data_(data), type_(type), shape_(std::move(shape)), strides_(std::move(strides)) {
  if (shape_.size() != strides_.size()) {
    throw RankError("a view of integers of rank " + std::to_string(shape_.size()) + " was given " +
                    std::to_string(strides_.size()) + " strides");
  }
  for (const std::int64_t extent : shape_) {
    if (extent < 0) throw SizeError("an extent of an array is negative: " + std::to_string(extent));
  }
  size_ = static_cast<std::size_t>(base::checked_product(shape_));
  is_row_major_ = strides_ == Tensor::row_major(shape_);
}

IntegerView IntegerView::view(const Integers& array) {
  const std::int64_t expected = base::checked_product(array.shape);
  if (static_cast<std::int64_t>(array.values.size()) != expected) {
    throw ShapeError("an array of " + std::to_string(expected) + " integers has " +
                     std::to_string(array.values.size()));
  }
  static constexpr std::int64_t none = 0;  // an empty vector may have no address
  return view(array.values.empty() ? &none : array.values.data(), array.shape);
}

IntegerView::IntegerView(Integers owned) {
  const auto kept = std::make_shared<const Integers>(std::move(owned));
  *this = view(*kept);
  owner_ = kept;
}

IntegerView IntegerView::keeping(std::shared_ptr<const void> owner) const {
  IntegerView result = *this;
  result.owner_ = std::move(owner);
  return result;
}

IntegerView::Shape IntegerView::row_major(const Shape& shape) { return Tensor::row_major(shape); }

std::size_t IntegerView::offset(std::size_t k) const {
  std::int64_t result = 0;
  auto rest = static_cast<std::int64_t>(k);
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    result += rest % shape_[axis] * strides_[axis];
    rest /= shape_[axis];
  }
  return static_cast<std::size_t>(result);
}

std::int64_t IntegerView::read(std::size_t offset) const { return entry(data_, type_, offset); }

template <class Numbers>
std::int64_t IntegerView::entry_at(const Numbers& index) const {
  const std::int64_t offset = tensor::offset_at(index, shape_, strides_);
  if (data_ == nullptr) throw NullDataError("an array of integers without data was read");
  return read(static_cast<std::size_t>(offset));
}

std::int64_t IntegerView::at(std::span<const std::int64_t> index) const { return entry_at(index); }
std::int64_t IntegerView::at(std::initializer_list<Index> index) const { return entry_at(index); }

bool IntegerView::operator==(const IntegerView& other) const {
  return shape_ == other.shape_ && std::equal(begin(), end(), other.begin(), other.end());
}

}  // namespace plated
