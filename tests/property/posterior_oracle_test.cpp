// The brute-force posterior itself: by hand, against the other oracle, and against finite differences of it.
#include <gtest/gtest.h>

#include "oracle/derivative.hpp"
#include "property/drawn_model.hpp"

namespace plated::test {
namespace {

using oracle::Numbers;

std::vector<double> rounded(const Numbers& values) { return {values.begin(), values.end()}; }

TEST(PosteriorOracle, AnswersAsByHand) {
  // x global; y in plate i of two slices. Weights: f(x) = 1, 2; g(i, x, y).
  FactorGraph graph;
  const DimId i = graph.plate("i", 2), x = graph.variable("x", 2), y = graph.variable("y", 2);
  graph.factor("f", {"x"});
  graph.factor("g", {"i", "x", "y"});
  graph.output({"i", "y"});
  const std::vector<Tensor> operands = {Tensor::of<double>({2}, {1, 2}),
                                        Tensor::of<double>({2, 2, 2}, {1, 1, 0, 3, 2, 0, 1, 1})};
  oracle::Posterior posterior(graph, operands, Semiring::real);
  // x = 0: 1·(1+1)·(2+0) = 4; x = 1: 2·(0+3)·(1+1) = 12.
  EXPECT_EQ(rounded(posterior.table({})), std::vector<double>{16});
  EXPECT_EQ(rounded(posterior.marginal({x})), (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(rounded(posterior.marginal({y})), (std::vector<double>{0.125, 0.875, 0.625, 0.375}));
  EXPECT_EQ(rounded(posterior.factor(0)), (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(rounded(posterior.factor(1)), (std::vector<double>{0.125, 0.125, 0, 0.75, 0.25, 0, 0.375, 0.375}));
  EXPECT_EQ(rounded(posterior.marginal({x, y})), (std::vector<double>{0.125, 0.125, 0, 0.75, 0.25, 0, 0.375, 0.375}));
  // Without slice 0: 1·2 + 2·2; without slice 1: 1·2 + 2·3.
  EXPECT_EQ(rounded(posterior.without_each_slice(i)), (std::vector<double>{6, 8}));
  // Cells (x, y0, y1): 000 and 010 with weight 2, 110 and 111 with weight 6.
  EXPECT_EQ(rounded(posterior.cells(0)), (std::vector<double>{0.125, 0, 0.125, 0, 0, 0, 0.375, 0.375}));
  EXPECT_NEAR(static_cast<double>(posterior.entropy()[0]), 0.25 * std::log(8) - 0.75 * std::log(0.375), 1e-15);
  EXPECT_EQ(rounded(posterior.expectation({{10, 20}, {}})), std::vector<double>{17.5});
  oracle::Posterior best(graph, operands, Semiring::max_product);
  EXPECT_EQ(rounded(best.table({})), std::vector<double>{6});
  EXPECT_EQ(rounded(best.table({y})), (std::vector<double>{2, 6, 6, 6}));
}

TEST(PosteriorOracle, SumsWhatTheOtherOracleSums) {
  const auto check = [](const Case& c, long double within) -> testing::AssertionResult {
    FactorGraph graph = c.build();
    std::vector<DimId> asked;
    for (DimId v = 0; v < graph.dims().size(); ++v) {
      if (graph.dims()[v].kind == DimKind::variable && graph.dims()[v].end == End::none) asked.push_back(v);
    }
    Random random(c.seed);
    const Operands operands(graph, random, {.zero_percent = 10});
    oracle::Posterior posterior(graph, operands.tensors(), Semiring::log, c.lengths);
    const std::size_t first = graph.outputs().size();
    for (const DimId v : asked) {
      std::vector<std::string> dims;
      for (const DimId d : posterior.axes({v})) dims.push_back(graph.dims()[d].name);
      graph.output(dims);
    }
    const auto expected = oracle::unrolled(graph, operands.tensors(), Semiring::log, c.lengths);
    for (std::size_t k = 0; k < asked.size(); ++k) {
      const Numbers sums = posterior.table({asked[k]});
      for (std::size_t e = 0; e < sums.size(); ++e) {
        const long double want = expected[first + k][e].value;
        if (std::log(sums[e]) == want || std::abs(std::log(sums[e]) - want) < within) continue;
        return testing::AssertionFailure() << c.print() << " " << graph.dims()[asked[k]].name << " entry " << e;
      }
    }
    return testing::AssertionSuccess();
  };
  for_each_seed(300, [&](std::uint64_t seed) { return check(random_case(seed), 1e-15L); });
  for_each_seed(200, [&](std::uint64_t seed) { return check(random_chain(seed, {.most_work = 10000}), 1e-14L); });
}

/// Central differences, extrapolated once, of Σ cotangent · output of the other oracle.
long double difference(const FactorGraph& graph, const std::vector<Tensor>& operands, Semiring semiring,
                       const Lengths& lengths, const std::vector<Numbers>& cotangents, std::size_t f,
                       std::size_t entry) {
  const auto objective = [&](double step) {
    std::vector<Tensor> moved = operands;
    std::vector<double> values = moved[f].values();
    values[entry] += step;
    moved[f] = Tensor::of<double>(moved[f].shape(), values);
    long double sum = 0;
    const auto outputs = oracle::unrolled(graph, moved, semiring, lengths);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      for (std::size_t k = 0; k < outputs[o].size(); ++k) {
        if (!std::isinf(outputs[o][k].value)) sum += cotangents[o][k] * outputs[o][k].value;
      }
    }
    return sum;
  };
  const double h = 0x1p-8;
  return (8 * (objective(h) - objective(-h)) - (objective(2 * h) - objective(-2 * h))) / (12.0L * h);
}

testing::AssertionResult check_derivative(const Case& c, Semiring semiring) {
  const FactorGraph graph = c.build();
  Random random(c.seed);
  const Operands drawn(graph, random, {.semiring = semiring, .zero_percent = 10});
  oracle::Question q{.semiring = semiring, .operands = {}, .direction = {}, .cotangents = {}, .lengths = c.lengths};
  std::vector<Tensor> operands;
  for (const Tensor& t : drawn.tensors()) {
    const std::vector<double> values = t.values();
    operands.push_back(Tensor::of<double>(t.shape(), values));
    q.operands.emplace_back(values.begin(), values.end());
    q.direction.emplace_back(values.size());
    for (long double& x : q.direction.back()) x = random.uniform(-1, 1);
  }
  for (const auto& output : oracle::unrolled(graph, operands, semiring, c.lengths)) {
    q.cotangents.emplace_back(output.size());
    for (long double& x : q.cotangents.back()) x = random.uniform(-1, 1);
  }
  const oracle::Derivative exact = oracle::derivative(graph, q);
  const oracle::Derivative magnitude = oracle::derivative(graph, oracle::absolute(q));
  // Gradients against differences of values, then products against differences of gradients along the direction.
  const auto along = [&](long double step) {
    oracle::Question moved = q;
    for (std::size_t f = 0; f < moved.operands.size(); ++f) {
      for (std::size_t k = 0; k < moved.operands[f].size(); ++k) moved.operands[f][k] += step * q.direction[f][k];
    }
    return oracle::derivative(graph, moved).gradients;
  };
  const long double h = 1e-3L;
  const auto a1 = along(h), b1 = along(-h), a2 = along(2 * h), b2 = along(-2 * h);
  for (std::size_t f = 0; f < operands.size(); ++f) {
    for (std::size_t k = 0; k < q.operands[f].size(); ++k) {
      const long double by_value =
          std::isinf(q.operands[f][k]) ? 0 : difference(graph, operands, semiring, c.lengths, q.cotangents, f, k);
      const long double by_gradient =
          (8 * (a1[f][k].value - b1[f][k].value) - (a2[f][k].value - b2[f][k].value)) / (12 * h);
      const oracle::Dual got = exact.gradients[f][k], size = magnitude.gradients[f][k];
      if (!(std::abs(got.value - by_value) <= 1e-6L * (1 + size.value)) ||
          !(std::abs(got.slope - by_gradient) <= 1e-6L * (1 + size.value + size.slope))) {
        return testing::AssertionFailure()
               << c.print() << " operand " << f << " entry " << k << ": " << static_cast<double>(got.value) << ", "
               << static_cast<double>(got.slope) << ", not " << static_cast<double>(by_value) << ", "
               << static_cast<double>(by_gradient);
      }
    }
  }
  return testing::AssertionSuccess();
}

TEST(DerivativeOracle, IsWhatTheOtherOracleDiffersBy) {
  for (const Semiring semiring : {Semiring::log, Semiring::real}) {
    for_each_seed(
        150, [&](std::uint64_t seed) { return check_derivative(random_case(seed, {.most_work = 3000}), semiring); });
    for_each_seed(30, [&](std::uint64_t seed) {
      return check_derivative(random_chain(seed, {.most_work = 1500, .nested = seed % 5 == 0}), semiring);
    });
  }
}

}  // namespace
}  // namespace plated::test
