// leave_one_out on random chains: of factors in each slice, and of plates around and inside, against brute force.
#include <gtest/gtest.h>

#include <tuple>

#include "plated/marginals.hpp"
#include "property/blocked_from.hpp"
#include "property/chain_case.hpp"
#include "property/shifted_operand.hpp"

namespace plated::test {
namespace {

/// log Z − log Z without something, for each entry of `without`; each batch's are together.
testing::AssertionResult compare(const std::string& what, const Tensor& got, const Tensor::Shape& shape,
                                 const Numbers& log_z, const Numbers& without, const Bound& bound) {
  Numbers want = logarithms(without), magnitude;
  const std::size_t each = without.empty() ? 1 : without.size() / log_z.size();
  for (std::size_t k = 0; k < want.size(); ++k) {
    magnitude.push_back(std::isinf(log_z[k / each]) ? 1 : std::abs(log_z[k / each]) + std::abs(want[k]) + 20);
    want[k] = log_z[k / each] - want[k];
  }
  return near(what, got, shape, want, magnitude, bound);
}

testing::AssertionResult check_plates(DrawnChain& drawn, const Bound& bound) {
  oracle::Posterior posterior = drawn.posterior();
  const Numbers log_z = logarithms(posterior.table({}));
  for (const DimId plate : drawn.of_kind(DimKind::plate)) {
    const Numbers without = posterior.without_each_slice(plate);
    const auto ask = [&] { return leave_one_out(drawn.plan, drawn.tensors(), drawn.name_of(plate), drawn.run()); };
    testing::AssertionResult good = testing::AssertionSuccess();
    if (any_zero(without, drawn.semiring)) {
      good = impossible([&] { (void)ask(); });
    } else {
      std::vector<DimId> axes = posterior.axes({});
      axes.push_back(plate);
      good = compare("plate " + drawn.name_of(plate), ask(), posterior.shape(axes), log_z, without, bound);
    }
    if (!good) return testing::AssertionFailure() << good.message() << ", plate " << drawn.name_of(plate);
  }
  return testing::AssertionSuccess();
}

/// Whether a variable is joined to those that the chain links.
bool is_linked(const FactorGraph& graph, DimId chain, const std::vector<DimId>& label, DimId v) {
  return std::any_of(graph.chains().begin(), graph.chains().end(), [&](const Chain& c) {
    return c.dim == chain && std::any_of(c.links.begin(), c.links.end(),
                                         [&](const Link& link) { return label[link.source] == label[v]; });
  });
}

testing::AssertionResult check_chains(DrawnChain& drawn, const Bound& bound) {
  oracle::Posterior posterior = drawn.posterior();
  const Numbers log_z = logarithms(posterior.table({}));
  const oracle::Slices slices(drawn.graph, {});
  for (const DimId chain : drawn.of_kind(DimKind::chain)) {
    // Some of the factors that live in the chain, not in another one inside of it, and are joined to each other.
    std::vector<std::size_t> left_out;
    const std::vector<DimId> label = joined_in(drawn.graph, chain);
    std::optional<DimId> piece;
    std::vector<std::string> names;
    for (std::size_t f = 0; f < drawn.graph.factors().size(); ++f) {
      const std::vector<DimId> chains = slices.of_kind(drawn.graph.factor_plates(f), DimKind::chain);
      std::vector<DimId> own = slices.of_kind(slices.around(chain), DimKind::chain);
      own.push_back(chain);
      std::sort(own.begin(), own.end());
      if (chains != own || !drawn.random.chance(50)) continue;
      std::vector<DimId> held = drawn.graph.factor_variables(f);
      std::erase_if(held, [&](DimId v) { return !oracle::contains(slices.plates(v), chain); });
      if (held.empty() || (piece && *piece != label[held[0]])) continue;
      if (!is_linked(drawn.graph, chain, label, held[0])) continue;
      piece = label[held[0]];
      left_out.push_back(f);
      names.push_back(drawn.graph.factors()[f].name);
    }
    if (names.empty()) continue;
    const Numbers without = posterior.without_factors(chain, left_out);
    const auto ask = [&] {
      return leave_one_out(drawn.plan, drawn.tensors(), drawn.name_of(chain), drawn.run(), names);
    };
    testing::AssertionResult good = testing::AssertionSuccess();
    if (any_zero(without, drawn.semiring)) {
      // Where nothing is left out, an impossible model is its own business: it need not throw.
      if (!any_zero(posterior.table({}), drawn.semiring)) good = impossible([&] { (void)ask(); });
    } else {
      std::vector<DimId> axes = posterior.axes({});
      for (const DimId d : slices.around(chain)) axes.push_back(d);
      axes.push_back(chain);
      good = compare("chain " + drawn.name_of(chain), ask(), posterior.shape(axes), log_z, without, bound);
    }
    if (good) continue;
    std::string text;
    for (const std::string& f : names) text += " " + f;
    return testing::AssertionFailure() << good.message() << ", without" << text;
  }
  return testing::AssertionSuccess();
}

class ChainLeaveOneOut : public testing::TestWithParam<std::tuple<Semiring, Dtype>> {
 protected:
  template <class Check>
  void run(std::uint64_t runs, int zeros, Check check, bool nested = false) {
    const ChainDraw draw{.semiring = std::get<0>(GetParam()),
                         .dtypes = {std::get<1>(GetParam())},
                         .zero_percent = zeros,
                         .graphs = {.most_work = 8000, .nested = nested, .loose_parts = false}};
    const Bound within{draw.dtypes[0] == Dtype::float32 ? 2e-6 : 1e-13, 0};
    for_each_chain(runs, draw, [&](DrawnChain& drawn) { return check(drawn, within); });
  }
};

TEST_P(ChainLeaveOneOut, OfFactorsInSlices) { run(300, 0, check_chains); }
TEST_P(ChainLeaveOneOut, OfFactorsInSlicesWithZeros) { run(300, 8, check_chains); }
TEST_P(ChainLeaveOneOut, OfFactorsInSlicesOfChainsInsideChains) { run(150, 5, check_chains, true); }
TEST_P(ChainLeaveOneOut, OfPlates) { run(300, 0, check_plates); }
TEST_P(ChainLeaveOneOut, OfPlatesWithZeros) { run(300, 8, check_plates); }
TEST_P(ChainLeaveOneOut, OfPlatesOfChainsInsideChains) { run(150, 5, check_plates, true); }
TEST_P(ChainLeaveOneOut, OfRunsInBlocksOfSlices) {
  const BlockedFrom all(0);
  run(80, 5, check_chains);
  run(80, 5, check_plates);
  run(30, 5, check_plates, true);
}

TEST(LeaveOneOutOfRandomChains, CountsTheConstantsOfOperandsThatAreRecentred) {
  const ChainDraw draw{
      .semiring = Semiring::log, .dtypes = {Dtype::float32}, .graphs = {.most_work = 8000, .loose_parts = false}};
  for_each_chain(300, draw, [](DrawnChain& drawn) {
    if (drawn.tensors().empty()) return testing::AssertionSuccess();
    shift_one_operand(drawn);
    const Bound within{2e-6, 0};
    auto good = check_chains(drawn, within);
    if (good) good = check_plates(drawn, within);
    return good;
  });
}

INSTANTIATE_TEST_SUITE_P(Semirings, ChainLeaveOneOut,
                         testing::Combine(testing::Values(Semiring::log, Semiring::real),
                                          testing::Values(Dtype::float32, Dtype::float64)),
                         test_name);

TEST(ChainPredictive, OfAHiddenMarkovModelByHand) {
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

TEST(ChainPredictive, OfAPlateInASliceThatThePlanLeavesOutForItsSingleSlice) {
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
