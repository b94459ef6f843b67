// Where the entry at an index lies, and where the entries at all indices do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plated/error.hpp"
#include "plated/index.hpp"

namespace plated::tensor {

/// In elements, for strides of the same. `index` is any list of integers. Throws RankError and SizeError.
template <class Numbers>
[[nodiscard]] std::int64_t offset_at(const Numbers& index, const std::vector<std::int64_t>& shape,
                                     const std::vector<std::int64_t>& strides) {
  if (index.size() != shape.size()) {
    throw RankError("an index of " + std::to_string(index.size()) + " numbers into an array of rank " +
                    std::to_string(shape.size()));
  }
  std::int64_t offset = 0;
  std::size_t axis = 0;
  for (const Index number : index) {
    if (number.value < 0 || number.value >= shape[axis]) {
      throw SizeError("index " + std::to_string(number.value) + " is outside axis " + std::to_string(axis) +
                      " of size " + std::to_string(shape[axis]));
    }
    offset += number.value * strides[axis++];
  }
  return offset;
}

/// The same of all indices into some axes, the first most significant.
template <class Offset = std::int64_t>
[[nodiscard]] std::vector<Offset> all_offsets(const std::vector<std::int64_t>& shape,
                                              const std::vector<std::int64_t>& strides) {
  std::vector<Offset> offset(1, 0);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::size_t finer = offset.size();
    offset.resize(finer * static_cast<std::size_t>(shape[axis]));
    for (std::size_t k = finer; k < offset.size(); ++k) {
      offset[k] = offset[k - finer] + static_cast<Offset>(strides[axis]);
    }
  }
  return offset;
}

}  // namespace plated::tensor
