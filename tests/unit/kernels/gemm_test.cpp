// The packed matrix product against a naive long-double loop, in every semiring and on every SIMD target.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>

#include "kernels/targets.hpp"

#include "hwy/highway.h"
#include "unit/kernels/gemm_problem.hpp"

namespace plated::kernels {
namespace {

constexpr Semiring all_semirings[] = {Semiring::real,     Semiring::log,         Semiring::max_plus,
                                      Semiring::min_plus, Semiring::max_product, Semiring::boolean};
constexpr double infinity = std::numeric_limits<double>::infinity();

double random_entry(Semiring semiring, double scale, double zeros, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  const bool zero = unit(random) < zeros;
  switch (semiring) {
    case Semiring::real:
    case Semiring::max_product:
      return zero ? 0.0 : 0.5 + unit(random);
    case Semiring::log:
    case Semiring::max_plus:
      return zero ? -infinity : scale * (unit(random) - 0.5);
    case Semiring::min_plus:
      return zero ? infinity : scale * (unit(random) - 0.5);
    case Semiring::boolean:
      return unit(random) < 0.6 ? 0.0 : unit(random) - 0.5;
  }
  return 0.0;
}

/// Lays out the loops that an operand has, in random order, with gaps and reversals. Returns the strides.
std::vector<std::int64_t> random_strides(const std::vector<std::int64_t>& extent, const std::vector<bool>& present,
                                         std::mt19937& random, std::int64_t& size, std::int64_t& origin) {
  std::vector<std::size_t> order(extent.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::int64_t> stride(extent.size(), 0);
  size = 1;
  origin = 0;
  for (const std::size_t loop : order) {
    if (!present[loop]) continue;
    const std::int64_t gap = random() % 5 == 0 ? 1 : 0;
    stride[loop] = random() % 4 == 0 ? -size : size;
    if (stride[loop] < 0) origin += size * (extent[loop] - 1);
    size *= extent[loop] + gap;
  }
  return stride;
}

std::int64_t operations(const ContractionShape& shape) {
  return std::accumulate(shape.extent.begin(), shape.extent.end(), std::int64_t{1}, std::multiplies<>());
}

Problem random_problem(Semiring semiring, std::mt19937& random) {
  Problem problem;
  ContractionShape& shape = problem.shape;
  shape.semiring = semiring;
  std::vector<bool> in_a, in_b, in_out;
  const auto loops = [&](Role role, std::uint32_t least, std::uint32_t most, std::int64_t longest, auto&& where) {
    for (auto i = least + random() % (most - least + 1); i-- > 0;) {
      shape.extent.push_back(1 + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(longest)));
      shape.role.push_back(role);
      const auto [a, b] = where();
      in_a.push_back(a);
      in_b.push_back(b);
      in_out.push_back(role == Role::kept);
    }
  };
  loops(Role::kept, 1, 3, random() % 4 == 0 ? 40 : 7, [] { return std::pair(true, false); });
  loops(Role::kept, 1, 3, random() % 4 == 0 ? 40 : 7, [] { return std::pair(false, true); });
  loops(Role::sum, 1, 2, random() % 8 == 0 ? 300 : 9, [] { return std::pair(true, true); });
  loops(Role::kept, 0, 2, 3, [&] { return random() % 4 == 0 ? std::pair(false, false) : std::pair(true, true); });
  loops(Role::product, 0, 2, 4, [&] {
    const bool in_left = random() % 2 == 0;
    return std::pair(in_left, random() % 8 == 0 ? false : !in_left || random() % 2 == 0);
  });
  // The naive twin is slow.
  if (operations(shape) > 20000) return random_problem(semiring, random);
  // Loops come in any order.
  std::vector<std::size_t> order(shape.extent.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  const auto reorder = [&order](auto& values) {
    auto result = values;
    for (std::size_t i = 0; i < order.size(); ++i) result[i] = values[order[i]];
    values = result;
  };
  reorder(shape.extent);
  reorder(shape.role);
  reorder(in_a);
  reorder(in_b);
  reorder(in_out);

  const auto dtype = [&random] { return random() % 2 == 0 ? Dtype::float32 : Dtype::float64; };
  const double scale = random() % 3 == 0 ? 400.0 : 4.0, zeros = random() % 2 == 0 ? 0.0 : 0.4;
  for (const std::vector<bool>& present : {in_a, in_b}) {
    std::int64_t size = 0, origin = 0;
    shape.input_stride.push_back(random_strides(shape.extent, present, random, size, origin));
    shape.input_dtype.push_back(dtype());
    Buffer buffer;
    buffer.resize(shape.input_dtype.back(), size, origin);
    for (std::int64_t i = 0; i < size; ++i) buffer.set(i, random_entry(semiring, scale, zeros, random));
    problem.inputs.push_back(std::move(buffer));
  }
  std::int64_t size = 0, origin = 0;
  shape.output_stride = random_strides(shape.extent, in_out, random, size, origin);
  shape.output_dtype = dtype();
  shape.compute_dtype = dtype();
  shape.power = random() % 4 == 0 ? 1 + static_cast<std::int64_t>(random() % 3) : 1;
  return problem;
}

/// A row-major float matrix product of one dtype, entries 0.
Problem matrix_problem(Semiring semiring, Dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem problem;
  problem.shape = {.semiring = semiring,
                   .extent = {m, n, k},
                   .role = {Role::kept, Role::kept, Role::sum},
                   .input_stride = {{k, 0, 1}, {0, 1, n}},
                   .input_dtype = {dtype, dtype},
                   .output_stride = {n, 1, 0},
                   .output_dtype = dtype,
                   .compute_dtype = dtype,
                   .power = 1};
  problem.inputs.resize(2);
  problem.inputs[0].resize(dtype, m * k, 0);
  problem.inputs[1].resize(dtype, k * n, 0);
  return problem;
}

double largest_entry(const Problem& problem) {
  double largest = 0.0;
  for (const Buffer& input : problem.inputs) {
    for (std::int64_t i = 0; i < input.size(); ++i) {
      if (std::isfinite(input.get(i))) largest = std::max(largest, std::abs(input.get(i)));
    }
  }
  return largest;
}

/// Allows one part in 1e6 or 1e14 of what was added up on the way to a result, for each factor of its product.
void expect_near(const Problem& problem, const Buffer& output, const std::vector<long double>& expected) {
  const ContractionShape& shape = problem.shape;
  const bool narrow = shape.compute_dtype == Dtype::float32 || shape.output_dtype == Dtype::float32;
  double precision = (narrow ? 1e-6 : 1e-14) * static_cast<double>(shape.power);
  for (std::size_t i = 0; i < shape.extent.size(); ++i) {
    if (shape.role[i] == Role::product) precision *= static_cast<double>(shape.extent[i]);
  }
  const bool additive =
      shape.semiring == Semiring::log || shape.semiring == Semiring::max_plus || shape.semiring == Semiring::min_plus;
  const double magnitude = 1.0 + 2.0 * largest_entry(problem);
  for (std::int64_t i = 0; i < output.size(); ++i) {
    const double value = output.get(i), right = static_cast<double>(expected[i]);
    if (std::isinf(right)) {
      ASSERT_EQ(value, right) << "at " << i;
    } else {
      ASSERT_NEAR(value, right, precision * (additive ? magnitude : std::abs(right))) << "at " << i;
    }
  }
}

/// The value of the parameter is one bit of Highway's target mask.
class GemmOnTarget : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    hwy::SetSupportedTargetsForTest(GetParam());
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

INSTANTIATE_TEST_SUITE_P(Targets, GemmOnTarget, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

TEST_P(GemmOnTarget, AgreesWithNaiveLoopsOnRandomShapes) {
  int tested = 0;
  for (const Semiring semiring : all_semirings) {
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
      SCOPED_TRACE(testing::Message() << name(semiring) << ", seed " << seed);
      std::mt19937 random(seed);
      Problem problem = random_problem(semiring, random);
      const std::unique_ptr<Strategy> gemm = make_gemm(problem.shape);
      if (gemm == nullptr) continue;
      ++tested;
      const Buffer output = run(*gemm, problem);
      expect_near(problem, output, naive(problem));
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(tested, 200);
}

TEST_P(GemmOnTarget, AgreesWithNaiveLoopsOnSeveralBlocksAndTiles) {
  for (const Semiring semiring : all_semirings) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      SCOPED_TRACE(testing::Message() << name(semiring) << ", " << name(dtype));
      std::mt19937 random(7);
      Problem problem = matrix_problem(semiring, dtype, 513, 9, 260);
      for (Buffer& input : problem.inputs) {
        for (std::int64_t i = 0; i < input.size(); ++i) input.set(i, random_entry(semiring, 6.0, 0.2, random));
      }
      const std::unique_ptr<Strategy> gemm = make_gemm(problem.shape);
      ASSERT_NE(gemm, nullptr);
      EXPECT_GT(gemm->tasks(), 1);
      expect_near(problem, run(*gemm, problem), naive(problem));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(GemmOnTarget, KeepsTermsThatExponentialsWouldLose) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    for (const double g : {50.0, 200.0, 1e4, 1e30}) {
      for (const std::int64_t k : {std::int64_t{5}, std::int64_t{64}, std::int64_t{300}}) {
        SCOPED_TRACE(testing::Message() << name(dtype) << ", g = " << g << ", k = " << k);
        Problem problem = matrix_problem(Semiring::log, dtype, 17, 19, k);
        for (std::int64_t i = 0; i < k; ++i) {
          problem.inputs[0].set(5 * k + i, i == 0 ? 0.0 : i == 1 ? -g : -infinity);
          problem.inputs[1].set(i * 19 + 7, i == 0 ? -g : i == 1 ? 0.0 : -infinity);
        }
        const std::unique_ptr<Strategy> gemm = make_gemm(problem.shape);
        ASSERT_NE(gemm, nullptr);
        const Buffer output = run(*gemm, problem);
        const double expected = -g + std::log(2.0);
        const double precision = dtype == Dtype::float32 ? 1e-7 : 1e-15;
        EXPECT_NEAR(output.get(5 * 19 + 7), expected, precision * g);
        EXPECT_NEAR(output.get(0), std::log(static_cast<double>(k)), 1e-6);
      }
    }
  }
}

TEST_P(GemmOnTarget, KeepsZerosInLogSpaceFreeOfNaN) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    std::mt19937 random(3);
    Problem problem = matrix_problem(Semiring::log, dtype, 24, 40, 32);
    // Block diagonal, deep on one side: shallow zeros, deep zeros, whole rows and columns of zeros.
    for (std::int64_t i = 0; i < 24; ++i) {
      for (std::int64_t k = 0; k < 32; ++k) {
        problem.inputs[0].set(i * 32 + k, i == 3 || (i < 12) != (k < 16)
                                              ? -infinity
                                              : static_cast<double>(k) * (i % 2 == 0 ? -90.0 : -0.5));
      }
    }
    for (std::int64_t k = 0; k < 32; ++k) {
      for (std::int64_t j = 0; j < 40; ++j) {
        problem.inputs[1].set(k * 40 + j, j == 9 || (j < 20) != (k < 16) ? -infinity : -0.1 * static_cast<double>(j));
      }
    }
    const std::unique_ptr<Strategy> gemm = make_gemm(problem.shape);
    ASSERT_NE(gemm, nullptr);
    expect_near(problem, run(*gemm, problem), naive(problem));
  }
}

TEST_P(GemmOnTarget, SplitsALongProductOverASmallOutput) {
  for (const Semiring semiring : {Semiring::log, Semiring::real, Semiring::max_plus}) {
    constexpr std::int64_t slices = 3000;
    Problem problem = matrix_problem(semiring, Dtype::float64, 8, 9, 8);
    problem.shape.extent.push_back(slices);
    problem.shape.role.push_back(Role::product);
    problem.shape.input_stride[0].push_back(64);
    problem.shape.input_stride[1].push_back(0);
    problem.shape.output_stride.push_back(0);
    problem.shape.power = 2;
    problem.inputs[0].resize(Dtype::float64, 64 * slices, 0);
    std::mt19937 random(11);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    // In the real semiring entries near ⅛ keep the long product in range.
    for (std::int64_t i = 0; i < problem.inputs[0].size(); ++i)
      problem.inputs[0].set(i, 0.125 + 1e-3 * (unit(random) - 0.5));
    for (std::int64_t i = 0; i < 72; ++i) problem.inputs[1].set(i, semiring == Semiring::real ? 1.0 : unit(random));
    const std::unique_ptr<Strategy> gemm = make_gemm(problem.shape);
    ASSERT_NE(gemm, nullptr);
    EXPECT_GT(gemm->tasks(), 1);
    EXPECT_GT(gemm->shared_scratch_bytes(), 0U);
    const Buffer output = run(*gemm, problem);
    expect_near(problem, output, naive(problem));
    EXPECT_EQ(output.doubles, run(*gemm, problem, true).doubles);
  }
}

TEST(Gemm, GivesTheSameBitsInAnyOrderOfTasks) {
  for (const Semiring semiring : all_semirings) {
    std::mt19937 random(5);
    Problem problem = matrix_problem(semiring, Dtype::float32, 540, 530, 270);
    for (Buffer& input : problem.inputs) {
      for (std::int64_t i = 0; i < input.size(); ++i) input.set(i, random_entry(semiring, 8.0, 0.1, random));
    }
    const std::unique_ptr<Strategy> gemm = make_gemm(problem.shape);
    ASSERT_NE(gemm, nullptr);
    ASSERT_GT(gemm->tasks(), 1);
    EXPECT_EQ(run(*gemm, problem).floats, run(*gemm, problem, true).floats) << name(semiring);
  }
}

TEST(Gemm, StaysPreciseInLongSums) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    std::mt19937 random(13);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    Problem problem = matrix_problem(Semiring::real, dtype, 40, 40, 1000);
    for (Buffer& input : problem.inputs) {
      for (std::int64_t i = 0; i < input.size(); ++i) input.set(i, unit(random));
    }
    const Buffer output = run(*make_gemm(problem.shape), problem);
    const std::vector<long double> expected = naive(problem);
    double worst = 0.0;
    for (std::int64_t i = 0; i < output.size(); ++i) {
      worst = std::max(worst, static_cast<double>(std::abs(output.get(i) / expected[i] - 1.0L)));
    }
    RecordProperty(dtype == Dtype::float32 ? "float32_error" : "float64_error", std::to_string(worst));
    EXPECT_LT(worst, dtype == Dtype::float32 ? 1e-6 : 1e-14);
  }
}

