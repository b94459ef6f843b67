// Some slices of an array of integers.
#pragma once

#include <cstdint>
#include <vector>

#include "plated/integer_view.hpp"

namespace plated::tensor {

/// Some slices along an axis, of the same type: a view of neighbours in order, and a copy of others, whose
/// axes lie in memory in the order that they have there.
[[nodiscard]] IntegerView taken(const IntegerView& all, std::size_t axis, const std::vector<std::int64_t>& slices);

/// As many entries as the shape says, all of them one in memory.
[[nodiscard]] IntegerView repeated(std::int64_t entry, const IntegerView::Shape& shape);

}  // namespace plated::tensor
