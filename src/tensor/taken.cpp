// Copies slices that are no neighbours.
#include "tensor/taken.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "tensor/visit_integers.hpp"

namespace plated::tensor {

IntegerView taken(const IntegerView& all, std::size_t axis, const std::vector<std::int64_t>& slices) {
  const auto is_behind = [](std::int64_t a, std::int64_t b) { return b == a + 1; };
  if (std::ranges::adjacent_find(slices, std::not_fn(is_behind)) == slices.end()) {
    return all.range(axis, slices.empty() ? 0 : slices[0], std::ssize(slices));
  }
  const IntegerView source = all.is_row_major() ? all : all.copy();
  IntegerView::Shape shape = all.shape();
  const auto middle = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const std::int64_t outer = std::accumulate(shape.begin(), middle, std::int64_t{1}, std::multiplies<>());
  const std::int64_t inner = std::accumulate(middle + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
  const std::int64_t before = *middle;
  *middle = std::ssize(slices);
  return visit_integers(source, [&]<class T>(const T* from) {
    const auto kept = std::make_shared<std::vector<T>>();
    kept->reserve(static_cast<std::size_t>(outer * inner) * slices.size() + 1);
    for (std::int64_t o = 0; o < outer; ++o) {
      for (const std::int64_t slice : slices) {
        const T* const begin = from + (o * before + slice) * inner;
        kept->insert(kept->end(), begin, begin + inner);
      }
    }
    return IntegerView::view(kept->data(), shape).keeping(kept);
  });
}

IntegerView repeated(std::int64_t entry, const IntegerView::Shape& shape) {
  const auto kept = std::make_shared<const std::int64_t>(entry);
  return IntegerView::view(kept.get(), shape, IntegerView::Shape(shape.size(), 0)).keeping(kept);
}

}  // namespace plated::tensor
