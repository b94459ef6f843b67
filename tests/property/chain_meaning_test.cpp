// Legal but odd models with chains, made by hand: every question means the unrolled graph.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "property/every_question.hpp"

namespace plated::test {
namespace {

using Dims = std::vector<std::string>;

Integers lengths(Tensor::Shape shape, std::vector<std::int64_t> values) {
  return Integers(std::move(shape), std::move(values));
}

/// Chain t links a → b, and inside its slices chain s links e → f; variables have two states.
FactorGraph chain_in_chain(const std::vector<Dims>& factors, const Dims& output = {}, std::int64_t slices = 2) {
  FactorGraph graph;
  graph.chain("t", slices);
  graph.chain("s", 2);
  for (const char* v : {"a", "b"}) graph.variable(v, 2, {"t"});
  for (const char* v : {"e", "f"}) graph.variable(v, 2, {"t", "s"});
  graph.link("t", "a", "b");
  graph.link("s", "e", "f");
  for (const Dims& dims : factors) graph.factor("", dims);
  graph.output(output);
  return graph;
}

TEST(LinkThatNoFactorSpans, OfAnInnerChainIsKept) {
  EXPECT_TRUE(EveryQuestion(chain_in_chain({{"t", "a", "b"}, {"t", "s", "b", "e"}, {"t", "s", "f"}})).all());
  EXPECT_TRUE(EveryQuestion(chain_in_chain({{"t", "a", "b"}, {"t", "s", "b", "f"}, {"t", "s", "e"}})).all());
}

TEST(LinkThatNoFactorSpans, OfAnInnerChainIsKeptWhereOneSideIsNotHeld) {
  EXPECT_TRUE(EveryQuestion(chain_in_chain({{"t", "a", "b"}, {"t", "s", "b", "e"}})).all());
  EXPECT_TRUE(EveryQuestion(chain_in_chain({{"t", "a", "b"}, {"t", "s", "b", "f"}})).all());
  EXPECT_TRUE(EveryQuestion(chain_in_chain({{"t", "a", "b"}, {"t", "b", "f$"}, {"t", "^e"}})).all());
  EXPECT_TRUE(EveryQuestion(chain_in_chain({{"t", "a", "b"}})).all());
}

TEST(LinkThatNoFactorSpans, OfAnInnerChainIsKeptInRaggedChains) {
  const FactorGraph graph = chain_in_chain({{"t", "a", "b"}, {"t", "s", "b", "e"}, {"t", "s", "f"}});
  EXPECT_TRUE(EveryQuestion(graph, {{"t", lengths({}, {1})}}).all());
  EXPECT_TRUE(EveryQuestion(graph, {{"s", lengths({2}, {1, 2})}}).all());
  EXPECT_TRUE(EveryQuestion(graph, {{"t", lengths({}, {1})}, {"s", lengths({2}, {1, 0})}}).all());
}

TEST(LinkThatNoFactorSpans, IsKeptInOutputsOfTheInnerSlices) {
  for (const char* v : {"e", "f"}) {
    const Dims output{"t", "s", v};
    EXPECT_TRUE(EveryQuestion(chain_in_chain({{"t", "a", "b"}, {"t", "s", "b", "e"}, {"t", "s", "f"}}, output)).all());
  }
}

TEST(FactorInInnerSlices, FollowsTheLengthsOfAllItsChains) {
  const Lengths outer{{"t", lengths({}, {1})}}, inner{{"s", lengths({2}, {1, 2})}};
  const Lengths both{{"t", lengths({}, {1})}, {"s", lengths({2}, {1, 2})}};
  for (const Lengths& given : {outer, inner, both}) {
    // Nothing, or only the outer slice's variable, beside a chain that is joined to the outer one or not.
    for (const Dims& joins : {Dims{"t", "s", "b", "e", "f"}, Dims{"t", "s", "e", "f"}}) {
      EXPECT_TRUE(EveryQuestion(chain_in_chain({{"t", "a", "b"}, joins, {"t", "s", "b"}}), given).all());
      EXPECT_TRUE(EveryQuestion(chain_in_chain({{"t", "s", "b"}, {"t", "a", "b"}, joins}), given).all());
      EXPECT_TRUE(EveryQuestion(chain_in_chain({{"t", "s"}, {"t", "a", "b"}, joins}), given).all());
    }
  }
}

TEST(FactorInInnerSlices, FollowsTheLengthsOfAChainThatIsOnlyPartlyJoined) {
  FactorGraph graph;
  graph.chain("t", 1);
  graph.chain("s", 2);
  for (const char* v : {"a", "b"}) graph.variable(v, 2);
  for (const char* v : {"e", "f", "g", "h"}) graph.variable(v, 2);
  graph.link("t", "a", "b");
  graph.link("s", "e", "f");
  graph.link("s", "g", "h");
  graph.factor("A", {"t", "a", "b"});
  graph.factor("E", {"t", "s", "e", "f"});
  graph.factor("G", {"t", "s", "b", "g", "h"});
  graph.factor("B", {"t", "s", "b"});
  graph.output({});
  EXPECT_TRUE(EveryQuestion(graph, {{"s", lengths({1}, {1})}}).all());
}

/// No slice of s exists: in the first slice of t it has the length 0, and the second one does not exist.
TEST(FactorInInnerSlices, IsNotReadInSlicesOfAnOuterChainThatDoNotExist) {
  FactorGraph graph = chain_in_chain({{"t", "a", "b"}});
  graph.factor("E", {"s", "e", "f"}, {.tied = {"t"}});
  const std::vector<double> nan(8, std::nan(""));
  const RunOptions run{.lengths = {{"t", lengths({}, {1})}, {"s", lengths({2}, {0, 1})}}};
  const std::vector<Tensor> operands = {Tensor(Dtype::float64, {2, 2, 2}), Tensor::of<double>({2, 2, 2}, nan)};
  EXPECT_NEAR(compile(graph).run(operands, run)[0].item(), std::log(8.0), 1e-14);
}

TEST(FactorInInnerSlices, IsLeftOutWhereLengthsJoinItsChainToTheOuterOne) {
  const FactorGraph graph = chain_in_chain({{"t", "a", "b"}, {"t", "s", "e", "f"}, {"t", "s", "b"}});
  EXPECT_TRUE(EveryQuestion(graph).without_factor("s", 1));
  EXPECT_TRUE(EveryQuestion(graph, {{"s", lengths({2}, {1, 2})}}).without_factor("s", 1));
}

/// A factor in a plate that lies beside the chain, at either end of it.
FactorGraph plate_at_an_end(const Dims& with_plate, const Dims& without) {
  FactorGraph graph;
  graph.plate("p", 3);
  graph.chain("t", 2);
  for (const char* v : {"a", "b"}) graph.variable(v, 2);
  graph.link("t", "a", "b");
  graph.factor("A", {"t", "a", "b"});
  graph.factor("B", with_plate);
  graph.factor("C", without);
  graph.output({});
  return graph;
}

TEST(LeaveOneOut, OfAPlateAtAnEndOfAChain) {
  EXPECT_TRUE(EveryQuestion(plate_at_an_end({"p", "^a"}, {"b$"})).without_slices_of("p"));
  EXPECT_TRUE(EveryQuestion(plate_at_an_end({"p", "b$"}, {"^a"})).without_slices_of("p"));
  EXPECT_TRUE(EveryQuestion(plate_at_an_end({"p", "^a"}, {"p", "b$"})).without_slices_of("p"));
  EXPECT_TRUE(EveryQuestion(plate_at_an_end({"p", "^a"}, {"p", "b$"})).all());
}

/// Variable o lies outside of the chain and enters its slices.
FactorGraph with_outside(const std::vector<Dims>& factors,
                         const std::vector<std::pair<std::string, std::string>>& links, std::int64_t slices = 3) {
  FactorGraph graph;
  graph.chain("t", slices);
  graph.variable("o", 2, {});
  for (const auto& [source, target] : links) {
    graph.variable(source, 2);
    graph.variable(target, 2);
    graph.link("t", source, target);
  }
  for (const Dims& dims : factors) graph.factor("", dims);
  graph.output({});
  return graph;
}

TEST(Filtered, LeavesOutWhatLaterSlicesSayOfOutsideVariables) {
  const MarginalOptions filtered{.filtered = true};
  const FactorGraph graph = with_outside({{"o"}, {"t", "o", "a", "b"}, {"t", "o"}}, {{"a", "b"}});
  EXPECT_TRUE(EveryQuestion(graph).marginal(filtered));
  EXPECT_TRUE(EveryQuestion(graph, {{"t", lengths({}, {2})}}).marginal(filtered));
  const FactorGraph parts =
      with_outside({{"o"}, {"t", "o", "a", "b"}, {"t", "o", "c", "d"}}, {{"a", "b"}, {"c", "d"}}, 2);
  EXPECT_TRUE(EveryQuestion(parts).marginal(filtered));
}

TEST(Filtered, KnowsWhatHoldsTheLastState) {
  for (const bool both : {false, true}) {
    FactorGraph graph = with_outside({{"o"}, {"t", "o", "a", "b"}, {"b$"}}, {{"a", "b"}});
    if (both) graph.factor("", {"^a"});
    EXPECT_TRUE(EveryQuestion(graph).marginal({.filtered = true}));
    EXPECT_TRUE(EveryQuestion(graph, {{"t", lengths({}, {2})}}).marginal({.filtered = true}));
  }
}

TEST(Filtered, LeavesOutLaterSlicesOfPartsThatEndsJoin) {
  for (const Dims& join : {Dims{"^a", "^c"}, Dims{"b$", "d$"}, Dims{"^a", "d$"}}) {
    const FactorGraph graph = with_outside({{"t", "a", "b"}, {"t", "c", "d"}, join}, {{"a", "b"}, {"c", "d"}});
    EXPECT_TRUE(EveryQuestion(graph).marginal({.filtered = true}));
  }
  const FactorGraph through =
      with_outside({{"t", "a", "b"}, {"t", "c", "d"}, {"^a", "o"}, {"o", "^c"}}, {{"a", "b"}, {"c", "d"}});
  EXPECT_TRUE(EveryQuestion(through).marginal({.filtered = true}));
}

TEST(Filtered, OfPartsInDifferentPlatesLeavesOutLaterSlicesOfAll) {
  // They are joined by o, or by their ends; both parts in a plate of sequences or not.
  for (const bool sequences : {false, true}) {
    for (const bool of_end : {false, true}) {
      FactorGraph graph;
      graph.chain("t", 2);
      graph.plate("n", sequences ? 1 : 2);
      graph.plate("k", 2);
      graph.variable("o", 2, {});
      for (const char* v : {"a", "b", "c", "d"}) graph.variable(v, 2);
      graph.link("t", "a", "b");
      graph.link("t", "c", "d");
      const auto factor = [&](Dims dims, bool in_sequence = true) {
        if (sequences && in_sequence) dims.insert(dims.begin(), "k");
        graph.factor("", dims);
      };
      factor({"o"}, false);
      factor({"t", "o", "a", "b"});
      factor({"t", "n", "c", "d"});
      factor(of_end ? Dims{"n", "^a", "^c"} : Dims{"t", "n", "o", "d"});
      factor({"b$"});
      graph.output({});
      EXPECT_TRUE(EveryQuestion(graph).marginal({.filtered = true})) << sequences << of_end;
    }
  }
}

TEST(Filtered, OfTwoChainsWhosePartsAreInDifferentPlatesKnowsAllOfTheOther) {
  // Each chain has a part in a plate and one outside of it; what all four depend on is o.
  FactorGraph graph;
  graph.chain("t", 2);
  graph.chain("u", 2);
  graph.plate("k", 2);
  graph.plate("m", 1);
  graph.variable("o", 2, {});
  const std::vector<Dims> factors{
      {"t", "a", "b", "o"}, {"t", "k", "c", "d", "o"}, {"u", "e", "f", "o"}, {"u", "m", "g", "h", "o"}, {"o"}};
  for (const char* v : {"a", "b", "c", "d", "e", "f", "g", "h"}) graph.variable(v, 2);
  graph.link("t", "a", "b");
  graph.link("t", "c", "d");
  graph.link("u", "e", "f");
  graph.link("u", "g", "h");
  for (const Dims& dims : factors) graph.factor("", dims);
  graph.output({});
  EXPECT_TRUE(EveryQuestion(graph).marginal({.filtered = true}));
  EXPECT_TRUE(EveryQuestion(graph).marginal({.filtered = true, .log = true}));
}

TEST(Filtered, IsRefusedInAChainThatLinksNothing) {
  FactorGraph graph;
  graph.chain("t", 3);
  graph.variable("o", 2, {});
  graph.variable("w", 3);
  for (const Dims& dims : {Dims{"o"}, {"t", "o", "w"}}) graph.factor("", dims);
  graph.output({});
  EXPECT_THROW((void)EveryQuestion(graph).marginal({.filtered = true}), OptionError);
}

TEST(Filtered, KnowsTheOrderOfSlicesWhoseLinkedVariablesHaveOneState) {
  FactorGraph graph;
  graph.chain("t", 3);
  graph.variable("o", 2, {});
  for (const char* v : {"a", "b"}) graph.variable(v, 1);
  graph.variable("w", 3);
  graph.link("t", "a", "b");
  for (const Dims& dims : {Dims{"o"}, {"t", "o", "a", "b"}, {"t", "w"}, {"^w", "o"}}) graph.factor("", dims);
  graph.output({});
  EXPECT_TRUE(EveryQuestion(graph).marginal({.filtered = true}));
}

TEST(Filtered, OfOrderTwoKnowsWhatHoldsTheLastStates) {
  FactorGraph graph;
  graph.chain("t", 4);
  for (const char* v : {"a", "b", "c"}) graph.variable(v, 2);
  graph.link("t", "a", "b");
  graph.link("t", "b", "c");
  graph.factor("A", {"t", "a", "b", "c"});
  graph.factor("C", {"b$", "c$"});
  graph.output({});
  EXPECT_TRUE(EveryQuestion(graph).marginal({.filtered = true}));
  EXPECT_TRUE(EveryQuestion(graph, {{"t", lengths({}, {3})}}).marginal({.filtered = true}));
}

/// Variables that no factor holds: w in the chain's slices, v in a plate inside of them, x and y linked.
FactorGraph unheld(bool in_plate, bool linked) {
  FactorGraph graph;
  graph.chain("t", 2);
  graph.plate("p", 2);
  graph.variable("a", 2);
  graph.variable("b", 2);
  graph.variable("w", 3, {"t"});
  graph.link("t", "a", "b");
  if (in_plate) graph.variable("v", 2, {"t", "p"});
  if (linked) {
    graph.variable("x", 2, {"t"});
    graph.variable("y", 2, {"t"});
    graph.link("t", "x", "y");
  }
  graph.factor("A", {"a", "b"}, {.tied = {"t"}});
  graph.output({});
  return graph;
}

TEST(VariableThatNothingHolds, CountsInARaggedChain) {
  for (const bool linked : {false, true}) {
    const FactorGraph graph = unheld(false, linked);
    for (const std::int64_t length : {0, 1, 2}) {
      EXPECT_TRUE(EveryQuestion(graph, {{"t", lengths({}, {length})}}).all()) << length << linked;
    }
    EXPECT_TRUE(EveryQuestion(graph).all());
  }
  const Plan plan = compile(unheld(false, false));
  const std::vector<Tensor> zeros = {Tensor(Dtype::float64, {2, 2})};
  EXPECT_NEAR(plan.run(zeros, {.lengths = {{"t", lengths({}, {2})}}})[0].item(), std::log(72.0), 1e-14);
}

TEST(VariableThatNothingHolds, CountsInAPlateInsideARaggedChain) {
  const FactorGraph graph = unheld(true, false);
  for (const std::int64_t length : {0, 1, 2}) {
    EXPECT_TRUE(EveryQuestion(graph, {{"t", lengths({}, {length})}}).all()) << length;
  }
}

TEST(VariableThatNothingHolds, CountsInAnInnerChain) {
  FactorGraph graph = chain_in_chain({{"t", "a", "b"}, {"t", "s", "b", "e"}});
  graph.variable("w", 2, {"t", "s"});
  EXPECT_TRUE(EveryQuestion(graph).all());
  EXPECT_TRUE(EveryQuestion(graph, {{"s", lengths({2}, {1, 2})}}).all());
  EXPECT_TRUE(EveryQuestion(graph, {{"t", lengths({}, {1})}, {"s", lengths({2}, {2, 1})}}).all());
}

TEST(Axes, AreBatchDimsPlatesChainsAndStatesWhateverIsDeclaredFirst) {
  FactorGraph graph;
  graph.chain("t", 3);
  graph.plate("n", 2);
  for (const char* v : {"a", "b"}) graph.variable(v, 2);
  graph.variable("w", 2);  // nothing joins it to the links
  graph.link("t", "a", "b");
  graph.factor("A", {"t", "n", "a", "b"});
  graph.factor("W", {"t", "n", "w"});
  graph.output({});
  EveryQuestion ask(graph);
  EXPECT_TRUE(ask.all());
  EXPECT_TRUE(ask.without_factor("t", 0));
  const Marginals got = marginals(ask.plan(), ask.tensors(), ask.run(), {.sets = {{"a", "b"}}, .log = true});
  EXPECT_EQ(got.variables.at("w").shape(), Tensor::Shape({2, 3, 2}));
  EXPECT_EQ(got.sets.at(0).shape(), Tensor::Shape({2, 3, 2, 2}));
}

TEST(Axes, OfNestedChainsWhateverIsDeclaredFirst) {
  FactorGraph graph;
  graph.chain("s", 2);
  graph.chain("t", 2);
  graph.plate("n", 3);
  for (const char* v : {"a", "b"}) graph.variable(v, 1, {"n", "t"});
  for (const char* v : {"e", "f"}) graph.variable(v, 2, {"n", "s", "t"});
  graph.link("t", "a", "b");
  graph.link("s", "e", "f");
  graph.factor("A", {"t", "a", "b", "n"});
  graph.factor("E", {"e", "f"}, {.tied = {"s", "n", "t"}});
  graph.factor("F", {"s", "t", "n", "f"});
  graph.output({});
  EveryQuestion ask(graph.resized("s", 1));
  EXPECT_TRUE(ask.value());
  EXPECT_TRUE(ask.marginal());
  for (const std::size_t factor : {1, 2}) EXPECT_TRUE(ask.without_factor("s", factor));
}

}  // namespace
}  // namespace plated::test
