// leave_one_out on models by hand, and what cannot be left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "plated/error.hpp"
#include "plated/marginals.hpp"
#include "property/drawn_model.hpp"
#include "property/random_tensor.hpp"

namespace plated::test {
namespace {

TEST(Predictive, OfACoinIsLaplacesRuleOnAGrid) {
  // A coin of unknown bias on a grid; p(toss i | others) by direct summation.
  const std::int64_t grid = 20, tosses = 12;
  std::vector<double> prior(static_cast<std::size_t>(grid), -std::log(20.0)), likelihood;
  for (std::int64_t i = 0; i < tosses; ++i) {
    for (std::int64_t x = 0; x < grid; ++x) {
      const double p = (static_cast<double>(x) + 0.5) / 20;
      likelihood.push_back(std::log(i % 3 == 0 ? p : 1 - p));
    }
  }
  const Tensor f = Tensor::of<double>({grid}, prior), g = Tensor::of<double>({tosses, grid}, likelihood);
  const std::vector<double> got = leave_one_out("x,ix->", {f, g}, "i", {.plates = "i"}).values();
  for (std::int64_t i = 0; i < tosses; ++i) {
    long double with = 0, without = 0;
    for (std::int64_t x = 0; x < grid; ++x) {
      long double w = 1;
      for (std::int64_t k = 0; k < tosses; ++k) {
        if (k != i) w *= std::exp(static_cast<long double>(likelihood[static_cast<std::size_t>(k * grid + x)]));
      }
      without += w;
      with += w * std::exp(static_cast<long double>(likelihood[static_cast<std::size_t>(i * grid + x)]));
    }
    EXPECT_NEAR(got[static_cast<std::size_t>(i)], static_cast<double>(std::log(with / without)), 1e-12);
  }
}

TEST(Predictive, OfASingleSliceThatOneOfTwoLinksOfAChainLivesIn) {
  // Tractable for one slice of n alone: what is linked inside of it and outside shares messages.
  FactorGraph outside;
  outside.chain("t", 4);
  outside.variable("a", 2);
  outside.variable("b", 2);
  outside.link("t", "a", "b");
  outside.factor("prior", {"a"});
  outside.factor("move", {"a", "b"}, {.tied = {"t"}});
  outside.factor("seen", {"t", "b"});
  FactorGraph graph;
  graph.plate("n", 1);
  graph.chain("t", 4);
  for (const char* name : {"a", "b"}) graph.variable(name, 2, {"t"});
  for (const char* name : {"c", "d"}) graph.variable(name, 3, {"n", "t"});
  graph.link("t", "a", "b");
  graph.link("t", "c", "d");
  graph.factor("prior", {"a"});
  graph.factor("move", {"a", "b"}, {.tied = {"t"}});
  graph.factor("seen", {"t", "b"});
  graph.factor("prior inside", {"n", "c"});
  graph.factor("move inside", {"n", "t", "c", "d"});
  graph.factor("both", {"n", "t", "b", "d"});
  for (FactorGraph* g : {&outside, &graph}) g->output({});
  Random random(7);
  const Operands operands(graph, random, {.semiring = Semiring::log});
  const std::vector<Tensor>& all = operands.tensors();
  const std::vector<Tensor> rest(all.begin(), all.begin() + 3);
  const Tensor got = leave_one_out(compile(graph), all, "n");
  ASSERT_EQ(got.shape(), (Tensor::Shape{1}));
  const long double with = oracle::Posterior(graph, all, Semiring::log).log_totals()[0];
  const long double without = oracle::Posterior(outside, rest, Semiring::log).log_totals()[0];
  EXPECT_NEAR(got.values()[0], static_cast<double>(with - without), 1e-12);
}

TEST(Predictive, OfAPlateThatThePlanLeavesOutForItsSingleSlice) {
  // Tractable for one slice of i alone. Without it, z is held by nothing and still summed; w goes with the slice.
  FactorGraph graph;
  graph.plate("i", 1);
  graph.plate("j", 2);
  graph.variable("w", 5, {"i"});
  graph.variable("x", 2, {"i"});
  graph.variable("y", 2, {"j"});
  graph.variable("z", 3, {});
  graph.factor("f", {"i", "j", "x", "y"});
  graph.factor("g", {"j", "y"});
  graph.factor("h", {"i", "x", "z"});
  const Tensor f = Tensor::of<double>({1, 2, 2, 2}, {.1, .2, .3, .4, .5, .6, .7, .8});
  const Tensor g = Tensor::of<double>({2, 2}, {1, 2, 3, 4});
  const Tensor h = Tensor::of<double>({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const RunOptions real{.semiring = Semiring::real};
  const Plan plan = compile(graph);
  const std::vector<Tensor> operands{f, g, h};
  const double first = (.1 * 1 + .2 * 2) * (.5 * 3 + .6 * 4) * (1 + 2 + 3);
  const double second = (.3 * 1 + .4 * 2) * (.7 * 3 + .8 * 4) * (4 + 5 + 6);
  const double with = 5 * (first + second), without = (1 + 2) * (3 + 4) * 3;
  EXPECT_NEAR(leave_one_out(plan, operands, "i", real).values()[0], std::log(with / without), 1e-13);
  EXPECT_EQ(leave_one_out(plan, operands, "i", real).shape(), Tensor::Shape{1});
  const std::vector<double> of_j = leave_one_out(plan, operands, "j", real).values();
  const double without_first = 5 * ((.5 * 3 + .6 * 4) * 6 + (.7 * 3 + .8 * 4) * 15);
  EXPECT_NEAR(of_j[0], std::log(with / without_first), 1e-13);
  EXPECT_NE(plan.print({.kind = Question::Kind::leave_one_out, .plate = "i"}), plan.print());
}

TEST(Predictive, KeepsPrecisionWhereOneSliceDrownsTheOthers) {
  // Slice 0 alone decides between the states of x; by subtraction the others' say would be lost.
  const Tensor g = Tensor::of<double>({3, 2}, {-1e9, 0, -1, -2, -3, -3.5});
  const std::vector<double> got = leave_one_out("ix->x", {g}, "i", {.plates = "i"}).values();
  const double others = std::log(std::exp(-4.0) + std::exp(-5.5));
  EXPECT_NEAR(got[0], -5.5 - others, 1e-13);
  EXPECT_NEAR(got[1], -5.5 - -3.5, 1e-13);
  EXPECT_NEAR(got[2], -5.5 - -2.0, 1e-13);
}

TEST(Predictive, NamesWhatIsWrong) {
  const Tensor g = Tensor::of<double>({3, 2}, {0, 0, -1, -2, -3, -3.5});
  EXPECT_THROW((void)leave_one_out("ix->", {g}, "nothing", {.plates = "i"}), UnknownNameError);
  EXPECT_THROW((void)leave_one_out("ix->", {g}, "x", {.plates = "i"}), Error);
  EXPECT_THROW((void)leave_one_out("ix->", {g}, "i", {.plates = "i", .semiring = Semiring::max_plus}), OptionError);
  const double none = -std::numeric_limits<double>::infinity();
  const Tensor twice = Tensor::of<double>({3, 2}, {none, 0, 0, none, 1, 1});  // x cannot be both
  EXPECT_THROW((void)leave_one_out("ix->x", {twice}, "i", {.plates = "i"}), ImpossibleError);
  const Tensor once = Tensor::of<double>({2, 2}, {none, 0, 0, none});
  EXPECT_EQ(leave_one_out("ix->x", {once}, "i", {.plates = "i"}).values(), (std::vector<double>{none, none}));
}

TEST(Predictive, OfAHiddenMarkovModelByHand) {
  FactorGraph graph;
  graph.chain("t", 2);
  graph.variable("a", 2);
  graph.variable("b", 2);
  graph.link("t", "a", "b");
  graph.factor("prior", {"a"});
  graph.factor("transition", {"a", "b"}, {.tied = {"t"}});
  graph.factor("emission", {"t", "b"});
  graph.output({});
  const std::vector<Tensor> operands = {Tensor::of<double>({2}, {1, 2}), Tensor::of<double>({2, 2}, {1, 3, 2, 1}),
                                        Tensor::of<double>({2, 2}, {1, 2, 3, 1})};
  const Plan plan = compile(graph);
  const RunOptions options{.semiring = Semiring::real};
  // Z is 100; without the first emission it is 65, without the last 50.
  const std::vector<double> got = leave_one_out(plan, operands, "t", options, {"emission"}).values();
  EXPECT_NEAR(got.at(0), std::log(100.0 / 65), 1e-14);
  EXPECT_NEAR(got.at(1), std::log(2.0), 1e-14);
  RunOptions one = options;
  one.lengths = {{"t", Integers({}, std::vector<std::int64_t>{1})}};
  const std::vector<double> ragged = leave_one_out(plan, operands, "t", one, {"emission"}).values();
  EXPECT_NEAR(ragged.at(0), std::log(1.5), 1e-14);
  EXPECT_EQ(ragged.at(1), 0);
  EXPECT_THROW((void)leave_one_out(plan, operands, "t", options, {"nobody"}), UnknownNameError);
  EXPECT_THROW((void)leave_one_out(plan, operands, "t", options, {"prior"}), Error);
}

TEST(Predictive, OfPartsOfAChainInDifferentPlatesHasThePlatesOfBoth) {
  // Two parts that o joins, one of them in plate n, and a factor that nothing joins to a link.
  FactorGraph graph;
  graph.chain("t", 3);
  graph.plate("n", 2);
  graph.variable("o", 2, {});
  for (const char* v : {"a", "b", "c", "d", "w"}) graph.variable(v, 2);
  graph.link("t", "a", "b");
  graph.link("t", "c", "d");
  graph.factor("A", {"t", "o", "a", "b"});
  graph.factor("C", {"t", "n", "c", "d"});
  graph.factor("D", {"t", "n", "o", "d"});
  graph.factor("W", {"t", "w", "o"});
  graph.output({});
  Random random(3);
  std::vector<Tensor> operands;
  for (const Factor& factor : graph.factors()) {
    Tensor::Shape shape;
    for (const DimId d : factor.dims) shape.push_back(graph.dims()[d].size);
    operands.push_back(random_tensor(Dtype::float64, shape, random, Semiring::log));
  }
  const Plan plan = compile(graph);
  const Tensor got = leave_one_out(plan, operands, "t", {}, {"A", "D", "W"});
  ASSERT_EQ(got.shape(), (Tensor::Shape{2, 3}));
  const double whole = plan.run(operands)[0].item();
  const auto erased = [](const Tensor& from, std::int64_t first, std::int64_t count) {
    std::vector<double> values = from.values();
    std::fill_n(values.begin() + first, count, 0.0);
    return Tensor::of<double>(from.shape(), values);
  };
  for (std::int64_t n = 0; n < 2; ++n) {
    for (std::int64_t t = 0; t < 3; ++t) {
      const std::vector<Tensor> rest = {erased(operands[0], 8 * t, 8), operands[1],
                                        erased(operands[2], 4 * (2 * t + n), 4), erased(operands[3], 4 * t, 4)};
      EXPECT_NEAR(got.select(0, n).select(0, t).item(), whole - plan.run(rest)[0].item(), 1e-13);
    }
  }
}

TEST(Predictive, OfAPlateInASliceThatThePlanLeavesOutForItsSingleSlice) {
  // Tractable for one slice of i alone. Without it, w is held by nothing and still summed in each slice; x goes.
  const auto total_of = [](bool with) {
    FactorGraph graph;
    graph.plate("i", 1);
    graph.plate("j", 2);
    graph.chain("t", 3);
    graph.variable("a", 2);
    graph.variable("b", 2);
    graph.link("t", "a", "b");
    graph.variable("w", 3, {"t"});
    graph.variable("y", 2, {"j"});
    graph.factor("transition", {"t", "a", "b"});
    graph.factor("g", {"j", "y"});
    if (with) {
      graph.variable("x", 2, {"i"});
      graph.factor("f", {"i", "j", "x", "y"});
      graph.factor("h", {"i", "t", "b"});
      graph.factor("k", {"i", "t", "w", "b"});
    }
    graph.output({});
    return graph;
  };
  Random random(3);
  std::vector<Tensor> operands;
  for (const Tensor::Shape& shape : {Tensor::Shape{3, 2, 2}, {2, 2}, {1, 2, 2, 2}, {1, 3, 2}, {1, 3, 3, 2}}) {
    operands.push_back(signed_tensor(shape, random));
  }
  const Plan plan = compile(total_of(true)), rest = compile(total_of(false));
  const double with = plan.run(operands)[0].item();
  const double without = rest.run(std::span(operands).first(2))[0].item();
  const Tensor got = leave_one_out(plan, operands, "i");
  EXPECT_EQ(got.shape(), Tensor::Shape{1});
  EXPECT_NEAR(got.values()[0], with - without, 1e-12);
}

}  // namespace
}  // namespace plated::test
