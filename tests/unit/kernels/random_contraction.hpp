// Makes random contractions with data, and measures the error of a strategy on them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/strategy.hpp"
#include "unit/kernels/naive_contraction.hpp"
#include "unit/kernels/run_contraction.hpp"

namespace plated::kernels::testing {

/// A random contraction with its data.
struct Case {
  ContractionShape shape;
  std::vector<std::vector<float>> float_data;
  std::vector<std::vector<double>> double_data;
  std::vector<const void*> inputs;
  std::int64_t output_size = 1;
  std::int64_t output_first = 0;
};

inline double entry(std::mt19937& random, Semiring semiring, double zeros) {
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const bool zero = uniform(random) < zeros;
  const double u = uniform(random);
  switch (semiring) {
    case Semiring::real:
      return zero ? 0.0 : 0.5 + u;
    case Semiring::log:
    case Semiring::max_plus:
      return zero ? -std::numeric_limits<double>::infinity() : 20.0 * u - 10.0;
    case Semiring::min_plus:
      return zero ? std::numeric_limits<double>::infinity() : 20.0 * u - 10.0;
    case Semiring::max_product:
      return zero ? 0.0 : 0.5 + u;
    case Semiring::boolean:
      break;
  }
  return zero ? 0.0 : -3.0 * u - 0.1;
}

/// Strides that place the given loops in memory in a random order, some reversed; returns the size and first element.
inline std::pair<std::int64_t, std::int64_t> place(std::mt19937& random, const std::vector<std::int64_t>& extent,
                                                   std::vector<std::size_t> loops, std::vector<std::int64_t>& stride) {
  std::shuffle(loops.begin(), loops.end(), random);
  std::int64_t size = 1;
  std::int64_t first = 0;
  const std::int64_t gap = random() % 4 == 0 ? 2 : 1;
  for (const std::size_t l : loops) {
    stride[l] = size * gap;
    size *= std::max<std::int64_t>(extent[l], 1);
    if (random() % 5 == 0) {
      first += (extent[l] - 1) * stride[l];
      stride[l] = -stride[l];
    }
  }
  return {size * gap, std::max<std::int64_t>(first, 0)};
}

inline Case random_case(std::mt19937& random, Semiring semiring, double max_elements) {
  Case c;
  c.shape.semiring = semiring;
  const auto dtype = [&random] { return random() % 2 == 0 ? Dtype::float32 : Dtype::float64; };
  const std::size_t loops = random() % 6;
  double elements = 1;
  constexpr std::int64_t extents[] = {1, 2, 3, 4, 7, 8, 9, 16, 17, 31, 33, 64, 65, 130, 600, 1500};
  for (std::size_t l = 0; l < loops; ++l) {
    std::int64_t extent = random() % 40 == 0 ? 0 : extents[random() % std::size(extents)];
    if (elements * static_cast<double>(extent) > max_elements) extent = 2;
    elements *= static_cast<double>(std::max<std::int64_t>(extent, 1));
    c.shape.extent.push_back(extent);
    c.shape.role.push_back(static_cast<Role>(random() % 3));
  }
  c.shape.compute_dtype = dtype();
  c.shape.output_dtype = dtype();
  const std::int64_t powers[] = {1, 1, 1, 0, 3};
  c.shape.power = powers[random() % 5];
  const std::size_t inputs = random() % 8 == 0 ? 0 : 1 + random() % 4;
  const bool same = random() % 2 == 0;
  c.float_data.resize(inputs);
  c.double_data.resize(inputs);
  const double zeros = random() % 3 == 0 ? 0.5 : 0.0;
  for (std::size_t i = 0; i < inputs; ++i) {
    std::vector<std::size_t> carried;
    for (std::size_t l = 0; l < loops; ++l) {
      if (random() % 4 != 0) carried.push_back(l);
    }
    auto& stride = c.shape.input_stride.emplace_back(loops, 0);
    const auto [size, first] = place(random, c.shape.extent, carried, stride);
    c.shape.input_dtype.push_back(same ? c.shape.compute_dtype : dtype());
    if (c.shape.input_dtype[i] == Dtype::float32) {
      for (std::int64_t e = 0; e < size; ++e)
        c.float_data[i].push_back(static_cast<float>(entry(random, semiring, zeros)));
      c.inputs.push_back(c.float_data[i].data() + first);
    } else {
      for (std::int64_t e = 0; e < size; ++e) c.double_data[i].push_back(entry(random, semiring, zeros));
      c.inputs.push_back(c.double_data[i].data() + first);
    }
  }
  std::vector<std::size_t> kept;
  for (std::size_t l = 0; l < loops; ++l) {
    if (c.shape.role[l] == Role::kept) kept.push_back(l);
  }
  c.shape.output_stride.assign(loops, 0);
  std::tie(c.output_size, c.output_first) = place(random, c.shape.extent, kept, c.shape.output_stride);
  return c;
}

inline std::string describe(const ContractionShape& shape) {
  std::string text(name(shape.semiring));
  text += " compute " + std::string(name(shape.compute_dtype)) + " power " + std::to_string(shape.power);
  for (std::size_t l = 0; l < shape.extent.size(); ++l) {
    text += "\n  " + std::string(1, "kps"[static_cast<int>(shape.role[l])]) + std::to_string(shape.extent[l]) +
            " out " + std::to_string(shape.output_stride[l]) + " in";
    for (const auto& stride : shape.input_stride) text += " " + std::to_string(stride[l]);
  }
  return text;
}

/// The error relative to the value, or in the additive semirings to the larger of the value and the number of factors.
inline double relative_error(const ContractionShape& shape, double value, long double exact) {
  if (static_cast<double>(exact) == value) return 0.0;
  if (std::isnan(value) || std::isinf(value) != std::isinf(static_cast<double>(exact))) {
    return std::numeric_limits<double>::infinity();
  }
  long double scale = std::abs(exact);
  if (shape.semiring != Semiring::real && shape.semiring != Semiring::max_product) {
    long double factors =
        10.0L * static_cast<long double>(shape.input_stride.size() * std::max<std::int64_t>(shape.power, 1));
    for (std::size_t l = 0; l < shape.extent.size(); ++l) {
      if (shape.role[l] == Role::product) factors *= static_cast<long double>(shape.extent[l]);
    }
    scale = std::max(scale, factors);
  }
  return static_cast<double>(std::abs(static_cast<long double>(value) - exact) / scale);
}

/// Runs both ways round, compares bits, and returns the worst error against the nested loops.
inline double worst_error(const Case& c, const Strategy& strategy) {
  const bool is_float = c.shape.output_dtype == Dtype::float32;
  const auto count = static_cast<std::size_t>(c.output_size);
  std::vector<float> floats(count, -777.0f);
  std::vector<double> doubles(count, -777.0);
  void* output = is_float ? static_cast<void*>(floats.data() + c.output_first) : doubles.data() + c.output_first;
  run(strategy, c.inputs, output);
  const auto floats_before = floats;
  const auto doubles_before = doubles;
  run(strategy, c.inputs, output, true);
  EXPECT_EQ(std::memcmp(floats.data(), floats_before.data(), count * 4), 0);
  EXPECT_EQ(std::memcmp(doubles.data(), doubles_before.data(), count * 8), 0);
  double worst = 0;
  std::int64_t untouched = c.output_size;
  naive_contraction(c.shape, c.inputs, [&](std::int64_t offset, long double exact) {
    const std::int64_t at = c.output_first + offset;
    const double value = is_float ? floats[static_cast<std::size_t>(at)] : doubles[static_cast<std::size_t>(at)];
    const bool out_of_range = is_float && std::abs(exact) > 3e38L;
    const bool vanishes = (is_float && std::abs(exact) < 1e-37L) || std::abs(exact) < 1e-300L;
    if (!out_of_range && !(vanishes && std::abs(value) < 1e-36)) {
      worst = std::max(worst, relative_error(c.shape, value, exact));
    }
    --untouched;
  });
  const auto left =
      is_float ? std::count(floats.begin(), floats.end(), -777.0f) : std::count(doubles.begin(), doubles.end(), -777.0);
  EXPECT_EQ(left, untouched) << "writes exactly the kept indices";
  return worst;
}

/// What worst_error may be: products of many slices multiply errors in the multiplicative semirings.
inline double tolerance(const ContractionShape& shape) {
  const bool floats = shape.compute_dtype == Dtype::float32 || shape.output_dtype == Dtype::float32;
  const double unit = floats ? 5e-7 : 1e-14;
  if (shape.semiring != Semiring::real && shape.semiring != Semiring::max_product) return unit;
  double slices = static_cast<double>(std::max<std::int64_t>(shape.power, 1));
  for (std::size_t l = 0; l < shape.extent.size(); ++l) {
    if (shape.role[l] == Role::product) slices *= static_cast<double>(shape.extent[l]);
  }
  return unit * (1 + slices);
}

}  // namespace plated::kernels::testing
