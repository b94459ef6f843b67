// Weighted sums against nested loops in long double, on random shapes and in numeric edge cases.
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
#include "sanitized.hpp"
#include "unit/kernels/weighted_sum_case.hpp"

namespace plated::kernels {
namespace {

TEST(WeightedSum, MatchesNestedLoops) {
  std::mt19937 random(5);
  for (int trial = 0; trial < test::cases(1500); ++trial) {
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
    for (int trial = 0; trial < test::cases(150); ++trial) {
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
