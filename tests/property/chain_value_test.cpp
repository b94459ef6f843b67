// Outputs of random chains, per slice, at the ends and in total, in every semiring, against the unrolled chain.
#include <gtest/gtest.h>

#include <tuple>

#include "property/drawn_model.hpp"
#include "property/expect_close.hpp"

namespace plated::test {
namespace {

class ChainValues : public testing::TestWithParam<std::tuple<Semiring, Dtype>> {
 protected:
  void run(std::uint64_t runs, int zero_percent, const ChainOptions& graphs = {}) {
    const Dtype dtype = std::get<1>(GetParam());
    const DrawOptions draw{.semiring = std::get<0>(GetParam()),
                           .dtypes = {dtype},
                           .zero_percent = zero_percent,
                           .signs = true,
                           .graphs = graphs};
    for_each_model(runs, draw, [&](DrawnModel& drawn) -> testing::AssertionResult {
      const auto expected = oracle::unrolled(drawn.graph, drawn.tensors(), drawn.semiring, drawn.c.lengths);
      const auto good = close(drawn.plan.run(drawn.tensors(), drawn.run()), expected, drawn.semiring, tolerance(dtype));
      if (good) return good;
      return testing::AssertionFailure() << good.message() << "\n" << drawn.plan.print();
    });
  }
};

TEST_P(ChainValues, EqualTheUnrolledChain) { run(700, 0); }
TEST_P(ChainValues, OfZerosAreExactAndNeverNan) { run(500, 30); }
TEST_P(ChainValues, OfLargerChainsEqualTheUnrolledChain) { run(40, 5, {.most_work = 2e6, .small_sizes = false}); }

TEST_P(ChainValues, OfChainsInsideChainsEqualTheUnrolledChain) { run(200, 5, {.nested = true}); }
TEST_P(ChainValues, OfRunsInBlocksOfSlicesEqualTheUnrolledChain) {
  const BlockedFrom all(0);
  run(150, 5);
  run(50, 5, {.nested = true});
}
TEST_P(ChainValues, OfOutputsAcrossWhatNothingJoinsEqualTheUnrolledChain) {
  run(150, 5, {.outputs_across = true});
  run(50, 5, {.nested = true, .outputs_across = true});
}

std::string parameter_name(const testing::TestParamInfo<std::tuple<Semiring, Dtype>>& info) {
  return std::string(name(std::get<0>(info.param))) + "_" + std::string(name(std::get<1>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(Semirings, ChainValues,
                         testing::Combine(testing::Values(Semiring::real, Semiring::log, Semiring::max_plus,
                                                          Semiring::min_plus, Semiring::max_product, Semiring::boolean),
                                          testing::Values(Dtype::float32, Dtype::float64)),
                         parameter_name);

TEST(ChainValue, OfMixedDtypes) {
  const DrawOptions draw{.dtypes = {Dtype::float32, Dtype::float64}, .zero_percent = 5, .graphs = ChainOptions{}};
  for_each_model(300, draw, [](DrawnModel& drawn) {
    const auto expected = oracle::unrolled(drawn.graph, drawn.tensors(), drawn.semiring, drawn.c.lengths);
    return close(drawn.plan.run(drawn.tensors(), drawn.run()), expected, drawn.semiring, tolerance(Dtype::float32));
  });
}

TEST(ChainValue, OfAnEquationIsThatOfItsPlan) {
  std::int64_t compared = 0;
  for_each_model(
      400, {.zero_percent = 5, .graphs = ChainOptions{}}, [&](DrawnModel& drawn) -> testing::AssertionResult {
        std::optional<EinsumOptions> options = drawn.c.equation_options();
        // In an equation dims are declared as they are met, and lengths have them in the order of declaration.
        if (!options || drawn.of_kind(DimKind::plate).size() > 1 || drawn.c.chains.size() > 1) {
          return testing::AssertionSuccess();
        }
        ++compared;
        options->threads = 1;
        const std::vector<Tensor> got = einsum_all(drawn.c.equation(), drawn.tensors(), *options);
        const auto expected = oracle::unrolled(drawn.graph, drawn.tensors(), drawn.semiring, drawn.c.lengths);
        return close(got, expected, drawn.semiring, tolerance(Dtype::float64));
      });
  EXPECT_TRUE(compared > 0 || std::getenv("PLATED_SEED") != nullptr) << "no equation was compared";
}

/// Of the last slice, notes meet a variable outside, which messages then carry: they cannot carry all notes.
TEST(ChainValue, OfEndsInAPlateInsideTheSlicesEqualsTheUnrolledChain) {
  FactorGraph graph;
  graph.plate("p", 3);
  graph.chain("t", 4);
  for (const char* v : {"a", "b"}) graph.variable(v, 2);
  graph.variable("y", 3);
  graph.variable("u", 2, {"t", "p"});
  graph.link("t", "a", "b");
  graph.factor("prior", {"a"});
  graph.factor("transition", {"a", "b"}, {.tied = {"t"}});
  graph.factor("note", {"t", "p", "u", "b"});
  graph.factor("outside", {"y"});
  graph.factor("at last", {"p", last("u"), "y"});
  for (const std::vector<std::string>& output :
       std::vector<std::vector<std::string>>{{}, {"y"}, {"p", last("u")}, {"t", "p", "u"}, {"t", "b"}}) {
    graph.output(output);
  }
  Random random(5);
  const Operands operands(graph, random, {});
  const std::vector<Tensor> got = compile(graph).run(operands.tensors());
  EXPECT_TRUE(close(got, oracle::unrolled(graph, operands.tensors(), Semiring::log), Semiring::log, 1e-13));
}

/// A workspace serves many runs, with other lengths in each.
TEST(ChainValue, OfOneWorkspaceAndManyLengths) {
  const std::int64_t slices = 4, sequences = 3;
  FactorGraph graph;
  graph.batch("n", sequences);
  graph.chain("t", slices);
  for (const char* v : {"a", "b", "w"}) graph.variable(v, 2);
  graph.link("t", "a", "b");
  graph.factor("prior", {"a"});
  graph.factor("transition", {"a", "b"}, {.tied = {"t"}});
  graph.factor("emission", {"n", "t", "b"});
  graph.factor("inner", {"t", "w", "b"});
  graph.output({});
  graph.output({"t", "b"});
  const Plan plan = compile(graph);
  Random random(3);
  const Operands operands(graph, random, {});
  Workspace workspace(plan);
  const std::vector<Tensor> outputs = {Tensor(Dtype::float64, {sequences}),
                                       Tensor(Dtype::float64, {sequences, slices, 2})};
  for (int repeat = 0; repeat < 30; ++repeat) {
    Integers lengths({sequences}, 0);
    for (std::int64_t& length : lengths.values) length = random.below(slices + 1);
    RunOptions options{.threads = 1};
    if (repeat % 5 != 0) options.lengths = {{"t", lengths}};
    plan.run_into(outputs, operands.tensors(), workspace, options);
    const auto expected = oracle::unrolled(graph, operands.tensors(), Semiring::log, options.lengths);
    ASSERT_TRUE(close(outputs, expected, Semiring::log, 1e-13)) << "repeat " << repeat;
  }
}

TEST(ChainValue, IsTheSameWithAnyPassLeftOut) {
  for (const std::string& pass : Plan::passes()) {
    for_each_model(40, {.graphs = ChainOptions{}}, [&](DrawnModel& drawn) -> testing::AssertionResult {
      const Plan plan = compile(drawn.graph, {.without = {pass}});
      const auto expected = oracle::unrolled(drawn.graph, drawn.tensors(), drawn.semiring, drawn.c.lengths);
      const auto good = close(plan.run(drawn.tensors(), drawn.run()), expected, drawn.semiring, 1e-13);
      if (good) return good;
      return testing::AssertionFailure() << "without " << pass << ": " << good.message();
    });
  }
}

}  // namespace
}  // namespace plated::test
