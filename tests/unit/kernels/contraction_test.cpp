// The choice of a strategy; each gives the same answer.
#include "kernels/contraction.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "unit/kernels/naive_contraction.hpp"
#include "unit/kernels/run_contraction.hpp"

namespace plated::kernels {
namespace {

ContractionShape matmul(Semiring semiring, std::int64_t n) {
  ContractionShape shape;
  shape.semiring = semiring;
  shape.extent = {n, n, n};
  shape.role = {Role::kept, Role::kept, Role::sum};
  shape.input_stride = {{n, 0, 1}, {0, 1, n}};
  shape.input_dtype = {Dtype::float64, Dtype::float64};
  shape.output_stride = {n, 1, 0};
  return shape;
}

TEST(Contraction, MatmulsAgreeWithNestedLoopsWhateverTheStrategy) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0.1, 2.0);
  for (const std::int64_t n : {1, 2, 5, 33, 70}) {
    const auto count = static_cast<std::size_t>(n * n);
    std::vector<double> a(count), b(count), out(count);
    for (auto& x : a) x = uniform(random);
    for (auto& x : b) x = uniform(random);
    for (const Semiring semiring : {Semiring::real, Semiring::log, Semiring::max_plus, Semiring::boolean}) {
      const Contraction contraction(matmul(semiring, n));
      SCOPED_TRACE(std::string(contraction.strategy()) + " " + std::string(name(semiring)) + " " + std::to_string(n));
      testing::run(contraction, {a.data(), b.data()}, out.data());
      testing::naive_contraction(contraction.shape(), {a.data(), b.data()}, [&](std::int64_t at, long double exact) {
        ASSERT_NEAR(out[static_cast<std::size_t>(at)], static_cast<double>(exact), 1e-11);
      });
    }
  }
}

TEST(Contraction, MovesAndKeepsItsShape) {
  const ContractionShape shape = matmul(Semiring::log, 4);
  Contraction first(shape);
  const Contraction second = std::move(first);
  EXPECT_EQ(second.shape(), shape);
  EXPECT_EQ(second.tasks(), 1);
}

TEST(Contraction, WithoutLoopsMultipliesItsInputs) {
  ContractionShape shape;
  shape.semiring = Semiring::real;
  shape.input_stride = {{}, {}};
  shape.input_dtype = {Dtype::float64, Dtype::float32};
  shape.power = 2;
  const double a = 3.0;
  const float b = 2.0f;
  double out = 0;
  testing::run(Contraction(shape), {&a, &b}, &out);
  EXPECT_EQ(out, 36.0);
}

}  // namespace
}  // namespace plated::kernels
