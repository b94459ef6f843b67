// Copies of integers without gaps, whose entries lie in the order in which they lay before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "tensor/visit_integers.hpp"

namespace plated::tensor {

/// One axis of an array that is copied.
struct CopiedAxis {
  std::int64_t extent = 1;
  std::int64_t from = 0;  ///< strides
  std::int64_t to = 0;
};

/// to[…] = f(from[…]) for each entry; the last axis is the innermost loop.
template <class From, class To, class F>
void copy_entries(const From* from, To* to, std::span<const CopiedAxis> axes, const F& f) {
  if (axes.empty()) {
    *to = f(*from);
    return;
  }
  const CopiedAxis& axis = axes.front();
  for (std::int64_t k = 0; k < axis.extent; ++k, from += axis.from, to += axis.to) {
    if (axes.size() > 1) {
      copy_entries(from, to, axes.subspan(1), f);
    } else {
      *to = f(*from);
    }
  }
}

/// The strides of an array without gaps of another shape, but with its axes in the same order in memory.
[[nodiscard]] inline IntegerView::Shape compact_strides(const IntegerView& view, const IntegerView::Shape& shape) {
  std::vector<std::size_t> order(shape.size());
  for (std::size_t a = 0; a < order.size(); ++a) order[a] = a;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(view.strides()[a]) > std::abs(view.strides()[b]);
  });
  IntegerView::Shape strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    strides[order[k]] = step;
    step *= std::max<std::int64_t>(1, shape[order[k]]);
  }
  return strides;
}

/// The axes of a view that is copied to such an array, outer ones first.
[[nodiscard]] inline std::vector<CopiedAxis> copied_axes(const IntegerView& view, const IntegerView::Shape& to) {
  std::vector<CopiedAxis> axes;
  for (std::size_t a = 0; a < to.size(); ++a) {
    if (view.shape()[a] != 1) axes.push_back({.extent = view.shape()[a], .from = view.strides()[a], .to = to[a]});
  }
  std::stable_sort(axes.begin(), axes.end(), [](const CopiedAxis& a, const CopiedAxis& b) { return a.to > b.to; });
  return axes;
}

/// A copy of a view in which each entry is f of what it was.
template <class To, class F>
IntegerView compacted(const IntegerView& view, const F& f) {
  const auto kept = std::make_shared<std::vector<To>>(std::max<std::size_t>(1, view.size()));
  const IntegerView::Shape strides = compact_strides(view, view.shape());
  if (view.size() > 0) {
    visit_integers(view, [&](const auto* from) { copy_entries(from, kept->data(), copied_axes(view, strides), f); });
  }
  return IntegerView::view(kept->data(), view.shape(), strides).keeping(kept);
}

}  // namespace plated::tensor
