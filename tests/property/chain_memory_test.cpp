// Memory and plans of long chains: neither grows with the number of slices more than necessary.
#include <gtest/gtest.h>

#include "plated/marginals.hpp"
#include "property/expect_close.hpp"
#include "property/random_tensor.hpp"

namespace plated::test {
namespace {

/// Two chains of order 2, ragged, with notes inside and sequences outside: no special kernel fits it.
FactorGraph notes(std::int64_t sequences, std::int64_t slices, std::int64_t plates) {
  FactorGraph g;
  g.plate("n", sequences);
  g.plate("p", plates);
  g.chain("t", slices);
  for (const char* v : {"a", "b", "c", "x", "y", "z"}) g.variable(v, 2);
  for (const auto& [source, target] :
       {std::pair("a", "b"), std::pair("b", "c"), std::pair("x", "y"), std::pair("y", "z")}) {
    g.link("t", source, target);
  }
  g.factor("start", {"a", "^b", "x", "^y"}, {.tied = {"n"}});
  g.factor("upper", {"a", "b", "c"}, {.tied = {"n", "t"}});
  g.factor("lower", {"x", "y", "z", "c"}, {.tied = {"n", "t"}});
  g.factor("note", {"p", "c", "z"}, {.tied = {"n", "t"}});
  g.factor("heard", {"n", "t", "c", "z"});
  g.output({});
  return g;
}

std::vector<Tensor> operands_of(const FactorGraph& graph, Dtype dtype, Semiring semiring = Semiring::log) {
  Random random(9);
  std::vector<Tensor> result;
  for (const Factor& factor : graph.factors()) {
    Tensor::Shape shape;
    for (const DimId d : factor.dims) shape.push_back(graph.dims()[d].size);
    result.push_back(random_tensor(dtype, shape, random, semiring));
  }
  return result;
}

TEST(ChainMemory, OfNotesInRaggedSequencesEqualsTheOracle) {
  for (std::int64_t slices = 0; slices <= 5; ++slices) {
    const FactorGraph graph = notes(2, slices, 2);
    const std::vector<Tensor> operands = operands_of(graph, Dtype::float64);
    const Lengths lengths{{"t", Integers({2}, {slices, slices / 3})}};
    const auto want = oracle::unrolled(graph, operands, Semiring::log, lengths);
    EXPECT_TRUE(close(compile(graph).run(operands, {.lengths = lengths}), want, Semiring::log, 1e-13)) << slices;
  }
}

TEST(ChainMemory, PlansOfAnyLengthAreTheSame) {
  const Plan little = compile(notes(2, 5, 2)), large = compile(notes(2, 1000000, 2));
  EXPECT_EQ(little.elimination_order(), large.elimination_order());
  EXPECT_EQ(little.steps(), large.steps());
}

TEST(ChainMemory, OfAMillionSlicesIsUnderTheLimit) {
#ifdef NDEBUG
  const std::int64_t slices = 1000000;
#else
  const std::int64_t slices = 50000;
#endif
  const FactorGraph graph = notes(1, slices, 2);
  const std::vector<Tensor> operands = operands_of(graph, Dtype::float32);
  const Plan plan = compile(graph);
  const Lengths lengths{{"t", Integers({1}, {slices - 3})}};
  const RunOptions limited{.memory_limit = std::int64_t{256} << 20, .lengths = lengths};
  const Marginals got = marginals(plan, operands, limited);
  const double total = plan.run(operands, limited)[0].item();
  EXPECT_NEAR(got.log_partition.item(), total, 1e-6 * std::abs(total));
  const std::vector<double> b = got.variables.at("b").values(), c = got.variables.at("c").values();
  for (std::size_t t = 0; t + 4 < static_cast<std::size_t>(slices); ++t) {
    ASSERT_NEAR(c[2 * t] + c[2 * t + 1], 1, 1e-5) << t;
    ASSERT_NEAR(c[2 * t], b[2 * t + 2], 2e-5) << "slice " << t << "'s c is the next one's b";
  }
  for (std::size_t k = b.size() - 6; k < b.size(); ++k) EXPECT_EQ(b[k], 0) << "beyond the length";
}

/// The value needs no more memory for a longer chain.
TEST(ChainMemory, OfAValueDoesNotGrowWithTheChain) {
  const auto bytes = [](std::int64_t slices) {
    return compile(notes(1, slices, 2)).cost(Question{.kind = Question::Kind::value}).run_bytes;
  };
  EXPECT_LE(bytes(1000000), std::max<std::int64_t>(2 * bytes(1000), 2 << 20));
}

TEST(ChainMemory, TooLittleIsRefusedBeforeItIsTaken) {
  const FactorGraph graph = notes(1, 1000, 2);
  EXPECT_THROW((void)marginals(compile(graph), operands_of(graph, Dtype::float32), {.memory_limit = 1000}),
               MemoryLimitError);
}

TEST(ChainMemory, TheLimitCountsTheAnswers) {
  const FactorGraph graph = notes(1, 20000, 2);
  const std::vector<Tensor> operands = operands_of(graph, Dtype::float64);
  std::int64_t answers = 0;
  const Plan plan = compile(graph);
  for (const auto& [name, p] : marginals(plan, operands).variables) answers += 8 * p.elements();
  EXPECT_THROW((void)marginals(plan, operands, {.memory_limit = answers}), MemoryLimitError);
}

TEST(ChainMemory, WhatIsSaidToBeNeededIsEnough) {
  const FactorGraph graph = notes(2, 1000, 2);
  const std::vector<Tensor> operands = operands_of(graph, Dtype::float64, Semiring::max_product);
  const Plan plan = compile(graph);
  std::int64_t needed = 0;
  try {
    (void)marginals(plan, operands, {.semiring = Semiring::real, .memory_limit = 1000});
  } catch (const MemoryLimitError& error) {
    needed = error.bytes_needed();
  }
  EXPECT_NO_THROW((void)marginals(plan, operands, {.semiring = Semiring::real, .memory_limit = needed}));
}

}  // namespace
}  // namespace plated::test
