// Copies slices that are no neighbours.
#include "tensor/taken.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "tensor/compact.hpp"

namespace plated::tensor {

IntegerView taken(const IntegerView& all, std::size_t axis, const std::vector<std::int64_t>& slices) {
  const auto is_behind = [](std::int64_t a, std::int64_t b) { return b == a + 1; };
  if (std::ranges::adjacent_find(slices, std::not_fn(is_behind)) == slices.end()) {
    return all.range(axis, slices.empty() ? 0 : slices[0], std::ssize(slices));
  }
  IntegerView::Shape shape = all.shape();
  shape[axis] = std::ssize(slices);
  const IntegerView::Shape strides = compact_strides(all, shape);
  const std::int64_t size = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  return visit_integers(all, [&]<class T>(const T* /*entries*/) {
    const auto kept = std::make_shared<std::vector<T>>(static_cast<std::size_t>(size) + 1);
    std::int64_t first = 0;
    for (const std::int64_t slice : slices) {
      const IntegerView one = all.range(axis, slice, 1);
      const auto same = [](T entry) { return entry; };
      if (size > 0)
        copy_entries(static_cast<const T*>(one.data()), kept->data() + first, copied_axes(one, strides), same);
      first += strides[axis];
    }
    return IntegerView::view(kept->data(), shape, strides).keeping(kept);
  });
}

IntegerView repeated(std::int64_t entry, const IntegerView::Shape& shape) {
  const auto kept = std::make_shared<const std::int64_t>(entry);
  return IntegerView::view(kept.get(), shape, IntegerView::Shape(shape.size(), 0)).keeping(kept);
}

}  // namespace plated::tensor
