// Weighted sums against nested loops in long double, on random shapes, and at the edges of their numerics.
#include "kernels/weighted_sum.hpp"

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

#include "hwy/highway.h"
#include "unit/kernels/random_contraction.hpp"
#include "unit/kernels/run_contraction.hpp"

namespace plated::kernels {
namespace {

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
  bool operator==(const Memory& other) const {
    return floats.size() == other.floats.size() && doubles.size() == other.doubles.size() &&
           std::memcmp(floats.data(), other.floats.data(), floats.size() * 4) == 0 &&
           std::memcmp(doubles.data(), other.doubles.data(), doubles.size() * 8) == 0;
  }
};

struct Case {
  WeightedSumShape shape;
  std::vector<Memory> inputs;  // added, subtracted, factors
  std::vector<std::int64_t> first;
  std::int64_t output_size = 1;
  std::int64_t output_first = 0;
};

std::vector<const WeightedSumShape::Input*> inputs_in_order(const WeightedSumShape& shape) {
  std::vector<const WeightedSumShape::Input*> all;
  for (const auto* list : {&shape.added, &shape.subtracted, &shape.factors}) {
    for (const auto& input : *list) all.push_back(&input);
  }
  return all;
}

std::string describe(const WeightedSumShape& shape) {
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

Exact exact_sum(const Case& c, std::vector<std::int64_t>& index) {
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
void check(Case& c) {
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

Case random_case(std::mt19937& random, double max_elements) {
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

TEST(WeightedSum, MatchesNestedLoops) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 1500; ++trial) {
    Case c = random_case(random, trial % 10 == 0 ? 300'000 : 10'000);
    SCOPED_TRACE("trial " + std::to_string(trial) + " " + describe(c.shape));
    check(c);
    if (HasFatalFailure()) return;
  }
}

class WeightedSumTargets : public ::testing::Test {
 protected:
  static void use(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  void TearDown() override { use(0); }
};

TEST_F(WeightedSumTargets, AgreeWithNestedLoops) {
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    use(target);
    std::mt19937 random(23);
    for (int trial = 0; trial < 150; ++trial) {
      Case c = random_case(random, 10'000);
      SCOPED_TRACE(hwy::TargetName(target) + (" trial " + std::to_string(trial)) + " " + describe(c.shape));
      check(c);
      if (HasFatalFailure()) return;
    }
  }
}

/// A factor of b, c, i, j, its sum S over c, and masses g of (b, i).
struct Large {
  std::int64_t b, c, i, j;
  bool c_inside;  // F is [i][j][b][c]

  [[nodiscard]] Case make(const std::vector<bool>& summed, double offset, Dtype output) const {
    Case large;
    auto& shape = large.shape;
    shape.extent = {b, c, i, j};
    shape.summed = summed;
    const std::vector<std::int64_t> f = c_inside ? std::vector<std::int64_t>{c, 1, j * b * c, b * c}
                                                 : std::vector<std::int64_t>{c * i * j, i * j, j, 1};
    const std::vector<std::int64_t> s =
        c_inside ? std::vector<std::int64_t>{1, 0, j * b, b} : std::vector<std::int64_t>{i * j, 0, j, 1};
    shape.added = {{f, Dtype::float32}};
    shape.subtracted = {{s, Dtype::float64}};
    shape.factors = {{{i, 0, 1, 0}, Dtype::float64}};
    shape.output_dtype = output;
    shape.compute_dtype = Dtype::float32;
    shape.output_stride.assign(4, 0);
    std::array<std::size_t, 4> order = {0, 1, 2, 3};
    std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return f[x] < f[y]; });
    for (const std::size_t l : order) {
      if (summed[l]) continue;
      shape.output_stride[l] = large.output_size;
      large.output_size *= shape.extent[l];
    }
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    large.inputs = {Memory(Dtype::float32, static_cast<std::size_t>(b * c * i * j)),
                    Memory(Dtype::float64, static_cast<std::size_t>(b * i * j)),
                    Memory(Dtype::float64, static_cast<std::size_t>(b * i))};
    large.first = {0, 0, 0};
    for (std::int64_t e = 0; e < b * c * i * j; ++e) large.inputs[0].set(e, offset - 5.0 * uniform(random));
    for (std::int64_t e = 0; e < b * i * j; ++e) large.inputs[1].set(e, offset + uniform(random));
    for (std::int64_t e = 0; e < b * i; ++e) large.inputs[2].set(e, uniform(random));
    return large;
  }
};

TEST(WeightedSum, FormsGradientsAndMarginalsOfALargeFactor) {
  const std::vector<std::vector<bool>> sums = {
      {false, false, false, false}, {true, false, false, false}, {false, true, false, true}, {true, true, true, true}};
  for (const bool c_inside : {false, true}) {
    for (const Large& large : {Large{8, 32, 33, 35, c_inside}, Large{7, 5, 40, 48, c_inside}}) {
      for (const auto& summed : sums) {
        for (const double offset : {0.0, -1e4}) {
          Case c = large.make(summed, offset, Dtype::float32);
          SCOPED_TRACE("offset " + std::to_string(offset) + " " + describe(c.shape));
          check(c);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(WeightedSum, WritesLargeOutputsAtAnyAlignment) {
  // More than 8 MiB of output: past the caches.
  for (const std::int64_t shift : {0, 1, 5, 7}) {
    Case c;
    c.shape.extent = {2048, 1031};
    c.shape.summed = {false, false};
    c.shape.added = {{{1031, 1}, Dtype::float32}};
    c.shape.subtracted = {{{0, 1}, Dtype::float64}};
    c.shape.output_stride = {1037, 1};
    c.shape.output_dtype = c.shape.compute_dtype = Dtype::float32;
    c.inputs = {Memory(Dtype::float32, 2048 * 1031), Memory(Dtype::float64, 1031)};
    for (std::int64_t i = 0; i < 2048 * 1031; ++i) c.inputs[0].set(i, -0.001 * static_cast<double>(i % 3001));
    for (std::int64_t i = 0; i < 1031; ++i) c.inputs[1].set(i, 0.001 * static_cast<double>(i));
    c.first = {0, 0};
    c.output_size = 2048 * 1037 + 8;
    c.output_first = shift;
    check(c);
    if (HasFatalFailure()) return;
  }
}

/// exp(a − n) · b of single numbers, in a vector's worth of lanes.
std::vector<double> weights(std::vector<double> a, Dtype a_dtype, std::vector<double> n, Dtype n_dtype,
                            std::vector<double> b, Dtype compute, bool surprisal = false) {
  const auto count = static_cast<std::int64_t>(a.size());
  WeightedSumShape shape;
  shape.extent = {count};
  shape.summed = {false};
  shape.added = {{{1}, a_dtype}};
  shape.subtracted = {{{1}, n_dtype}};
  shape.factors = {{{1}, Dtype::float64}};
  shape.output_stride = {1};
  shape.compute_dtype = compute;
  shape.surprisal = surprisal;
  std::vector<Memory> memory = {Memory(a_dtype, a.size()), Memory(n_dtype, a.size()), Memory(Dtype::float64, a.size())};
  for (std::int64_t i = 0; i < count; ++i) {
    memory[0].set(i, a[static_cast<std::size_t>(i)]);
    memory[1].set(i, n[static_cast<std::size_t>(i)]);
    memory[2].set(i, b[static_cast<std::size_t>(i)]);
  }
  Memory out(Dtype::float64, a.size(), untouched);
  testing::run(WeightedSum(shape), {memory[0].pointer(0), memory[1].pointer(0), memory[2].pointer(0)}, out.pointer(0));
  return out.doubles;
}

TEST(WeightedSum, ImpossibleTermsAreZeroAndNeverNaN) {
  const std::vector<double> a = {-infinity, -infinity, 0.0, 1.0, -1000.0, -90.0, -infinity, -1e5, 0.0};
  const std::vector<double> n = {0.0, -infinity, -infinity, 1.0, 0.0, 0.0, 5.0, 3.0, 0.0};
  const std::vector<double> b = {1.0, 1.0, 2.0, 0.0, 1.0, -1.0, 0.0, 4.0, 2.0};
  for (const Dtype compute : {Dtype::float32, Dtype::float64}) {
    for (const bool surprisal : {false, true}) {
      const auto out = weights(a, compute, n, Dtype::float64, b, compute, surprisal);
      for (std::size_t i = 0; i + 1 < a.size(); ++i) {
        if (i == 5 && compute == Dtype::float64) continue;  // e^−90 is an ordinary double
        EXPECT_EQ(out[i], 0.0) << i;
      }
      EXPECT_EQ(out.back(), surprisal ? 0.0 : 2.0);
    }
  }
}

TEST(WeightedSum, DifferencesOfLargeNumbersAreExact) {
  // Offsets that a float cannot hold together with the difference.
  std::vector<double> a;
  std::vector<double> n;
  for (int i = 0; i < 40; ++i) {
    a.push_back(1e7 + 0.125 * i);
    n.push_back(1e7 + 0.125 * i + 0.37 * (i % 5));
  }
  const std::vector<double> ones(a.size(), 1.0);
  const auto doubles = weights(a, Dtype::float64, n, Dtype::float64, ones, Dtype::float32);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(doubles[i], std::exp(a[i] - n[i]), 3e-7) << i;
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<double>(static_cast<float>(-1e4 - 0.3 * static_cast<double>(i)));
    n[i] = a[i] + 0.1 * static_cast<double>(i % 7);
  }
  const auto mixed = weights(a, Dtype::float32, n, Dtype::float64, ones, Dtype::float32);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(mixed[i], std::exp(a[i] - n[i]), 3e-7) << i;
}

TEST(WeightedSum, LongFloatSumsKeepTheirPrecision) {
  // A million equal terms: a float alone would be off by percents.
  constexpr std::int64_t count = 1'000'003;
  WeightedSumShape shape;
  shape.extent = {count};
  shape.summed = {true};
  shape.added = {{{1}, Dtype::float32}};
  shape.output_stride = {0};
  shape.compute_dtype = Dtype::float32;
  shape.accumulate = true;
  const std::vector<float> a(static_cast<std::size_t>(count), -2.3f);
  double out = 3.0;
  const WeightedSum sum(shape);
  EXPECT_GT(sum.tasks(), 4);
  testing::run(sum, {a.data()}, &out);
  const double expected = 3.0 + static_cast<double>(count) * std::exp(static_cast<double>(-2.3f));
  EXPECT_NEAR(out, expected, 3e-7 * expected);
}

TEST(WeightedSum, EmptySumsAreZero) {
  for (const bool accumulate : {false, true}) {
    WeightedSumShape shape;
    shape.extent = {3, 0};
    shape.summed = {false, true};
    shape.added = {{{0, 1}, Dtype::float64}};
    shape.output_stride = {2, 0};
    shape.accumulate = accumulate;
    std::vector<double> out(5, 7.0);
    testing::run(WeightedSum(shape), {nullptr}, out.data());
    const double sum = accumulate ? 7.0 : 0.0;
    EXPECT_EQ(out, (std::vector<double>{sum, 7.0, sum, 7.0, sum}));
  }
  WeightedSumShape nothing;
  nothing.extent = {0, 4};
  nothing.summed = {false, true};
  nothing.output_stride = {1, 0};
  testing::run(WeightedSum(nothing), {}, nullptr);
  WeightedSumShape scalar;
  scalar.scale = 2.5;
  double out = 0;
  testing::run(WeightedSum(scalar), {}, &out);
  EXPECT_EQ(out, 2.5);
}

TEST(WeightedSum, AGrowingFactorIsSplitIntoTasksByItsShape) {
  const Case c = Large{32, 32, 32, 32, false}.make({false, false, false, false}, 0.0, Dtype::float32);
  const std::int64_t tasks = WeightedSum(c.shape).tasks();
  EXPECT_GE(tasks, 4);
  EXPECT_LE(tasks, 32);
  const Case small = Large{2, 2, 8, 8, false}.make({false, false, false, false}, 0.0, Dtype::float32);
  EXPECT_EQ(WeightedSum(small.shape).tasks(), 1);
}

}  // namespace
}  // namespace plated::kernels
