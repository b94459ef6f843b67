// The oracle on chains: small enough to add up by hand, and random ones against their unrolled graphs.
#include <gtest/gtest.h>

#include "oracle/derivative.hpp"
#include "property/random_chain.hpp"
#include "property/random_operands.hpp"
#include "property/seeds.hpp"

namespace plated::test {
namespace {

using oracle::Numbers;
using Lists = std::vector<std::vector<double>>;

std::vector<double> rounded(const Numbers& values) { return {values.begin(), values.end()}; }

Lists values(const FactorGraph& graph, const std::vector<Tensor>& operands, const Lengths& lengths = {},
             Semiring semiring = Semiring::real) {
  Lists result;
  for (const auto& output : oracle::unrolled(graph, operands, semiring, lengths)) {
    result.emplace_back();
    for (const oracle::Entry& entry : output) result.back().push_back(static_cast<double>(entry.value));
  }
  return result;
}

/// A hidden Markov model of two states. Weights after two slices: forward (5, 10), then (75, 25).
struct Hmm {
  explicit Hmm(std::int64_t slices, const std::vector<std::vector<std::string>>& outputs) {
    graph.chain("t", slices);
    graph.variable("a", 2);
    graph.variable("b", 2);
    graph.link("t", "a", "b");
    graph.factor("prior", {"a"});
    graph.factor("transition", {"a", "b"}, {.tied = {"t"}});
    graph.factor("emission", {"t", "b"});
    for (const auto& output : outputs) graph.output(output);
    std::vector<double> emission{1, 2, 3, 1};
    emission.resize(static_cast<std::size_t>(2 * slices));
    operands = {Tensor::of<double>({2}, {1, 2}), Tensor::of<double>({2, 2}, {1, 3, 2, 1}),
                Tensor::of<double>({slices, 2}, emission)};
  }
  FactorGraph graph;
  std::vector<Tensor> operands;
};

TEST(ChainOracle, RunsAHiddenMarkovModel) {
  const Hmm hmm(2, {{}, {"b"}, {"a"}, {"t", "b"}, {"t", "a"}, {"a", "b"}});
  EXPECT_EQ(values(hmm.graph, hmm.operands),
            (Lists{{100}, {75, 25}, {48, 52}, {30, 70, 75, 25}, {48, 52, 30, 70}, {39, 9, 36, 16}}));
}

TEST(ChainOracle, EndsAnEmptyChainWhereItBegins) {
  const Hmm hmm(0, {{}, {"b"}, {"a"}, {"t", "b"}, {"a", "b"}});
  EXPECT_EQ(values(hmm.graph, hmm.operands), (Lists{{3}, {1, 2}, {1, 2}, {}, {1, 0, 0, 2}}));
}

TEST(ChainOracle, EndsARaggedChainAtItsLength) {
  const Hmm hmm(2, {{}, {"b"}, {"t", "b"}});
  EXPECT_EQ(values(hmm.graph, hmm.operands, {{"t", Integers({}, std::vector<std::int64_t>{1})}}),
            (Lists{{15}, {5, 10}, {5, 10, 0, 0}}));
  EXPECT_EQ(values(hmm.graph, hmm.operands, {{"t", Integers({}, std::vector<std::int64_t>{0})}}),
            (Lists{{3}, {1, 2}, {0, 0, 0, 0}}));
}

TEST(ChainOracle, KeepsSequencesApart) {
  const auto graph = [](bool batch) {
    FactorGraph g;
    batch ? g.batch("n", 3) : g.plate("n", 3);
    g.chain("t", 2);
    g.variable("a", 2);
    g.variable("b", 2);
    g.variable("w", 2);
    g.link("t", "a", "b");
    const std::vector<std::string> tied = batch ? std::vector<std::string>{"t"} : std::vector<std::string>{"n", "t"};
    g.factor("prior", {"a"}, {.tied = batch ? std::vector<std::string>{} : std::vector<std::string>{"n"}});
    g.factor("transition", {"a", "b"}, {.tied = tied});
    g.factor("emission", {"t", "n", "b"});
    g.factor("twice", {"w"}, {.tied = tied});  // 1 + 1 in each slice that exists
    g.output({"n", "b"});
    return g;
  };
  const Hmm hmm(2, {});
  const std::vector<Tensor> operands = {hmm.operands[0], hmm.operands[1],
                                        Tensor::of<double>({2, 3, 2}, {1, 2, 9, 9, 1, 2, 3, 1, 9, 9, 9, 9}),
                                        Tensor::of<double>({2}, {1, 1})};
  const Lengths lengths{{"t", Integers({3}, {2, 0, 1})}};
  EXPECT_EQ(values(graph(true), operands, lengths), (Lists{{300, 100, 1, 2, 10, 20}}));
  // Each slice of the plate times what the others sum to: 400, 3 and 30.
  EXPECT_EQ(values(graph(false), operands, lengths), (Lists{{27000, 9000, 12000, 24000, 12000, 24000}}));
}

TEST(ChainOracle, LooksTwoSlicesBack) {
  const auto total = [](std::int64_t slices) {
    FactorGraph g;
    g.chain("t", slices);
    for (const char* v : {"a", "b", "c"}) g.variable(v, 2);
    g.link("t", "a", "b");
    g.link("t", "b", "c");
    g.factor("prior", {"a", "^b"});
    g.factor("transition", {"a", "b", "c"}, {.tied = {"t"}});
    for (const std::vector<std::string>& output : {Case::Names{}, Case::Names{"b$", "c$"}}) g.output(output);
    return values(g,
                  {Tensor::of<double>({2, 2}, {1, 2, 3, 4}), Tensor::of<double>({2, 2, 2}, {1, 0, 0, 2, 1, 1, 3, 0})});
  };
  EXPECT_EQ(total(0), (Lists{{10}, {1, 2, 3, 4}}));
  // (a b) c: 00→0 by 1, 01→1 by 2, 10→0 and 1 by 1, 11→0 by 3.
  EXPECT_EQ(total(1), (Lists{{23}, {4, 3, 12, 4}}));
  EXPECT_EQ(total(2), (Lists{{46}, {4 + 12, 12, 12, 6}}));
}

TEST(ChainOracle, AnswersQuestionsAsByHand) {
  const Hmm hmm(2, {});
  const DimId t = *hmm.graph.find("t"), a = *hmm.graph.find("a"), b = *hmm.graph.find("b");
  oracle::Posterior posterior(hmm.graph, hmm.operands, Semiring::real);
  EXPECT_EQ(rounded(posterior.marginal({a})), (std::vector<double>{0.48, 0.52, 0.3, 0.7}));
  EXPECT_EQ(rounded(posterior.marginal({b})), (std::vector<double>{0.3, 0.7, 0.75, 0.25}));
  EXPECT_EQ(rounded(posterior.filtered(b, t)), (std::vector<double>{5.0 / 15, 10.0 / 15, 0.75, 0.25}));
  // Pairs of both slices: (6, 42, 24, 28) and (15, 15, 60, 10) of a hundred.
  const std::vector<double> pairs = rounded(posterior.factor(1));
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(pairs[k], (std::vector<double>{.21, .57, .84, .38})[k], 1e-15);
  EXPECT_EQ(rounded(posterior.shared_by(1)), (std::vector<double>{2, 2, 2, 2}));
  EXPECT_EQ(rounded(posterior.without_factors(t, {2})), (std::vector<double>{65, 50}));
  EXPECT_EQ(rounded(posterior.expectation({{0, 1}, {}, {10, 0, 0, 0}})), std::vector<double>{0.52 + 3});
  oracle::Posterior best(hmm.graph, hmm.operands, Semiring::max_product);
  EXPECT_EQ(rounded(best.table({})), std::vector<double>{36});
  const std::map<std::string, Integers> path{{"a", Integers({2}, {0, 1})}, {"b", Integers({2}, {1, 0})}};
  EXPECT_EQ(best.weight(0, best.states(0, path)), 36);
  EXPECT_THROW((void)best.states(0, {{"a", Integers({2}, {0, 1})}, {"b", Integers({2}, {0, 0})}}), std::logic_error);
}

TEST(ChainOracle, AnswersQuestionsOfRaggedChainsAsByHand) {
  const Hmm hmm(2, {});
  const DimId t = *hmm.graph.find("t"), b = *hmm.graph.find("b");
  oracle::Posterior one(hmm.graph, hmm.operands, Semiring::real, {{"t", Integers({}, std::vector<std::int64_t>{1})}});
  EXPECT_EQ(rounded(one.marginal({b})), (std::vector<double>{5.0 / 15, 10.0 / 15, 0, 0}));
  EXPECT_EQ(rounded(one.without_factors(t, {2})), (std::vector<double>{10, 15}));
  EXPECT_EQ(rounded(one.shared_by(2)), (std::vector<double>{1, 1, 0, 0}));
  const std::map<std::string, Integers> path{{"a", Integers({2}, {0, -1})}, {"b", Integers({2}, {1, -1})}};
  EXPECT_EQ(one.weight(0, one.states(0, path)), 6);
  EXPECT_EQ(one.cells(0).size(), 4U);
  EXPECT_THROW((void)one.states(0, {{"a", Integers({2}, {0, 0})}, {"b", Integers({2}, {1, -1})}}), std::logic_error);
  // Of an empty chain nothing is told, though it has a state.
  oracle::Posterior none(hmm.graph, hmm.operands, Semiring::max_product,
                         {{"t", Integers({}, std::vector<std::int64_t>{0})}});
  const std::map<std::string, Integers> nothing{{"a", Integers({2}, {-1, -1})}, {"b", Integers({2}, {-1, -1})}};
  EXPECT_EQ(none.weight(0, none.states(0, nothing)), 2);
}

TEST(ChainOracle, DifferentiatesAsByHand) {
  const Hmm hmm(2, {{"b"}});
  oracle::Question q{.semiring = Semiring::real, .operands = {}, .direction = {}, .cotangents = {{1, 0}}};
  for (const Tensor& t : hmm.operands) {
    const std::vector<double> operand = t.values();
    q.operands.emplace_back(operand.begin(), operand.end());
    q.direction.emplace_back(operand.size(), 0);
  }
  const auto exact = oracle::derivative(hmm.graph, q);
  // The last state is 0: 3 · (5 + 2 · 10) by the last emission, and by the prior 3 · (1 + 2·3·2, 2 + 2·1·2).
  const auto slope = [&](std::size_t f, std::size_t k) { return static_cast<double>(exact.gradients[f][k].value); };
  EXPECT_EQ(slope(2, 2), 25);
  EXPECT_EQ(slope(2, 3), 0);
  EXPECT_EQ(slope(0, 0), 39);
  EXPECT_EQ(slope(0, 1), 18);
}

/// Random chains without lengths mean what the graph's own unrolling of them means.
TEST(ChainOracle, AgreesWithTheUnrolledGraph) {
  for_each_seed(400, [](std::uint64_t seed) -> testing::AssertionResult {
    const Case c = random_chain(seed, {.ragged = false, .nested = seed % 10 == 0, .outputs_across = true});
    const FactorGraph graph = c.build();
    Random random(seed);
    const Operands drawn(graph, random, {.zero_percent = 10});
    const UnrolledGraph flat = graph.unroll();
    const auto slice = [](Tensor tensor, const Slice& at) {
      auto index = at.index;
      std::sort(index.rbegin(), index.rend());
      for (const auto& [axis, k] : index) tensor = tensor.select(axis, k);
      return tensor;
    };
    std::vector<Tensor> operands;
    for (const Slice& at : flat.factors) operands.push_back(slice(drawn.tensors()[at.original], at));
    const auto whole = oracle::unrolled(graph, drawn.tensors(), Semiring::log);
    const auto parts = oracle::unrolled(flat.graph, operands, Semiring::log);
    for (std::size_t o = 0; o < parts.size(); ++o) {
      const Slice& at = flat.outputs[o];
      Tensor::Shape shape;
      std::vector<double> entries;
      for (const DimId d : graph.outputs()[at.original].dims) shape.push_back(graph.dims()[d].size);
      for (const oracle::Entry& e : whole[at.original]) entries.push_back(static_cast<double>(e.value));
      const std::vector<double> want = slice(Tensor::of<double>(shape, entries), at).values();
      for (std::size_t k = 0; k < parts[o].size(); ++k) {
        const auto got = static_cast<double>(parts[o][k].value);
        if (want.size() == parts[o].size() && (got == want[k] || std::abs(got - want[k]) < 1e-12)) continue;
        return testing::AssertionFailure() << c.print() << "\noutput " << o << " entry " << k << " is " << got;
      }
    }
    return testing::AssertionSuccess();
  });
}

/// An operand's entries whose index on a repeated or single chain axis is below a length.
Tensor shortened(const Tensor& tensor, const std::vector<DimId>& dims, DimId chain, std::int64_t length) {
  Tensor::Shape shape = tensor.shape(), index(shape.size(), 0);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) shape[axis] = dims[axis] == chain ? length : shape[axis];
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  std::vector<double> entries;
  for (std::int64_t k = 0; k < elements; ++k) {
    entries.push_back(tensor.at(index));
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return Tensor::of<double>(shape, entries);
}

/// One length for a whole graph makes it the graph of a shorter chain.
TEST(ChainOracle, TakesALengthForAShorterChain) {
  for_each_seed(400, [](std::uint64_t seed) -> testing::AssertionResult {
    const Case c = random_chain(seed, {.ragged = false, .nested = seed % 10 == 0, .outputs_across = true});
    const FactorGraph graph = c.build();
    if (c.chains.size() > 1) return testing::AssertionSuccess();
    const std::string& name = c.chains[0].name;
    const DimId chain = *graph.find(name);
    Random random(seed);
    const std::int64_t length = random.below(graph.dims()[chain].size + 1);
    // Ends of other variables than a link's first source and last target exist in slices only.
    FactorGraph shorter;
    try {
      shorter = graph.resized(name, length);
      shorter.validate();
    } catch (const PlateError&) {
      return testing::AssertionSuccess();
    }
    Tensor::Shape around;
    for (const DimId d : oracle::Slices(graph, {}).around(chain)) around.push_back(graph.dims()[d].size);
    const Operands drawn(graph, random, {.zero_percent = 10});
    std::vector<Tensor> operands;
    for (std::size_t f = 0; f < drawn.tensors().size(); ++f) {
      operands.push_back(shortened(drawn.tensors()[f], graph.factors()[f].dims, chain, length));
    }
    const auto got = oracle::unrolled(graph, drawn.tensors(), Semiring::log, {{name, Integers(around, length)}});
    const auto want = oracle::unrolled(shorter, operands, Semiring::log);
    for (std::size_t o = 0; o < want.size(); ++o) {
      Tensor::Shape shape;
      std::vector<double> entries;
      for (const DimId d : graph.outputs()[o].dims) shape.push_back(graph.dims()[d].size);
      for (const oracle::Entry& e : got[o]) entries.push_back(static_cast<double>(e.value));
      const std::vector<double> part =
          shortened(Tensor::of<double>(shape, entries), graph.outputs()[o].dims, chain, length).values();
      for (std::size_t k = 0; k < part.size(); ++k) {
        const auto wanted = static_cast<double>(want[o][k].value);
        if (part[k] == wanted || std::abs(part[k] - wanted) < 1e-13) continue;
        return testing::AssertionFailure() << c.print() << "\nlength " << length << ", output " << o << " entry " << k;
      }
    }
    return testing::AssertionSuccess();
  });
}

}  // namespace
}  // namespace plated::test
