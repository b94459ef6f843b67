// Outputs of chains by equations, at ends inside of plates, and in one workspace with many lengths.
#include <gtest/gtest.h>

#include "property/drawn_model.hpp"
#include "property/expect_close.hpp"

namespace plated::test {
namespace {

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

}  // namespace
}  // namespace plated::test
