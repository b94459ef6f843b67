// Arrays of integers: sizes and indices, checked.
#include "plated/integers.hpp"

#include <string>
#include <utility>

#include "base/checked_size.hpp"
#include "plated/error.hpp"

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

std::size_t Integers::offset(std::span<const std::int64_t> index) const {
  if (index.size() != shape.size()) {
    throw ShapeError("an index of " + std::to_string(index.size()) + " numbers into an array of " +
                     std::to_string(shape.size()) + " axes");
  }
  std::int64_t flat = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (index[axis] < 0 || index[axis] >= shape[axis]) {
      throw ShapeError("index " + std::to_string(index[axis]) + " is out of range on axis " + std::to_string(axis) +
                       " of extent " + std::to_string(shape[axis]));
    }
    flat = flat * shape[axis] + index[axis];
  }
  return static_cast<std::size_t>(flat);
}

std::int64_t& Integers::at(std::span<const std::int64_t> index) { return values[offset(index)]; }
std::int64_t Integers::at(std::span<const std::int64_t> index) const { return values[offset(index)]; }

}  // namespace plated
