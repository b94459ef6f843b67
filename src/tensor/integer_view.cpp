// Views of integers: types, strides and indices.
#include "plated/integer_view.hpp"

#include <algorithm>
#include <string>

#include "base/checked_size.hpp"
#include "plated/error.hpp"
#include "plated/tensor.hpp"
#include "tensor/offset.hpp"
#include "tensor/visit_integers.hpp"

namespace plated {

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

IntegerView IntegerView::range(std::size_t axis, std::int64_t first, std::int64_t count) const {
  if (axis >= shape_.size() || first < 0 || count < 0 || first > shape_[axis] || count > shape_[axis] - first) {
    throw ShapeError("there are no slices " + std::to_string(first) + " … " + std::to_string(first + count - 1) +
                     " along axis " + std::to_string(axis) + " of an array of integers");
  }
  Shape shape = shape_;
  shape[axis] = count;
  const void* const begin = tensor::visit_integers(
      *this, [&](const auto* entries) -> const void* { return entries + first * strides_[axis]; });
  return IntegerView(count == 0 ? data_ : begin, type_, std::move(shape), strides_).keeping(owner_);
}

IntegerView IntegerView::permuted(const std::vector<std::size_t>& axes) const {
  std::vector<bool> named(shape_.size(), false);
  Shape shape, strides;
  for (const std::size_t axis : axes) {
    if (axis >= named.size() || named[axis]) break;
    named[axis] = true;
    shape.push_back(shape_[axis]);
    strides.push_back(strides_[axis]);
  }
  if (axes.size() != shape_.size() || shape.size() != shape_.size()) {
    throw ShapeError("axes of an array of integers are put in another order, and not each of them once");
  }
  return IntegerView(data_, type_, std::move(shape), std::move(strides)).keeping(owner_);
}

IntegerView IntegerView::copy() const {
  return tensor::visit_integers(*this, [&]<class T>(const T* entries) {
    auto kept = std::make_shared<std::vector<T>>(std::max<std::size_t>(1, size()));
    if (is_row_major_) {
      std::copy_n(entries, size(), kept->begin());
    } else {
      for (std::size_t k = 0; k < size(); ++k) (*kept)[k] = entries[static_cast<std::ptrdiff_t>(offset(k))];
    }
    return view(kept->data(), shape_).keeping(kept);
  });
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

std::int64_t IntegerView::read(std::size_t offset) const {
  // Strides may be negative: the offset wraps around.
  const auto at = static_cast<std::ptrdiff_t>(offset);
  return tensor::visit_integers(*this, [at](const auto* entries) { return Index(entries[at]).value; });
}

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
