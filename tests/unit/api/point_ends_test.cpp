// Factors and outputs outside a chain that hold `^target`, `source$`, `^w` or `w$`.
#include <gtest/gtest.h>

#include <cmath>

#include "plated/plated.hpp"

namespace plated {
namespace {

const Tensor prior = Tensor::of<double>({2}, {0.3, -0.2});
const Tensor moves = Tensor::of<double>({2, 2}, {0.5, -1, 0.25, 0.75});
const Tensor seen = Tensor::of<double>({3, 2}, {0.1, 0.4, -0.3, 0.6, 0.9, -0.5});
const Tensor held = Tensor::of<double>({2}, {0.7, -1.1});

EinsumOptions hmm(Lengths lengths = {}) {
  EinsumOptions options{.chains = {{"t", {"a->b"}}}};
  options.lengths = std::move(lengths);
  return options;
}

/// The same numbers as an emission that is zero in all slices but one.
Tensor in_slice(std::int64_t slice) {
  std::vector<double> values(6, 0.0);
  for (std::size_t k = 0; k < 2; ++k) values[static_cast<std::size_t>(2 * slice) + k] = held.values()[k];
  return Tensor::of<double>({3, 2}, values);
}

TEST(PointEnds, AreFactorsOfTheFirstOrTheLastSlice) {
  const struct {
    const char *outside, *inside;
    std::int64_t slice;
  } cases[] = {{"a, (t) a b, t b, ^b ->", "a, (t) a b, t b, t b ->", 0},
               {"a, (t) a b, t b, a$ ->", "a, (t) a b, t b, t a ->", 2}};
  for (const auto& [outside, inside, slice] : cases) {
    const auto got = value_and_gradient(outside, {prior, moves, seen, held}, hmm());
    const auto want = value_and_gradient(inside, {prior, moves, seen, in_slice(slice)}, hmm());
    EXPECT_NEAR(got.values[0].item(), want.values[0].item(), 1e-14) << outside;
    for (std::int64_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(got.gradients[3].at({k}), want.gradients[3].at({slice, k}), 1e-14) << outside;
    }
  }
}

TEST(PointEnds, OfUnequalLengthsAreOfEachRowsOwnLastSlice) {
  EinsumOptions options = hmm({{"t", Integers({2}, {1, 3})}});
  options.plates = "n";
  const Tensor emissions = Tensor::of<double>({2, 3, 2}, {0.1, 0.4, NAN, NAN, NAN, NAN, 0.2, 0.3, 1.1, -0.4, 0.5, 0.6});
  const double both = einsum("(n) a, (n t) a b, n t b, (n) a$ ->", {prior, moves, emissions, held}, options).item();
  const double first =
      einsum("a, (t) a b, t b, a$ ->", {prior, moves, Tensor::of<double>({1, 2}, {0.1, 0.4}), held}, hmm()).item();
  const double second = einsum("a, (t) a b, t b, a$ ->",
                               {prior, moves, Tensor::of<double>({3, 2}, {0.2, 0.3, 1.1, -0.4, 0.5, 0.6}), held}, hmm())
                            .item();
  EXPECT_NEAR(both, first + second, 1e-14);
}

/// A ring: what the first and the last slice hold together is no slice's.
TEST(PointEnds, OfBothEndsMayMeet) {
  const double got = einsum("(t) a b, t b, ^b a$ ->", {moves, seen, moves}, hmm()).item();
  double sum = 0;
  for (int s = 0; s < 16; ++s) {
    const auto state = [&](int k) { return std::int64_t{(s >> k) & 1}; };
    double weight = moves.at({state(1), state(2)});
    for (int t = 0; t < 3; ++t) weight += moves.at({state(t), state(t + 1)}) + seen.at({t, state(t + 1)});
    sum += std::exp(weight);
  }
  EXPECT_NEAR(got, std::log(sum), 1e-14);
}

TEST(PointEnds, OfAnEmptyChainAreNamed) {
  const Tensor none(Dtype::float64, {0, 2});
  (void)einsum("a, (t) a b, t b, ^b ->", {prior, moves, seen, held}, hmm());  // whose plan is kept for any length
  try {
    (void)einsum("a, (t) a b, t b, ^b ->", {prior, moves, none, held}, hmm());
    ADD_FAILURE() << "was answered";
  } catch (const PlateError& error) {
    const std::string text = error.what();
    for (const char* name : {"'f3'", "'^b'", "'t'"}) EXPECT_NE(text.find(name), std::string::npos) << text;
  }
  try {
    (void)einsum("a, (t) a b, t b, ^b ->", {prior, moves, seen, held},
                 hmm({{"t", Integers({}, std::vector<std::int64_t>{0})}}));
    ADD_FAILURE() << "was answered";
  } catch (const ValueError& error) {
    const std::string text = error.what();
    for (const char* name : {"'f3'", "'^b'", "'t'"}) EXPECT_NE(text.find(name), std::string::npos) << text;
  }
}

FactorGraph long_chain(bool holds_end) {
  FactorGraph graph;
  graph.chain("t", 1000);
  graph.variable("a", 16);
  graph.variable("b", 16);
  graph.link("t", "a", "b");
  graph.factor("moves", {"a", "b"}, {.tied = {"t"}});
  graph.factor("seen", {"t", "b"});
  if (holds_end) graph.factor("held", {"^b"});
  graph.output({});
  return graph;
}

TEST(PointEnds, AreNotCarriedAlongTheChain) {
  EXPECT_LT(compile(long_chain(true)).cost().flops, 1.2 * compile(long_chain(false)).cost().flops);
}

TEST(PointEnds, CountAgainstTheMemoryLimit) {
  const Plan plan = compile(long_chain(true));
  const std::vector<Tensor> operands = {Tensor(Dtype::float64, {16, 16}), Tensor(Dtype::float64, {1000, 16}),
                                        Tensor(Dtype::float64, {16})};
  EXPECT_THROW((void)plan.run(operands, {.memory_limit = 100000}), MemoryLimitError);
  EXPECT_NO_THROW((void)plan.run(operands, {.memory_limit = 100000000}));
}

}  // namespace
}  // namespace plated
