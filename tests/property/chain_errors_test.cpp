// Errors of chains: graphs whose cost would be exponential, invalid lengths and links, bad entries.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "plated/error.hpp"
#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "unit/graph/message_of.hpp"

namespace plated::test {
namespace {

using test::message_of;
using Names = std::vector<std::string>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The message of the IntractableError that planning ends in; empty where there is a plan.
std::string refusal(const FactorGraph& graph) {
  try {
    (void)compile(graph);
  } catch (const IntractableError& error) {
    return error.what();
  }
  return "";
}

void expect_names(const std::string& message, const Names& names) {
  EXPECT_NE(message, "") << "was planned";
  for (const std::string& name : names) {
    EXPECT_NE(message.find("'" + name + "'"), std::string::npos) << name << " is not named in: " << message;
  }
}

/// States along t in each s, and along s in each t, that meet in every cell: a grid.
FactorGraph grid(std::int64_t rows, std::int64_t columns) {
  FactorGraph g;
  g.chain("t", rows);
  g.chain("s", columns);
  for (const char* v : {"a", "b", "c", "d"}) g.variable(v, 2);
  g.link("t", "a", "b");
  g.link("s", "c", "d");
  g.factor("down", {"s", "t", "a", "b"});
  g.factor("right", {"s", "t", "c", "d"});
  g.factor("cell", {"s", "t", "b", "d"});
  g.output({});
  return g;
}

TEST(ChainErrors, AGridIsIntractable) {
  const std::string message = refusal(grid(4, 4));
  expect_names(message, {"t", "s"});
  const bool one = message.find("'a'") != std::string::npos || message.find("'b'") != std::string::npos;
  const bool other = message.find("'c'") != std::string::npos || message.find("'d'") != std::string::npos;
  EXPECT_TRUE(one && other) << message;
}

/// b is in chain t and y in plate n: every slice's b meets every y.
FactorGraph entangled(std::int64_t plates, std::int64_t slices = 4) {
  FactorGraph g;
  g.plate("n", plates);
  g.chain("t", slices);
  for (const char* v : {"a", "b", "y"}) g.variable(v, 2);
  g.link("t", "a", "b");
  g.factor("step", {"a", "b"}, {.tied = {"t"}});
  g.factor("own", {"n", "y"});
  g.factor("meet", {"n", "t", "b", "y"});
  g.output({});
  return g;
}

TEST(ChainErrors, AVariableOfAnotherPlateIsNamed) {
  const std::string message = refusal(entangled(3));
  expect_names(message, {"y", "t", "n"});
  EXPECT_TRUE(message.find("'a'") != std::string::npos || message.find("'b'") != std::string::npos) << message;
  EXPECT_NE(message.find("meet"), std::string::npos) << message;
  // A plate of one slice is no plate.
  EXPECT_EQ(refusal(entangled(1)), "");
}

/// w is in the chain, but all sequences share it.
FactorGraph shared(std::int64_t sequences) {
  FactorGraph g;
  g.plate("n", sequences);
  g.chain("t", 4);
  for (const char* v : {"a", "b", "w"}) g.variable(v, 2);
  g.link("t", "a", "b");
  g.factor("step", {"a", "b"}, {.tied = {"n", "t"}});
  g.factor("own", {"t", "w"});
  g.factor("meet", {"n", "t", "b", "w"});
  g.output({});
  return g;
}

TEST(ChainErrors, ASlicesVariableThatSequencesShareIsNamed) {
  expect_names(refusal(shared(3)), {"w", "t", "n"});
  EXPECT_EQ(refusal(shared(1)), "");
}

/// Plates inside the chain, and outside, that meet only in what the chain keeps: tractable all of them.
TEST(ChainErrors, TractableNeighboursOfIntractableChainsArePlanned) {
  FactorGraph g;
  g.plate("n", 3);
  g.plate("p", 2);
  g.chain("t", 4);
  for (const char* v : {"a", "b", "z", "w"}) g.variable(v, 2);
  g.link("t", "a", "b");
  g.factor("whole", {"z"});
  g.factor("step", {"n", "t", "a", "b", "z"});
  g.factor("note", {"n", "t", "p", "b", "w"});
  g.factor("end", {"n", "a", "b$", "z"});
  g.output({"z"});
  EXPECT_EQ(refusal(g), "");
}

TEST(ChainErrors, BadLengthsAreNamed) {
  const std::vector<Tensor> operands = {Tensor(Dtype::float64, {2}), Tensor(Dtype::float64, {2, 2}),
                                        Tensor(Dtype::float64, {3, 4, 2})};
  const auto ask = [&](const std::string& chain, const Integers& lengths) {
    EinsumOptions options{.batch = "n", .chains = {{"t", {"a->b"}}}};
    options.lengths = {{chain, lengths}};
    return einsum("a, (t) a b, n t b ->", operands, options);
  };
  EXPECT_NO_THROW((void)ask("t", Integers({3}, {4, 0, 2})));
  EXPECT_NO_THROW((void)ask("t", Integers({}, std::vector<std::int64_t>{2})));
  EXPECT_THROW((void)ask("t", Integers({3}, {4, 5, 2})), ValueError);
  EXPECT_THROW((void)ask("t", Integers({3}, {4, -1, 2})), ValueError);
  EXPECT_THROW((void)ask("t", Integers({2}, {4, 1})), ShapeError);
  EXPECT_THROW((void)ask("t", Integers({3, 1}, {4, 1, 1})), ShapeError);
  EXPECT_THROW((void)ask("nobody", Integers({3}, {4, 1, 1})), UnknownNameError);
  EXPECT_THROW((void)ask("n", Integers({3}, {4, 1, 1})), Error);
  EXPECT_THROW((void)ask("a", Integers({3}, {4, 1, 1})), Error);
}

TEST(ChainErrors, PaddingIsNeverReadAndTheRestIsChecked) {
  EinsumOptions options{.batch = "n", .chains = {{"t", {"a->b"}}}};
  options.lengths = {{"t", Integers({2}, {1, 2})}};
  const std::vector<double> clean = {1, 2, nan, nan, nan, nan, 1, 2, 3, 4, nan, nan};
  const auto operands = [&](const std::vector<double>& emission) {
    return std::vector<Tensor>{Tensor::of<double>({2}, {0, 0.5}), Tensor::of<double>({2, 2}, {0, 1, 2, 3}),
                               Tensor::of<double>({2, 3, 2}, emission)};
  };
  const char* equation = "a, (t) a b, n t b ->";
  const auto ask_all = [&](const std::vector<Tensor>& of) {
    const Marginals p = marginals(equation, of, options, {.factors = true, .ends = true});
    const ValueAndGradient g = value_and_gradient(equation, of, options);
    std::vector<Tensor> all = {einsum(equation, of, options), entropy(equation, of, options), p.log_partition};
    for (const auto& [variable, tensor] : p.variables) all.push_back(tensor);
    all.insert(all.end(), p.factors.begin(), p.factors.end());
    all.insert(all.end(), g.gradients.begin(), g.gradients.end());
    all.push_back(map(equation, of, options).score);
    (void)sample(equation, of, {.count = 2}, options);
    return all;
  };
  for (const Tensor& answer : ask_all(operands(clean))) {
    for (const double x : answer.values()) EXPECT_FALSE(std::isnan(x));
  }
  std::vector<double> other = clean;
  for (const std::size_t k : {2, 3, 4, 5, 10, 11}) other[k] = 77;
  const std::vector<Tensor> a = ask_all(operands(clean)), b = ask_all(operands(other));
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_EQ(a[k].values(), b[k].values()) << "answer " << k;
  for (const std::size_t k : {0, 7, 8}) {
    std::vector<double> bad = clean;
    bad[k] = nan;
    EXPECT_THROW((void)einsum(equation, operands(bad), options), ValueError) << "entry " << k;
  }
}

TEST(ChainErrors, DistributionsAreCheckedInSlicesThatExist) {
  FactorGraph graph;
  graph.plate("n", 2);
  graph.chain("t", 3);
  graph.variable("a", 2);
  graph.variable("b", 2);
  graph.link("t", "a", "b");
  graph.factor("step", {"n", "t", "a", "b"}, {.distribution_of = "b"});
  graph.output({});
  const Plan plan = compile(graph);
  RunOptions options{.semiring = Semiring::real};
  options.lengths = {{"t", Integers({2}, {1, 3})}};
  std::vector<double> step(24, 0.5);
  for (std::size_t k = 4; k < 12; ++k) step[k] = k % 2 == 0 ? nan : 7;
  EXPECT_NEAR(plan.run({Tensor::of<double>({2, 3, 2, 2}, step)}, options)[0].item(), 4.0, 1e-12);
  step[2] = 0.75;
  EXPECT_SAYS(message_of<ValueError>([&] {
                (void)plan.run({Tensor::of<double>({2, 3, 2, 2}, step)}, options);
              }),
              "n = 0, t = 0, a = 1");
}

TEST(ChainErrors, LinksThatMakeNoSenseAreNamed) {
  const Tensor square(Dtype::float64, {2, 2}), oblong(Dtype::float64, {2, 3}), cube(Dtype::float64, {2, 2, 2});
  const auto ask = [](const char* equation, const std::vector<Tensor>& operands, const Names& links) {
    (void)einsum(equation, operands, {.chains = {{"t", links}}, .sizes = {{"t", 3}}});
  };
  EXPECT_NO_THROW(ask("(t) a b ->", {square}, {"a->b"}));
  EXPECT_THROW(ask("(t) a b ->", {oblong}, {"a->b"}), SizeError);
  EXPECT_THROW(ask("(t) a b ->", {square}, {"a->c"}), UnknownNameError);
  EXPECT_THROW(ask("(t) a b ->", {square}, {"a-b"}), ParseError);
  EXPECT_THROW(ask("(t) a b c ->", {cube}, {"a->b", "a->c"}), PlateError);
  EXPECT_THROW(ask("(t) a b c ->", {cube}, {"a->c", "b->c"}), PlateError);
  EXPECT_THROW(ask("(t) a b ->", {square}, {"a->b", "b->a"}), PlateError);
  // Outside of the chain b could be the first slice's or the last slice's.
  EXPECT_THROW(ask("b, (t) a b c ->", {Tensor(Dtype::float64, {2}), cube}, {"a->b", "b->c"}), PlateError);
  EXPECT_THROW(ask("(t) a b, (t) ^a ->", {square, Tensor(Dtype::float64, {2})}, {"a->b"}), PlateError);
}

/// A factor that leaves its variable's plate is told how to stay in it.
TEST(ChainErrors, DisagreementOnPlatesSuggestsATiedDim) {
  const Tensor prior(Dtype::float64, {2}), step(Dtype::float64, {2, 2}), emission(Dtype::float64, {3, 4, 2});
  const EinsumOptions options{.plates = "n", .chains = {{"t", {"a->b"}}}};
  EXPECT_NO_THROW((void)einsum("(n) a, (n t) a b, n t b ->", {prior, step, emission}, options));
  try {
    (void)einsum("a, (n t) a b, n t b ->", {prior, step, emission}, options);
    ADD_FAILURE() << "was planned";
  } catch (const PlateError& error) {
    EXPECT_NE(std::string(error.what()).find("(n) "), std::string::npos) << error.what();
  }
}

TEST(ChainErrors, ManyPiecesAreToldWithoutLosingAny) {
  // More plans than a program keeps at once.
  FactorGraph g;
  g.chain("t", 3);
  const int pieces = 100;
  const auto named = [](const char* letter, int k) { return letter + std::to_string(k); };
  for (int k = 0; k < pieces; ++k) {
    g.variable(named("a", k), 2);
    g.variable(named("b", k), 2);
    g.link("t", named("a", k), named("b", k));
  }
  for (int k = 0; k < pieces; ++k) g.factor(named("f", k), {"t", named("a", k), named("b", k)});
  g.output({});
  const Plan plan = compile(g);
  EXPECT_GE(plan.steps(), 2U * pieces);
  std::set<std::string> summed;
  for (const std::string& name : plan.elimination_order()) summed.insert(name);
  EXPECT_GE(summed.size(), static_cast<std::size_t>(pieces));
  EXPECT_TRUE(plan.dropped().empty());
}

}  // namespace
}  // namespace plated::test
