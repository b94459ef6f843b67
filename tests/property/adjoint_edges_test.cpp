// Questions in edge cases: empty models, single states, empty plates and domains, long rows, repeated operands.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/random_tensor.hpp"

namespace plated::test {
namespace {

using Values = std::vector<double>;
using States = std::vector<std::int64_t>;
const double none = -std::numeric_limits<double>::infinity();

TEST(AdjointEdges, NoFactors) {
  FactorGraph graph;
  graph.plate("i", 2);
  graph.variable("x", 3);
  graph.variable("y", 2, {"i"});
  graph.output({});
  const Plan plan = compile(graph);
  const std::vector<Tensor> nothing;
  const Marginals p = marginals(plan, nothing);
  EXPECT_NEAR(p.log_partition.item(), std::log(12.0), 1e-15);
  for (const double x : p.variables.at("x").values()) EXPECT_NEAR(x, 1.0 / 3, 1e-15);
  EXPECT_EQ(p.variables.at("y").values(), Values(4, 0.5));
  EXPECT_EQ(map(plan, nothing).assignment.at("y").values, (States{0, 0}));
  EXPECT_EQ(map(plan, nothing).score.item(), 0);
  EXPECT_EQ(sample(plan, nothing, {.count = 5}).at("y").shape, (States{5, 2}));
  EXPECT_NEAR(entropy(plan, nothing).item(), std::log(12.0), 1e-14);
  EXPECT_EQ(expectation(plan, nothing, nothing).item(), 0);
  EXPECT_EQ(value_and_gradient(plan, nothing).gradients.size(), 0U);
  EXPECT_TRUE(hessian_vector_product(plan, nothing, nothing).products.empty());
  for (const double x : leave_one_out(plan, nothing, "i").values()) EXPECT_NEAR(x, std::log(2.0), 1e-15);
}

TEST(AdjointEdges, NothingAtAll) {
  FactorGraph graph;
  graph.output({});
  const Plan plan = compile(graph);
  const std::vector<Tensor> nothing;
  EXPECT_EQ(marginals(plan, nothing).log_partition.item(), 0);
  EXPECT_TRUE(marginals(plan, nothing).variables.empty());
  EXPECT_TRUE(map(plan, nothing).assignment.empty());
  EXPECT_TRUE(sample(plan, nothing, {.count = 3}).empty());
  EXPECT_EQ(entropy(plan, nothing).item(), 0);
  EXPECT_EQ(value_and_gradient(plan, nothing).values[0].item(), 0);
}

TEST(AdjointEdges, NoVariables) {
  const Tensor f = Tensor::of<double>({3}, {1, 2, 3});
  EXPECT_EQ(value_and_gradient("i->", {f}, {.plates = "i"}).gradients[0].values(), Values(3, 1));
  EXPECT_EQ(value_and_gradient("i->", {f}, {.plates = "i", .semiring = Semiring::real}).gradients[0].values(),
            (Values{6, 3, 2}));
  EXPECT_EQ(marginals("i->", {f}, {.plates = "i"}, {.factors = true}).factors[0].values(), Values(3, 1));
  EXPECT_EQ(map("i->", {f}, {.plates = "i"}).score.item(), 6);
  EXPECT_EQ(entropy("i->", {f}, {.plates = "i"}).item(), 0);
  EXPECT_EQ(expectation("i->", {f}, {f}, {.plates = "i"}).item(), 6);
  EXPECT_EQ(leave_one_out("i->", {f}, "i", {.plates = "i"}).values(), (Values{1, 2, 3}));
}

TEST(AdjointEdges, OneVariable) {
  const Tensor f = Tensor::of<double>({3}, {std::log(1.0), std::log(2.0), std::log(5.0)});
  const Values p = marginals("x->", {f}).variables.at("x").values();
  EXPECT_NEAR(p[0], 0.125, 1e-15);
  EXPECT_NEAR(p[2], 0.625, 1e-15);
  EXPECT_EQ(map("x->", {f}).assignment.at("x").values, States{2});
  EXPECT_EQ(max_marginals("x->", {f}).at("x").values(), f.values());
  EXPECT_NEAR(value_and_gradient("x->", {f}).gradients[0].values()[1], 0.25, 1e-15);
}

TEST(AdjointEdges, ASingleState) {
  const Tensor f = Tensor::of<double>({2, 1}, {3, 4});
  EXPECT_EQ(marginals("ix->", {f}, {.plates = "i"}).variables.at("x").values(), (Values{1, 1}));
  EXPECT_EQ(marginals("ix->", {f}, {.plates = "i"}, {.log = true}).variables.at("x").values(), (Values{0, 0}));
  EXPECT_EQ(map("ix->", {f}, {.plates = "i"}).assignment.at("x"), Integers({2}, {0, 0}));
  EXPECT_EQ(sample("ix->", {f}, {.count = 2}, {.plates = "i"}).at("x"), Integers({2, 2}, 0));
  EXPECT_EQ(value_and_gradient("ix->", {f}, {.plates = "i"}).gradients[0].values(), (Values{1, 1}));
  EXPECT_EQ(max_marginals("ix->", {f}, {.plates = "i"}).at("x").values(), (Values{7, 7}));
  EXPECT_EQ(entropy("ix->", {f}, {.plates = "i"}).item(), 0);
  EXPECT_THROW((void)marginals("x->", {Tensor::of<double>({1}, {none})}), ImpossibleError);
  EXPECT_THROW((void)map("x->", {Tensor::of<double>({1}, {none})}), ImpossibleError);
  EXPECT_THROW((void)sample("x->", {Tensor::of<double>({1}, {none})}, {}), ImpossibleError);
}

TEST(AdjointEdges, EmptyPlates) {
  const Tensor f = Tensor::of<double>({2}, {0, 0}), g(Dtype::float64, {0, 2, 3});
  const EinsumOptions options{.plates = "i"};
  const Marginals p = marginals("x,ixy->", {f, g}, options, {.factors = true, .sets = {{"x", "y"}}});
  EXPECT_EQ(p.variables.at("x").values(), (Values{0.5, 0.5}));
  EXPECT_EQ(p.variables.at("y").shape(), (States{0, 3}));
  EXPECT_EQ(p.factors[1].shape(), (States{0, 2, 3}));
  EXPECT_EQ(p.sets[0].shape(), (States{0, 2, 3}));
  EXPECT_EQ(map("x,ixy->", {f, g}, options).assignment.at("y"), Integers({0}, States{}));
  EXPECT_EQ(sample("x,ixy->", {f, g}, {.count = 4}, options).at("y").shape, (States{4, 0}));
  EXPECT_EQ(value_and_gradient("x,ixy->", {f, g}, options).gradients[0].values(), (Values{0.5, 0.5}));
  EXPECT_EQ(leave_one_out("x,ixy->", {f, g}, "i", options).shape(), States{0});
  EXPECT_NEAR(entropy("x,ixy->", {f, g}, options).item(), std::log(2.0), 1e-15);
  const Tensor no_batch(Dtype::float64, {0, 2});
  EXPECT_EQ(marginals("nx->", {no_batch}, {.batch = "n"}).variables.at("x").shape(), (States{0, 2}));
  EXPECT_EQ(map("nx->", {no_batch}, {.batch = "n"}).score.shape(), States{0});
  EXPECT_EQ(sample("nx->", {no_batch}, {.count = 3}, {.batch = "n"}).at("x").shape, (States{3, 0}));
}

TEST(AdjointEdges, EmptyDomains) {
  const Tensor f(Dtype::float64, {0});
  EXPECT_THROW((void)marginals("x->", {f}), ImpossibleError);
  EXPECT_THROW((void)map("x->", {f}), ImpossibleError);
  EXPECT_THROW((void)sample("x->", {f}, {}), ImpossibleError);
  EXPECT_THROW((void)entropy("x->", {f}), ImpossibleError);
  EXPECT_EQ(value_and_gradient("x->", {f}).values[0].item(), none);
  EXPECT_EQ(value_and_gradient("x->", {f}).gradients[0].shape(), States{0});
  // In an empty plate it does not exist, whatever its domain.
  EXPECT_EQ(marginals("ix->", {Tensor(Dtype::float64, {0, 0})}, {.plates = "i"}).log_partition.item(), 0);
}

TEST(AdjointEdges, TheSameTensorTwice) {
  const Tensor t = Tensor::of<double>({2, 2}, {1, 2, 3, 4});
  const auto [values, gradients] = value_and_gradient("ab,ba->", {t, t}, {.semiring = Semiring::real});
  EXPECT_EQ(values[0].item(), 29);
  EXPECT_EQ(gradients[0].values(), (Values{1, 3, 2, 4}));
  EXPECT_EQ(gradients[1].values(), (Values{1, 3, 2, 4}));
  EXPECT_NE(gradients[0].data(), gradients[1].data());
  const auto hessian = hessian_vector_product("ab,ab->", {t, t}, {t, t}, {.semiring = Semiring::real});
  EXPECT_EQ(hessian.tangents[0].item(), 60);
  EXPECT_EQ(hessian.products[0].values(), t.values());
  EXPECT_EQ(map("ab,ab->", {t, t}).score.item(), 8);
}

/// Forward and backward messages by hand, in long double.
TEST(AdjointEdges, TwoThousandVariablesInARow) {
  const std::size_t length = 2000, states = 3;
  FactorGraph graph;
  const auto variable = [](std::size_t k) { return "v" + std::to_string(k); };
  for (std::size_t k = 0; k < length; ++k) graph.variable(variable(k), static_cast<std::int64_t>(states));
  Random random(3);
  std::vector<Tensor> operands;
  std::vector<Values> entries;
  for (std::size_t k = 0; k + 1 < length; ++k) {
    graph.factor("", {variable(k), variable(k + 1)});
    operands.push_back(random_tensor(Dtype::float64, {3, 3}, random, Semiring::log));
    entries.push_back(operands.back().values());
  }
  graph.output({});
  const auto log_add = [](long double a, long double b) { return oracle::add(Semiring::log, a, b); };
  std::vector<std::vector<long double>> forward(length, std::vector<long double>(states, 0)), backward = forward;
  for (std::size_t k = 1; k < length; ++k) {
    for (std::size_t y = 0; y < states; ++y) {
      long double into = -oracle::infinity, back = -oracle::infinity;
      for (std::size_t x = 0; x < states; ++x) {
        into = log_add(into, forward[k - 1][x] + entries[k - 1][x * states + y]);
        back = log_add(back, backward[length - k][x] + entries[length - 1 - k][y * states + x]);
      }
      forward[k][y] = into;
      backward[length - 1 - k][y] = back;
    }
  }
  long double log_z = -oracle::infinity;
  for (const long double x : forward[length - 1]) log_z = log_add(log_z, x);
  const Plan plan = compile(graph);
  const Marginals p = marginals(plan, operands, {}, {.factors = true});
  EXPECT_NEAR(p.log_partition.item(), static_cast<double>(log_z), 1e-13 * static_cast<double>(std::abs(log_z)));
  const std::vector<Tensor> gradients = value_and_gradient(plan, operands).gradients;
  double worst = 0;
  for (std::size_t k = 0; k < length; ++k) {
    const Values got = p.variables.at(variable(k)).values();
    for (std::size_t x = 0; x < states; ++x) {
      const auto want = static_cast<double>(std::exp(forward[k][x] + backward[k][x] - log_z));
      worst = std::max(worst, std::abs(got[x] - want));
    }
    if (k + 1 == length) continue;
    const Values pair = p.factors[k].values(), gradient = gradients[k].values();
    for (std::size_t xy = 0; xy < states * states; ++xy) {
      const long double log_p = forward[k][xy / states] + entries[k][xy] + backward[k + 1][xy % states] - log_z;
      const auto want = static_cast<double>(std::exp(log_p));
      worst = std::max({worst, std::abs(pair[xy] - want), std::abs(gradient[xy] - want)});
    }
  }
  EXPECT_LE(worst, 1e-10);
  const MapResult best = map(plan, operands);
  long double score = 0;
  for (std::size_t k = 0; k + 1 < length; ++k) {
    const auto x = static_cast<std::size_t>(best.assignment.at(variable(k)).values[0]);
    const auto y = static_cast<std::size_t>(best.assignment.at(variable(k + 1)).values[0]);
    score += entries[k][x * states + y];
  }
  EXPECT_NEAR(best.score.item(), static_cast<double>(score), 1e-12 * static_cast<double>(std::abs(score)));
}

}  // namespace
}  // namespace plated::test
