// A caller's memory to write into: transposed, reversed, with gaps that must not be touched.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "property/random_case.hpp"

namespace plated::test {

class StridedTarget {
 public:
  StridedTarget(const Tensor::Shape& shape, Random& random) {
    std::vector<std::size_t> axes(shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    random.shuffle(axes);
    Tensor::Shape strides(shape.size(), 0);
    std::int64_t length = 1, first = 0;
    for (const std::size_t axis : axes) {
      const std::int64_t extent = std::max<std::int64_t>(shape[axis], 1), step = 1 + random.below(3);
      const bool reversed = random.chance(30);
      strides[axis] = (reversed ? -step : step) * length;
      if (reversed) first += step * length * (extent - 1);
      length *= step * extent;
    }
    memory_.assign(static_cast<std::size_t>(length), untouched);
    tensor_ = Tensor::view(memory_.data() + first, shape, strides);
  }
  StridedTarget(StridedTarget&&) = default;

  [[nodiscard]] const Tensor& tensor() const { return tensor_; }

  /// Whether exactly the tensor's entries were written.
  [[nodiscard]] bool gaps_are_untouched() const {
    const auto written = std::count_if(memory_.begin(), memory_.end(), [](double x) { return x != untouched; });
    const std::vector<double> entries = tensor_.values();
    const auto own = std::count_if(entries.begin(), entries.end(), [](double x) { return x != untouched; });
    return written == own && own == tensor_.elements();
  }

 private:
  static constexpr double untouched = -123456.75;
  std::vector<double> memory_;
  Tensor tensor_;
};

}  // namespace plated::test
