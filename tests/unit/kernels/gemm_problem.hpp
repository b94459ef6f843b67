// Contractions with data for tests of the matrix product: a naive long-double value, and runs in any order of tasks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "hwy/aligned_allocator.h"
#include "kernels/contraction.hpp"
#include "kernels/strategy.hpp"

namespace plated::kernels {

/// Elements of a run-time dtype; index 0 of every loop is at `origin`.
struct Buffer {
  Dtype dtype = Dtype::float64;
  std::vector<double> doubles;
  std::vector<float> floats;
  std::int64_t origin = 0;

  void resize(Dtype type, std::int64_t count, std::int64_t first) {
    dtype = type;
    origin = first;
    (type == Dtype::float32 ? floats.resize(count) : doubles.resize(count));
  }
  void set(std::int64_t i, double value) {
    dtype == Dtype::float32 ? (void)(floats[i] = static_cast<float>(value)) : (void)(doubles[i] = value);
  }
  [[nodiscard]] double get(std::int64_t i) const {
    return dtype == Dtype::float32 ? static_cast<double>(floats[i]) : doubles[i];
  }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(floats.size() + doubles.size()); }
  [[nodiscard]] void* data() {
    return dtype == Dtype::float32 ? static_cast<void*>(floats.data() + origin) : doubles.data() + origin;
  }
};

struct Problem {
  ContractionShape shape;
  std::vector<Buffer> inputs;

  [[nodiscard]] Buffer empty_output() const {
    std::int64_t low = 0, high = 0;
    for (std::size_t i = 0; i < shape.extent.size(); ++i) {
      const std::int64_t reach = shape.output_stride[i] * (shape.extent[i] - 1);
      (reach < 0 ? low : high) += reach;
    }
    Buffer output;
    output.resize(shape.output_dtype, high - low + 1, -low);
    for (std::int64_t i = 0; i < output.size(); ++i) output.set(i, -12345.0);
    return output;
  }
};

/// Visits every index of the loops with that role; `at` holds the offsets in the inputs, then in the output, and is
/// left as it was.
template <class Visit>
void for_each_index(const ContractionShape& shape, Role role, std::vector<std::int64_t>& at, const Visit& visit,
                    std::size_t loop = 0) {
  while (loop < shape.extent.size() && shape.role[loop] != role) ++loop;
  if (loop == shape.extent.size()) return visit();
  const auto step = [&](std::int64_t times) {
    for (std::size_t i = 0; i < shape.input_stride.size(); ++i) at[i] += times * shape.input_stride[i][loop];
    at.back() += times * shape.output_stride[loop];
  };
  for (std::int64_t i = 0; i < shape.extent[loop]; ++i, step(1)) for_each_index(shape, role, at, visit, loop + 1);
  step(-shape.extent[loop]);
}

inline long double naive_sum(Semiring semiring, const std::vector<long double>& a, const std::vector<long double>& b) {
  constexpr long double infinity = std::numeric_limits<long double>::infinity();
  long double result = semiring == Semiring::max_plus || semiring == Semiring::log ? -infinity
                       : semiring == Semiring::min_plus                            ? infinity
                                                                                   : 0.0L;
  for (std::size_t i = 0; i < a.size(); ++i) {
    switch (semiring) {
      case Semiring::real:
        result += a[i] * b[i];
        break;
      case Semiring::log:
      case Semiring::max_plus:
        result = std::max(result, a[i] + b[i]);
        break;
      case Semiring::min_plus:
        result = std::min(result, a[i] + b[i]);
        break;
      case Semiring::max_product:
        result = std::max(result, a[i] * b[i]);
        break;
      case Semiring::boolean:
        if (a[i] != 0 && b[i] != 0) result = 1;
        break;
    }
  }
  if (semiring != Semiring::log || result == -infinity) return result;
  long double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::exp(a[i] + b[i] - result);
  return result + std::log(sum);
}

/// The output as it should be, in long double, at the elements that the contraction writes; others keep −12345.
inline std::vector<long double> naive(const Problem& problem) {
  const ContractionShape& shape = problem.shape;
  const Buffer output = problem.empty_output();
  std::vector<long double> result(output.size(), -12345.0L);
  const bool additive =
      shape.semiring == Semiring::log || shape.semiring == Semiring::max_plus || shape.semiring == Semiring::min_plus;
  const Buffer &a = problem.inputs[0], &b = problem.inputs[1];
  std::vector<std::int64_t> at{a.origin, b.origin, output.origin};
  std::vector<long double> left, right;
  for_each_index(shape, Role::kept, at, [&] {
    long double total = additive ? 0 : 1;
    for_each_index(shape, Role::product, at, [&] {
      left.clear();
      right.clear();
      for_each_index(shape, Role::sum, at, [&] {
        left.push_back(a.get(at[0]));
        right.push_back(b.get(at[1]));
      });
      const long double sum = naive_sum(shape.semiring, left, right);
      additive ? total += sum : total *= sum;
    });
    const long double power = static_cast<long double>(shape.power);
    result[at[2]] = additive ? total * power : std::pow(total, power);
  });
  return result;
}

/// Runs all tasks, forwards or backwards, each on scratch full of NaN.
inline Buffer run(const Strategy& strategy, Problem& problem, bool backwards = false) {
  Buffer output = problem.empty_output();
  auto task_scratch = hwy::AllocateAligned<std::byte>(strategy.task_scratch_bytes() + 64);
  auto shared_scratch = hwy::AllocateAligned<std::byte>(strategy.shared_scratch_bytes() + 64);
  std::memset(shared_scratch.get(), 0xFF, strategy.shared_scratch_bytes());
  std::vector<const void*> inputs;
  for (Buffer& input : problem.inputs) inputs.push_back(input.data());
  for (std::int64_t i = 0; i < strategy.tasks(); ++i) {
    std::memset(task_scratch.get(), 0xFF, strategy.task_scratch_bytes());
    const std::int64_t task = backwards ? strategy.tasks() - 1 - i : i;
    strategy.run_task(task, inputs, output.data(), task_scratch.get(), shared_scratch.get());
  }
  strategy.finish(output.data(), shared_scratch.get());
  return output;
}

}  // namespace plated::kernels
