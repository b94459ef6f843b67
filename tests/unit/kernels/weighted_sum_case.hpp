// Random weighted sums, and the same by nested loops in long double.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/weighted_sum.hpp"
#include "unit/kernels/random_contraction.hpp"
#include "unit/kernels/run_contraction.hpp"

namespace plated::kernels {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double untouched = -777.0;

/// Memory of either type.
struct Memory {
  Dtype dtype = Dtype::float64;
  std::vector<float> floats;
  std::vector<double> doubles;

  Memory(Dtype which, std::size_t size, double value = 0) : dtype(which) {
    if (dtype == Dtype::float32) {
      floats.assign(size, static_cast<float>(value));
    } else {
      doubles.assign(size, value);
    }
  }
  [[nodiscard]] std::size_t size() const { return dtype == Dtype::float32 ? floats.size() : doubles.size(); }
  [[nodiscard]] double get(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return dtype == Dtype::float32 ? static_cast<double>(floats[at]) : doubles[at];
  }
  void set(std::int64_t i, double value) {
    const auto at = static_cast<std::size_t>(i);
    if (dtype == Dtype::float32) {
      floats[at] = static_cast<float>(value);
    } else {
      doubles[at] = value;
    }
  }
  [[nodiscard]] void* pointer(std::int64_t i) {
    return dtype == Dtype::float32 ? static_cast<void*>(floats.data() + i) : doubles.data() + i;
  }
  bool operator==(const Memory& other) const { return alike(floats, other.floats) && alike(doubles, other.doubles); }

 private:
  /// Bit for bit: an untouched NaN is as it was.
  template <class T>
  static bool alike(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
  }
};

struct Case {
  WeightedSumShape shape;
  std::vector<Memory> inputs;  // added, subtracted, factors
  std::vector<std::int64_t> first;
  std::int64_t output_size = 1;
  std::int64_t output_first = 0;
};

inline std::vector<const WeightedSumShape::Input*> inputs_in_order(const WeightedSumShape& shape) {
  std::vector<const WeightedSumShape::Input*> all;
  for (const auto* list : {&shape.added, &shape.subtracted, &shape.factors}) {
    for (const auto& input : *list) all.push_back(&input);
  }
  return all;
}

inline std::string describe(const WeightedSumShape& shape) {
  std::string text = "compute " + std::string(name(shape.compute_dtype)) + " out " +
                     std::string(name(shape.output_dtype)) + " a " + std::to_string(shape.added.size()) + " n " +
                     std::to_string(shape.subtracted.size()) + " b " + std::to_string(shape.factors.size()) +
                     (shape.accumulate ? " accumulate" : "") + (shape.surprisal ? " surprisal" : "");
  for (std::size_t l = 0; l < shape.extent.size(); ++l) {
    text += "\n  " + std::string(shape.summed[l] ? "s" : "k") + std::to_string(shape.extent[l]) + " out " +
            std::to_string(shape.output_stride[l]) + " in";
    for (const auto* input : inputs_in_order(shape)) text += " " + std::to_string(input->stride[l]);
  }
  return text;
}

/// Calls back with every index of the loops that are (not) summed.
void each_index(const WeightedSumShape& shape, bool summed, std::vector<std::int64_t>& index, std::size_t l,
                const std::function<void()>& visit) {
  while (l < shape.extent.size() && shape.summed[l] != summed) ++l;
  if (l == shape.extent.size()) return visit();
  for (index[l] = 0; index[l] < shape.extent[l]; ++index[l]) each_index(shape, summed, index, l + 1, visit);
}

struct Exact {
  long double sum = 0;
  long double magnitude = 0;  // Σ |terms| · (1 + |log weight|): what rounding errors are relative to
};

inline Exact exact_sum(const Case& c, std::vector<std::int64_t>& index) {
  const auto inputs = inputs_in_order(c.shape);
  const std::size_t added = c.shape.added.size();
  const std::size_t logs = added + c.shape.subtracted.size();
  Exact exact;
  each_index(c.shape, true, index, 0, [&] {
    long double log = 0;
    long double product = 1;
    bool impossible = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::int64_t at = c.first[i];
      for (std::size_t l = 0; l < index.size(); ++l) at += index[l] * inputs[i]->stride[l];
      const double x = c.inputs[i].get(at);
      if (i >= logs) {
        product *= x;
      } else if (x == -infinity) {
        impossible = true;
      } else {
        log += i < added ? x : -x;
      }
    }
    if (impossible) return;
    long double term = std::exp(log) * product;
    long double magnitude = std::abs(term) * (1 + std::abs(log));
    if (c.shape.surprisal) {
      term *= -log;
      magnitude = std::abs(std::exp(log) * product) * (1 + std::abs(log)) * (1 + std::abs(log));
    }
    exact.sum += term;
    exact.magnitude += magnitude;
  });
  exact.sum *= c.shape.scale;
  exact.magnitude *= std::abs(c.shape.scale);
  return exact;
}

