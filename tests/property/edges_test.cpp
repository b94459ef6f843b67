// Queries in edge cases: sizes of zero, one, many, very many.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "plated/einsum.hpp"
#include "property/expect_close.hpp"
#include "property/random_tensor.hpp"

namespace plated::test {
namespace {

const Tensor square = Tensor::of<double>({2, 2}, {1, 2, 3, 4});
EinsumOptions real(const char* plates = "", const char* batch = "") {
  return {.plates = plates, .batch = batch, .semiring = Semiring::real};
}
using Values = std::vector<double>;

TEST(Edges, ScalarsAlone) {
  const Tensor two = Tensor::scalar(2.0), three = Tensor::scalar(3.0);
  EXPECT_EQ(einsum("->", {two}, real()).item(), 2);
  EXPECT_EQ(einsum(",->", {two, three}, real()).item(), 6);
  EXPECT_EQ(einsum("->", {}, real()).item(), 1);
  EXPECT_EQ(einsum("->", {}).item(), 0);
  EXPECT_EQ(einsum("->", {Tensor::scalar(2.5F)}).dtype(), Dtype::float32);
}

TEST(Edges, NoOutputsMeanTheTotal) {
  FactorGraph graph;
  graph.variable("x", 2);
  graph.factor("f", {"x"});
  const RunOptions run{.semiring = Semiring::real};
  EXPECT_EQ(compile(graph).run({Tensor::of<double>({2}, {1, 2})}, run).at(0).item(), 3);
  EXPECT_EQ(compile(graph.asking({})).run({Tensor::of<double>({2}, {1, 2})}, run).at(0).item(), 3);
  EXPECT_EQ(compile(FactorGraph()).run(std::vector<Tensor>{}, run).at(0).item(), 1);
}

TEST(Edges, EmptyPlatesAreOneAndEmptyDomainsAreZero) {
  const Tensor no_slices(Dtype::float64, {0, 2}), no_states(Dtype::float64, {2, 0}), neither(Dtype::float64, {0, 0});
  EXPECT_EQ(einsum("ix->", {no_slices}, real("i")).item(), 1);
  EXPECT_EQ(einsum("ix->", {no_states}, real("i")).item(), 0);
  EXPECT_EQ(einsum("ix->", {neither}, real("i")).item(), 1);
  EXPECT_EQ(einsum("ix->ix", {no_slices}, real("i")).elements(), 0);
  EXPECT_EQ(einsum("ix->i", {no_states}, real("i")).values(), (Values{0, 0}));
  EXPECT_EQ(einsum("x,ix->x", {Tensor::of<double>({2}, {5, 6}), no_slices}, real("i")).values(), (Values{5, 6}));
  EXPECT_EQ(einsum("nx->", {no_slices}, real("", "n")).elements(), 0);
  EXPECT_EQ(einsum("nx->", {no_states}, real("", "n")).values(), (Values{0, 0}));
  EXPECT_EQ(einsum("ab,bc->ac", {Tensor(Dtype::float64, {2, 0}), Tensor(Dtype::float64, {0, 2})}, real()).values(),
            Values(4, 0.0));
}

TEST(Edges, SizesOfOne) {
  const Tensor one = Tensor::of<double>({1, 1}, {7});
  EXPECT_EQ(einsum("ix->", {one}, real("i")).item(), 7);
  EXPECT_EQ(einsum("ix->xi", {one}, real("i")).values(), Values{7});
  EXPECT_EQ(einsum("ix,ix->i", {one, one}, real("i")).values(), Values{49});
  EXPECT_EQ(
      einsum("x,ix->ix", {Tensor::of<double>({2}, {1, 10}), Tensor::of<double>({1, 2}, {2, 3})}, real("i")).values(),
      (Values{2, 30}));
}

TEST(Edges, OneVariable) {
  EXPECT_EQ(einsum("x->", {Tensor::of<double>({3}, {1, 2, 3})}, real()).item(), 6);
  EXPECT_EQ(einsum("x->x", {Tensor::of<double>({3}, {1, 2, 3})}, real()).values(), (Values{1, 2, 3}));
}

TEST(Edges, TheSameTensorTwice) {
  EXPECT_EQ(einsum("ab,ab->", {square, square}, real()).item(), 30);
  EXPECT_EQ(einsum("ab,bc->ac", {square, square}, real()).values(), (Values{7, 10, 15, 22}));
  EXPECT_EQ(einsum("ab,ba->", {square, square}, real()).item(), 29);
  EXPECT_EQ(einsum("aa,aa->a", {square, square}, real()).values(), (Values{1, 16}));
  EXPECT_EQ(einsum_all("ab,bc->ac,ca,ac,", {square, square}, real())[2].values(), (Values{7, 10, 15, 22}));
}

TEST(Edges, AMillionSlices) {
  const std::int64_t slices = 1000000;
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    Random random(1);
    const Tensor a = random_tensor(dtype, {2}, random, Semiring::log);
    const Tensor b = random_tensor(dtype, {2, 3, slices}, random, Semiring::log);
    const std::vector<double> x = a.values(), y = b.values();
    double total[2];
    for (std::size_t s = 0; s < 2; ++s) {
      long double product = x[s];
      for (std::size_t i = 0; i < static_cast<std::size_t>(slices); ++i) {
        long double sum = -oracle::infinity;
        for (std::size_t k = 0; k < 3; ++k)
          sum = oracle::add(Semiring::log, sum, y[(s * 3 + k) * static_cast<std::size_t>(slices) + i]);
        product += sum;
      }
      total[s] = static_cast<double>(product);
    }
    const double relative = dtype == Dtype::float32 ? 1e-6 : 1e-13;
    const Tensor kept = einsum("a,abi->a", {a, b}, {.plates = "i"});
    for (std::size_t s = 0; s < 2; ++s) EXPECT_NEAR(kept.values()[s], total[s], relative * std::abs(total[s]));
    const double all = static_cast<double>(oracle::add(Semiring::log, total[0], total[1]));
    EXPECT_NEAR(einsum("a,abi->", {a, b}, {.plates = "i"}).item(), all, relative * std::abs(all));
  }
}

/// Names of this length, and this many, broke other einsums.
std::string long_name(std::size_t k) { return "a_variable_with_a_rather_long_name_" + std::to_string(k); }

TEST(Edges, ThreeHundredDimsWithLongNames) {
  const std::size_t dims = 300;
  Random random(2);
  std::string equation;
  std::vector<Tensor> operands;
  std::vector<long double> message(2, 0);
  for (std::size_t k = 0; k + 1 < dims; ++k) {
    equation += (k > 0 ? ", " : "") + long_name(k) + " " + long_name(k + 1);
    operands.push_back(random_tensor(Dtype::float64, {2, 2}, random, Semiring::log));
    std::vector<long double> next(2);
    for (std::int64_t y = 0; y < 2; ++y) {
      next[static_cast<std::size_t>(y)] =
          oracle::add(Semiring::log, message[0] + operands[k].at({0, y}), message[1] + operands[k].at({1, y}));
    }
    message = next;
  }
  const Tensor last = einsum(equation + " -> " + long_name(dims - 1), operands);
  EXPECT_NEAR(last.values()[0], static_cast<double>(message[0]), 1e-11);
  EXPECT_NEAR(last.values()[1], static_cast<double>(message[1]), 1e-11);
}

TEST(Edges, OneOperandOfThreeHundredAxes) {
  Tensor::Shape shape(300, 1);
  shape[0] = shape[150] = shape[299] = 2;
  std::string term;
  for (std::size_t k = 0; k < shape.size(); ++k) term += " " + long_name(k);
  const Tensor t = Tensor::of<double>(shape, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(einsum(term + " -> " + long_name(150), {t}, real()).values(), (Values{14, 22}));
  EXPECT_EQ(einsum(term + " ->" + term, {t}, real()).values(), (Values{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Edges, TenThousandVariablesInARow) {
  const std::size_t length = 10000;
  FactorGraph graph;
  for (std::size_t k = 0; k < length; ++k) graph.variable("v" + std::to_string(k), 2);
  for (std::size_t k = 0; k + 1 < length; ++k) graph.factor("", {"v" + std::to_string(k), "v" + std::to_string(k + 1)});
  graph.output({});
  graph.output({"v" + std::to_string(length - 1)});
  const auto start = std::chrono::steady_clock::now();
  const Plan plan = compile(graph);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::cout << "10,000 variables in a row: planned in " << seconds << " s, " << plan.steps() << " steps\n";
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(seconds, 1.0);
#endif
  Random random(4);
  std::vector<Tensor> operands;
  std::vector<long double> message(2, 0);
  for (std::size_t k = 0; k + 1 < length; ++k) {
    operands.push_back(random_tensor(Dtype::float64, {2, 2}, random, Semiring::log));
    std::vector<long double> next(2);
    for (std::int64_t y = 0; y < 2; ++y) {
      next[static_cast<std::size_t>(y)] =
          oracle::add(Semiring::log, message[0] + operands[k].at({0, y}), message[1] + operands[k].at({1, y}));
    }
    message = next;
  }
  const std::vector<Tensor> results = plan.run(operands);
  const long double total = oracle::add(Semiring::log, message[0], message[1]);
  EXPECT_NEAR(results[0].item(), static_cast<double>(total), 1e-13 * static_cast<double>(std::abs(total)));
  for (std::size_t s = 0; s < 2; ++s) {
    EXPECT_NEAR(results[1].values()[s], static_cast<double>(message[s]), 1e-13 * static_cast<double>(std::abs(total)));
  }
}

}  // namespace
}  // namespace plated::test
