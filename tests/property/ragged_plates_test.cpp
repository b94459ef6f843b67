// Lengths of plates on random graphs: every question against the unrolled graph without the slices that do not exist,
// whose entries hold NaN.
#include <gtest/gtest.h>

#include "property/every_question.hpp"
#include "property/seeds.hpp"

namespace plated::test {
namespace {

/// Random lengths for some plates of a graph, with batch dims or without.
Lengths random_lengths(const FactorGraph& graph, Random& random) {
  const oracle::Slices slices(graph, {});
  Lengths lengths;
  for (DimId d = 0; d < graph.dims().size(); ++d) {
    if (graph.dims()[d].kind != DimKind::plate || random.chance(25)) continue;
    std::vector<DimId> axes = slices.around_plate(d);
    const std::vector<DimId> batch = slices.batch();
    if (random.chance(50)) axes.insert(axes.begin(), batch.begin(), batch.end());
    Tensor::Shape shape;
    for (const DimId a : axes) shape.push_back(graph.dims()[a].size);
    Integers given(shape, 0);
    for (std::int64_t& length : given.values) length = random.below(graph.dims()[d].size + 1);
    lengths.emplace(graph.dims()[d].name, std::move(given));
  }
  return lengths;
}

/// Calls `property(model, graph)` for random ragged models; intractable ones are skipped.
template <class Property>
void for_each_ragged(std::uint64_t runs, const CaseOptions& graphs, Semiring semiring, Property property) {
  std::uint64_t compared = 0;
  for_each_seed(runs, [&](std::uint64_t seed) -> testing::AssertionResult {
    const Case c = random_case(seed, graphs);
    FactorGraph graph = c.build();
    if (graph.outputs().empty()) graph.output({});
    Random random(seed + 9000011);
    const Lengths lengths = random_lengths(graph, random);
    if (lengths.empty() || !compile_if_tractable(graph)) return testing::AssertionSuccess();
    // A plate of one slice that may be missing is not left out of the plan.
    FactorGraph doubled = graph;
    for (const Dim& dim : graph.dims()) {
      if (dim.kind == DimKind::plate) doubled = doubled.resized(dim.name, 2 * dim.size);
    }
    if (!compile_if_tractable(doubled)) return testing::AssertionSuccess();
    ++compared;
    testing::AssertionResult result = testing::AssertionSuccess();
    try {
      EveryQuestion model(graph, lengths, semiring, seed);
      model.spoil_padding();
      result = property(model, graph);
    } catch (const std::exception& error) {
      result = testing::AssertionFailure() << "threw " << error.what();
    }
    if (result) return result;
    std::string text;
    for (const auto& [name, given] : lengths) {
      text += "\n  lengths of " + name + ":";
      for (const std::int64_t length : given.values) text += " " + std::to_string(length);
    }
    return testing::AssertionFailure() << c.print() << text << "\n" << result.message();
  });
  EXPECT_GE(4 * compared, runs > 100 && !slow_build ? runs : 0) << "too few graphs were ragged";
  testing::Test::RecordProperty("compared", static_cast<int>(compared));
}

class RaggedPlates : public testing::TestWithParam<Semiring> {};

TEST_P(RaggedPlates, HaveTheValueOfTheGraphWithoutTheirMissingSlices) {
  for_each_ragged(2000, {}, GetParam(), [](EveryQuestion& model, const FactorGraph&) { return model.value(); });
}

INSTANTIATE_TEST_SUITE_P(Semirings, RaggedPlates,
                         testing::Values(Semiring::real, Semiring::log, Semiring::max_plus, Semiring::min_plus,
                                         Semiring::max_product, Semiring::boolean),
                         [](const auto& of) { return std::string(name(of.param)); });

class RaggedPosteriors : public testing::TestWithParam<Semiring> {};

// Domains are not empty: a posterior must exist.
const CaseOptions possible{.most_work = 8000, .small_sizes = false};

TEST_P(RaggedPosteriors, HaveGradients) {
  for_each_ragged(600, possible, GetParam(), [](EveryQuestion& model, const FactorGraph&) { return model.gradient(); });
}

TEST_P(RaggedPosteriors, HaveSecondDerivatives) {
  for_each_ragged(600, possible, GetParam(), [](EveryQuestion& model, const FactorGraph&) { return model.hessian(); });
}

TEST_P(RaggedPosteriors, HaveMarginals) {
  for_each_ragged(600, possible, GetParam(), [](EveryQuestion& model, const FactorGraph&) {
    const testing::AssertionResult good = model.marginal();
    return good ? model.marginal({.factors = true, .log = true}) : good;
  });
}

TEST_P(RaggedPosteriors, HaveEntropiesAndExpectations) {
  for_each_ragged(600, possible, GetParam(), [](EveryQuestion& model, const FactorGraph&) { return model.moments(); });
}

TEST_P(RaggedPosteriors, HaveBestAssignments) {
  for_each_ragged(600, possible, GetParam(), [](EveryQuestion& model, const FactorGraph&) { return model.best(); });
}

TEST_P(RaggedPosteriors, HaveSamples) {
  for_each_ragged(200, {.most_work = 2000, .small_sizes = false}, GetParam(),
                  [](EveryQuestion& model, const FactorGraph&) { return model.samples(); });
}

TEST_P(RaggedPosteriors, CanBeLeftOut) {
  for_each_ragged(400, possible, GetParam(), [](EveryQuestion& model, const FactorGraph& graph) {
    testing::AssertionResult good = testing::AssertionSuccess();
    for (const Dim& dim : graph.dims()) {
      if (dim.kind == DimKind::plate && good) good = model.without_slices_of(dim.name);
    }
    return good;
  });
}

INSTANTIATE_TEST_SUITE_P(Semirings, RaggedPosteriors, testing::Values(Semiring::log, Semiring::real),
                         [](const auto& of) { return std::string(name(of.param)); });

TEST(RaggedPlatesOfChains, HaveTheTotalOfTheUnrolledChainWithoutTheirMissingSlices) {
  std::int64_t compared = 0;
  for_each_model(300, {.graphs = ChainOptions{.ragged = false}}, [&](DrawnModel& drawn) -> testing::AssertionResult {
    const oracle::Slices slices(drawn.graph, {});
    Lengths lengths;
    for (const DimId d : drawn.of_kind(DimKind::plate)) {
      Tensor::Shape shape;
      for (const DimId a : slices.around_plate(d)) shape.push_back(drawn.graph.dims()[a].size);
      Integers given(shape, 0);
      for (std::int64_t& length : given.values) length = drawn.random.below(drawn.graph.dims()[d].size + 1);
      lengths.emplace(drawn.name_of(d), std::move(given));
    }
    if (lengths.empty()) return testing::AssertionSuccess();
    RunOptions options = drawn.run();
    options.lengths = lengths;
    const Plan plan = compile(drawn.graph.asking({{}}));
    const auto expected = oracle::unrolled(drawn.graph.asking({{}}), drawn.tensors(), drawn.semiring, lengths);
    std::vector<Tensor> got;
    try {
      got = plan.run(drawn.tensors(), options);
    } catch (const IntractableError&) {  // only for plates of one slice
      return testing::AssertionSuccess();
    }
    ++compared;
    return close(got, expected, drawn.semiring, tolerance(Dtype::float64));
  });
  EXPECT_GT(compared, quota(50)) << "too little was compared";
}

TEST(RaggedPlate, OfFullLengthsIsThePlateAsItIs) {
  for_each_model(300, {.semiring = Semiring::log}, [](DrawnModel& drawn) {
    Lengths lengths;
    const oracle::Slices slices(drawn.graph, {});
    for (const DimId d : drawn.of_kind(DimKind::plate)) {
      Tensor::Shape shape;
      for (const DimId a : slices.around_plate(d)) shape.push_back(drawn.graph.dims()[a].size);
      lengths.emplace(drawn.name_of(d), Integers(shape, drawn.graph.dims()[d].size));
    }
    RunOptions ragged = drawn.run();
    ragged.lengths = lengths;
    const auto plain = drawn.plan.run(drawn.tensors(), drawn.run()), full = drawn.plan.run(drawn.tensors(), ragged);
    testing::AssertionResult good = testing::AssertionSuccess();
    for (std::size_t o = 0; o < plain.size() && good; ++o) {
      const Numbers want = numbers(plain[o]);
      good = near("output " + std::to_string(o), full[o], plain[o].shape(), want, log_magnitude(want), {1e-14, 0});
    }
    return good;
  });
}

TEST(RaggedPlate, OfSetsHasNoJointPosteriorWhereItHasNoSlice) {
  const Tensor g = Tensor::of<double>({3, 2, 2}, {0, 1, 2, 3, 4, 3, 2, 1, std::nan(""), 0, 0, 0});
  const RunOptions options{.semiring = Semiring::log, .lengths = {{"i", Integers({}, {2})}}};
  const Plan plan = compile("ixy->", {g}, {.plates = "i"});
  const Marginals got = marginals(plan, std::vector{g}, options, {.variables = false, .sets = {{"x", "y"}}});
  const std::vector<double> joint = got.sets.at(0).values();
  EXPECT_NEAR(joint[0] + joint[1] + joint[2] + joint[3], 1, 1e-14);
  EXPECT_EQ((std::vector<double>{joint.begin() + 8, joint.end()}), (std::vector<double>{0, 0, 0, 0}));
}

TEST(RaggedPlate, ReadsNoEvidenceBeyondItsLength) {
  const Tensor g = Tensor::of<double>({3, 2}, {0, 1, 2, 0.5, -3, 3});
  const Plan plan = compile("ix->", {g}, {.plates = "i", .plan = {.observable = {"x"}}});
  const RunOptions options{.evidence = {{"x", Integers({3}, {1, -1, 0})}}, .lengths = {{"i", Integers({}, {2})}}};
  const Marginals got = marginals(plan, std::vector{g}, options);
  EXPECT_NEAR(got.log_partition.values()[0], 1 + std::log(std::exp(2) + std::exp(0.5)), 1e-14);
  EXPECT_EQ(map(plan, std::vector{g}, options).assignment.at("x").values, (std::vector<std::int64_t>{1, 0, -1}));
}

TEST(RaggedPlate, KeepsItsDistributionsUncheckedBeyondItsLength) {
  FactorGraph graph;
  graph.plate("i", 2);
  graph.variable("x", 2);
  graph.factor("p", {"i", "x"}, {.distribution_of = "x"});
  const Tensor p = Tensor::of<double>({2, 2}, {std::log(0.25), std::log(0.75), 7, 8});
  const Plan plan = compile(graph);
  EXPECT_THROW((void)plan.run({p}), ValueError);
  EXPECT_NEAR(plan.run({p}, {.lengths = {{"i", Integers({}, {1})}}})[0].values()[0], 0, 1e-14);
}

}  // namespace
}  // namespace plated::test