/// Runs both ways round, compares bits, and holds every output against the definition.
inline void check(Case& c) {
  const double before = c.shape.accumulate ? 0.25 : untouched;
  Memory output(c.shape.output_dtype, static_cast<std::size_t>(c.output_size), before);
  Memory again = output;
  std::vector<const void*> pointers;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) pointers.push_back(c.inputs[i].pointer(c.first[i]));
  const WeightedSum sum(c.shape);
  ASSERT_EQ(sum.shape(), c.shape);
  testing::run(sum, pointers, output.pointer(c.output_first));
  testing::run(sum, pointers, again.pointer(c.output_first), true);
  ASSERT_TRUE(output == again) << "tasks depend on their order";
  const bool floats = c.shape.compute_dtype == Dtype::float32 || c.shape.output_dtype == Dtype::float32;
  const double unit = floats ? 4e-7 : 2e-15;
  std::vector<std::int64_t> index(c.shape.extent.size(), 0);
  std::vector<bool> written(output.size(), false);
  each_index(c.shape, false, index, 0, [&] {
    std::int64_t at = c.output_first;
    for (std::size_t l = 0; l < index.size(); ++l) at += index[l] * c.shape.output_stride[l];
    written[static_cast<std::size_t>(at)] = true;
    const Exact exact = exact_sum(c, index);
    const long double expected = exact.sum + (c.shape.accumulate ? 0.25L : 0.0L);
    const auto error = static_cast<double>(std::abs(expected - static_cast<long double>(output.get(at))));
    ASSERT_LE(error, unit * (static_cast<double>(exact.magnitude) + (c.shape.accumulate ? 0.25 : 0.0)) + 1e-36)
        << "got " << output.get(at) << ", expected " << static_cast<double>(expected);
  });
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i]) continue;
    ASSERT_EQ(output.get(static_cast<std::int64_t>(i)), before) << "gaps are left alone";
  }
}

void add_input(Case& c, std::mt19937& random, std::vector<WeightedSumShape::Input>& list, bool factor, double zeros,
               std::size_t most_missing) {
  std::vector<std::size_t> carried;
  for (std::size_t l = 0; l < c.shape.extent.size(); ++l) {
    if (random() % 4 >= most_missing) carried.push_back(l);
  }
  WeightedSumShape::Input input;
  input.stride.assign(c.shape.extent.size(), 0);
  input.dtype = random() % 2 == 0 ? Dtype::float32 : Dtype::float64;
  const bool plain = random() % 2 == 0;  // row-major, as most are
  std::int64_t size = 1;
  std::int64_t first = 0;
  if (plain) {
    for (std::size_t k = carried.size(); k-- > 0;) {
      input.stride[carried[k]] = size;
      size *= std::max<std::int64_t>(c.shape.extent[carried[k]], 1);
    }
  } else {
    std::tie(size, first) = testing::place(random, c.shape.extent, carried, input.stride);
  }
  Memory memory(input.dtype, static_cast<std::size_t>(size));
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (std::int64_t i = 0; i < size; ++i) {
    const bool zero = uniform(random) < zeros;
    const double u = uniform(random);
    memory.set(i, factor ? (zero ? 0.0 : 2.0 * u - 0.7) : zero ? -infinity : 4.0 * u - 2.0);
  }
  c.inputs.push_back(std::move(memory));
  c.first.push_back(first);
  list.push_back(std::move(input));
}

inline Case random_case(std::mt19937& random, double max_elements) {
  Case c;
  const std::size_t loops = random() % 6;
  double elements = 1;
  constexpr std::int64_t extents[] = {1, 2, 3, 4, 7, 8, 9, 16, 17, 31, 33, 64, 65, 130, 600, 1500};
  const std::size_t sums = random() % 4;  // none, some, many, all
  for (std::size_t l = 0; l < loops; ++l) {
    std::int64_t extent = random() % 40 == 0 ? 0 : extents[random() % std::size(extents)];
    if (elements * static_cast<double>(extent) > max_elements) extent = 2;
    elements *= static_cast<double>(std::max<std::int64_t>(extent, 1));
    c.shape.extent.push_back(extent);
    c.shape.summed.push_back(random() % 3 < sums);
  }
  const auto dtype = [&random] { return random() % 2 == 0 ? Dtype::float32 : Dtype::float64; };
  c.shape.compute_dtype = dtype();
  c.shape.output_dtype = random() % 2 == 0 ? c.shape.compute_dtype : dtype();
  c.shape.scale = random() % 3 == 0 ? -1.5 : 1.0;
  c.shape.accumulate = random() % 4 == 0;
  c.shape.surprisal = random() % 5 == 0;
  const double zeros = random() % 3 == 0 ? 0.3 : 0.0;
  const std::size_t missing = random() % 4;
  const bool logs = random() % 5 != 0;
  if (!logs) c.shape.surprisal = false;
  const std::size_t most = random() % 8 == 0 ? 4 : 2;
  for (std::size_t n = logs ? random() % (most + 1) : 0; n > 0; --n) {
    add_input(c, random, c.shape.added, false, zeros, missing);
  }
  for (std::size_t n = logs ? random() % (most + 1) : 0; n > 0; --n) {
    add_input(c, random, c.shape.subtracted, false, zeros, missing);
  }
  for (std::size_t n = random() % (most + 1); n > 0; --n) {
    add_input(c, random, c.shape.factors, true, zeros, missing);
  }
  std::vector<std::size_t> kept;
  for (std::size_t l = 0; l < loops; ++l) {
    if (!c.shape.summed[l]) kept.push_back(l);
  }
  c.shape.output_stride.assign(loops, 0);
  if (random() % 2 == 0) {
    for (std::size_t k = kept.size(); k-- > 0;) {
      c.shape.output_stride[kept[k]] = c.output_size;
      c.output_size *= std::max<std::int64_t>(c.shape.extent[kept[k]], 1);
    }
  } else {
    std::tie(c.output_size, c.output_first) = testing::place(random, c.shape.extent, kept, c.shape.output_stride);
  }
  return c;
}

}  // namespace plated::kernels