TEST(Gemm, RefusesWhatIsNoMatrixProductOrTooSmall) {
  const auto made = [](const auto& change) {
    Problem problem = matrix_problem(Semiring::log, Dtype::float64, 16, 16, 16);
    change(problem.shape);
    return make_gemm(problem.shape) != nullptr;
  };
  EXPECT_TRUE(made([](ContractionShape&) {}));
  EXPECT_FALSE(made([](ContractionShape& s) { s.input_stride.pop_back(), s.input_dtype.pop_back(); })) << "one input";
  EXPECT_FALSE(made([](ContractionShape& s) {
    s.input_stride.push_back({0, 0, 1}), s.input_dtype.push_back(Dtype::float64);
  })) << "three inputs";
  EXPECT_FALSE(made([](ContractionShape& s) { s.input_stride[0][2] = 0; })) << "a sum in one input only";
  EXPECT_FALSE(made([](ContractionShape& s) { s.input_stride[0][2] = s.input_stride[1][2] = 0; })) << "a sum in none";
  EXPECT_FALSE(made([](ContractionShape& s) { s.extent[0] = 1; })) << "a row vector";
  EXPECT_FALSE(made([](ContractionShape& s) { s.extent[1] = 1; })) << "a column vector";
  EXPECT_FALSE(made([](ContractionShape& s) { s.extent[2] = 1; })) << "an outer product";
  EXPECT_FALSE(made([](ContractionShape& s) { s.extent = {4, 4, 4}; })) << "too few exponentials to save";
  EXPECT_FALSE(made([](ContractionShape& s) { s.extent[2] = 0; })) << "an empty sum";
  EXPECT_FALSE(made([](ContractionShape& s) { s.extent[0] = 0; })) << "an empty output";
  EXPECT_FALSE(made([](ContractionShape& s) { s.power = 0; })) << "an empty power";
  EXPECT_FALSE(made([](ContractionShape& s) { s.role[0] = Role::product, s.output_stride[0] = 0; })) << "no rows";
}

}  // namespace
}  // namespace plated::kernels
