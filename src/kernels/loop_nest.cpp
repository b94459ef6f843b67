// Normalises loop nests.
#include "kernels/loop_nest.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace plated::kernels {
namespace {

bool carried(const Loop& loop) {
  return std::any_of(loop.input.begin(), loop.input.end(), [](std::int64_t stride) { return stride != 0; });
}

/// A product over slices that are all the same is a power.
void fold_into_power(LoopNest& nest) {
  std::erase_if(nest.loops, [&nest](const Loop& loop) {
    const bool fold = loop.role == Role::product && !carried(loop) &&
                      nest.power <= std::numeric_limits<std::int64_t>::max() / loop.extent;
    if (fold) {
      nest.power *= loop.extent;
      nest.product /= loop.extent;
    }
    return fold;
  });
}

std::size_t largest_input(const LoopNest& nest) {
  std::size_t best = 0;
  double best_elements = 0;
  for (std::size_t i = 0; i < nest.base.size(); ++i) {
    double elements = 1;
    for (const Loop& loop : nest.loops) elements *= loop.input[i] == 0 ? 1.0 : static_cast<double>(loop.extent);
    if (elements > best_elements) {
      best = i;
      best_elements = elements;
    }
  }
  return best;
}

/// Runs a loop backwards in every operand, so that the primary input is read forwards.
void reverse(LoopNest& nest, Loop& loop) {
  for (std::size_t i = 0; i < loop.input.size(); ++i) {
    nest.base[i] += (loop.extent - 1) * loop.input[i];
    loop.input[i] = -loop.input[i];
  }
  nest.output_base += (loop.extent - 1) * loop.output;
  loop.output = -loop.output;
}

/// Where a loop belongs in the primary's memory; loops that it lacks follow the others' strides, further out.
std::pair<bool, std::int64_t> memory_order(const Loop& loop, std::size_t primary) {
  if (!loop.input.empty() && loop.input[primary] != 0) return {false, std::abs(loop.input[primary])};
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t stride : loop.input) {
    if (stride != 0) least = std::min(least, std::abs(stride));
  }
  if (loop.output != 0) least = std::min(least, std::abs(loop.output));
  return {true, least};
}

bool continues(const Loop& inner, const Loop& outer) {
  if (inner.role != outer.role || outer.output != inner.output * inner.extent) return false;
  for (std::size_t i = 0; i < inner.input.size(); ++i) {
    if (outer.input[i] != inner.input[i] * inner.extent) return false;
  }
  return true;
}

void merge_neighbours(LoopNest& nest) {
  std::vector<Loop> merged;
  for (Loop& loop : nest.loops) {
    if (!merged.empty() && continues(merged.back(), loop)) {
      merged.back().extent *= loop.extent;
    } else {
      merged.push_back(std::move(loop));
    }
  }
  nest.loops = std::move(merged);
}

}  // namespace

LoopNest normalise(const ContractionShape& shape) {
  LoopNest nest;
  nest.base.assign(shape.input_stride.size(), 0);
  nest.power = shape.power;
  for (std::size_t l = 0; l < shape.extent.size(); ++l) {
    const std::int64_t extent = shape.extent[l];
    (shape.role[l] == Role::kept ? nest.kept : shape.role[l] == Role::product ? nest.product : nest.sum) *= extent;
    if (extent == 1) continue;
    Loop loop{extent, shape.role[l], {}, shape.output_stride[l]};
    for (const auto& stride : shape.input_stride) loop.input.push_back(stride[l]);
    nest.loops.push_back(std::move(loop));
  }
  if (nest.kept == 0 || nest.product == 0 || nest.sum == 0) return nest;
  fold_into_power(nest);
  nest.primary = largest_input(nest);
  for (Loop& loop : nest.loops) {
    const std::int64_t ruling =
        loop.input.empty() || loop.input[nest.primary] == 0 ? loop.output : loop.input[nest.primary];
    if (ruling < 0) reverse(nest, loop);
  }
  std::stable_sort(nest.loops.begin(), nest.loops.end(), [&nest](const Loop& a, const Loop& b) {
    return memory_order(a, nest.primary) < memory_order(b, nest.primary);
  });
  merge_neighbours(nest);
  return nest;
}

}  // namespace plated::kernels
