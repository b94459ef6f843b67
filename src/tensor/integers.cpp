// Arrays of integers: sizes and indices, checked.
#include "plated/integers.hpp"

#include <string>
#include <utility>

#include "base/checked_size.hpp"
#include "plated/error.hpp"
#include "plated/tensor.hpp"
#include "tensor/offset.hpp"

namespace plated {
namespace {

std::int64_t entries_of(const std::vector<std::int64_t>& extents) {
  for (const std::int64_t extent : extents) {
    if (extent < 0) throw SizeError("an extent of an array is negative: " + std::to_string(extent));
  }
  return base::checked_product(extents);
}

}  // namespace

Integers::Integers(std::vector<std::int64_t> extents, std::int64_t fill)
    : shape(std::move(extents)), values(static_cast<std::size_t>(entries_of(shape)), fill) {}

Integers::Integers(std::vector<std::int64_t> extents, std::vector<std::int64_t> entries)
    : shape(std::move(extents)), values(std::move(entries)) {
  const std::int64_t expected = entries_of(shape);
  if (static_cast<std::int64_t>(values.size()) != expected) {
    throw ShapeError("an array of " + std::to_string(expected) + " integers was given " +
                     std::to_string(values.size()));
  }
}

template <class Numbers>
std::size_t Integers::offset(const Numbers& index) const {
  return static_cast<std::size_t>(tensor::offset_at(index, shape, Tensor::row_major(shape)));
}

std::int64_t& Integers::at(std::span<const std::int64_t> index) { return values[offset(index)]; }
std::int64_t Integers::at(std::span<const std::int64_t> index) const { return values[offset(index)]; }
std::int64_t& Integers::at(std::initializer_list<Index> index) { return values[offset(index)]; }
std::int64_t Integers::at(std::initializer_list<Index> index) const { return values[offset(index)]; }

}  // namespace plated
