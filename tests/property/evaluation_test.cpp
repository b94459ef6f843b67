// Evaluations of random models answer like the verbs, and follow changes of their operands.
#include "plated/evaluation.hpp"

#include <gtest/gtest.h>

#include <set>

#include "planner/extents.hpp"
#include "plated/error.hpp"
#include "plated/gradient.hpp"
#include "property/count_samples.hpp"
#include "property/drawn_model.hpp"
#include "property/near.hpp"

namespace plated::test {
namespace {

testing::AssertionResult alike(const std::string& what, const Tensor& got, const Tensor& want, double scale) {
  if (got.shape() != want.shape() || got.dtype() != want.dtype())
    return testing::AssertionFailure() << what << " shape";
  const std::vector<double> a = got.values(), b = want.values();
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] == b[k] || std::abs(a[k] - b[k]) <= scale * (1 + std::abs(b[k]))) continue;
    return testing::AssertionFailure() << what << "[" << k << "]: " << a[k] << " instead of " << b[k];
  }
  return testing::AssertionSuccess();
}

/// Every question of an evaluation against its verb.
testing::AssertionResult answers_alike(DrawnModel& drawn) {
  const Plan& plan = drawn.plan;
  const std::vector<Tensor>& operands = drawn.tensors();
  const RunOptions options = drawn.run();
  const Semiring semiring = drawn.semiring;
  const Evaluation e = plan.evaluate(operands, options);
  const auto want = plan.run(operands, options);
  const auto values = e.value();
  testing::AssertionResult good = testing::AssertionSuccess();
  for (std::size_t o = 0; o < want.size() && good; ++o) good = alike("value", values[o], want[o], 1e-12);
  const bool sums = semiring == Semiring::log || semiring == Semiring::real;
  if (!good) return good;
  if (!sums) {
    if (semiring == Semiring::boolean) return good;
    const MapResult best = e.map();
    const MapResult other = map(plan, operands, options);
    if (!(good = alike("score", best.score, other.score, 1e-12))) return good;
    const auto each = max_marginals(plan, operands, options);
    for (const auto& [name, tensor] : e.max_marginals()) {
      if (!(good = alike("max-marginal of " + name, tensor, each.at(name), 1e-12))) return good;
    }
    return good;
  }
  const auto gradients = value_and_gradient(plan, operands, options).gradients;
  const auto mine = e.gradient();
  for (std::size_t f = 0; f < gradients.size() && good; ++f) good = alike("gradient", mine[f], gradients[f], 1e-11);
  if (!good) return good;
  const MarginalOptions wanted{.factors = true};
  const Marginals posterior = marginals(plan, operands, options, wanted);
  const Marginals own = e.marginals(wanted);
  if (!(good = alike("log Z", own.log_partition, posterior.log_partition, 1e-12))) return good;
  for (const auto& [name, tensor] : posterior.variables) {
    if (!(good = alike("marginal of " + name, own.variables.at(name), tensor, 1e-11))) return good;
  }
  for (std::size_t f = 0; f < posterior.factors.size() && good; ++f) {
    good = alike("factor", own.factors[f], posterior.factors[f], 1e-11);
  }
  if (!good) return good;
  if (!(good = alike("entropy", e.entropy(), entropy(plan, operands, options), 1e-11))) return good;
  const std::vector<Tensor> statistics = signed_like(operands, drawn.random);
  const auto expected = expectation(plan, operands, statistics, options);
  if (!(good = alike("expectation", e.expectation(statistics), expected, 1e-11))) return good;
  const auto draws = e.sample({.count = 3, .seed = 5});
  for (const auto& [name, states] : sample(plan, operands, {.count = 3, .seed = 5}, options)) {
    if (draws.at(name).shape != states.shape) return testing::AssertionFailure() << "samples of " << name;
  }
  return good;
}

class Evaluations : public OfModels {};

TEST_P(Evaluations, AnswerLikeTheVerbs) {
  for_each_model(models(), [](DrawnModel& drawn) {
    try {
      return answers_alike(drawn);
    } catch (const ImpossibleError&) {
      return testing::AssertionSuccess();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(
    Of, Evaluations,
    testing::Combine(
        testing::Values(Models{"plates", 250, {.graphs = CaseOptions{.most_work = 2000}}},
                        Models{"chains", 60, {.graphs = ChainOptions{.most_work = 2000}}},
                        Models{"chains_in_chains", 20, {.graphs = ChainOptions{.most_work = 2000, .nested = true}}}),
        testing::Values(Semiring::log, Semiring::real, Semiring::max_plus, Semiring::min_plus, Semiring::max_product,
                        Semiring::boolean),
        testing::Values(Dtype::float64)),
    models_name);

testing::AssertionResult check_best(DrawnModel& drawn) {
  const oracle::Posterior posterior = drawn.posterior();
  const Numbers best = drawn.posterior().table({});
  if (any_zero(best, drawn.semiring)) return testing::AssertionSuccess();
  const MapResult got = drawn.plan.evaluate(drawn.tensors(), drawn.run()).map();
  for (std::size_t n = 0; n < posterior.batches(); ++n) {
    const long double weight = posterior.weight(n, posterior.states(n, got.assignment));
    if (!(std::abs(weight - best[n]) <= 1e-12L * (20 + std::abs(best[n])))) {
      return testing::AssertionFailure() << "the assignment of batch " << n << " weighs " << static_cast<double>(weight)
                                         << ", not " << static_cast<double>(best[n]);
    }
  }
  return testing::AssertionSuccess();
}

/// Assignments and samples trace back what a forward run has kept.
TEST(EvaluationChoices, AreBestAssignments) {
  DrawOptions draw{.semiring = Semiring::max_plus, .zero_percent = 4};
  for_each_model(150, draw, check_best);
  for (const bool nested : {false, true}) {
    draw.graphs = ChainOptions{.nested = nested};
    for_each_model(150, draw, check_best);
  }
}

TEST(EvaluationChoices, AreDrawnFromTheJointDistribution) {
  const auto check = [](DrawnModel& drawn) -> testing::AssertionResult {
    oracle::Posterior posterior = drawn.posterior();
    if (any_zero(posterior.table({}), drawn.semiring)) return testing::AssertionSuccess();
    const SampleOptions options{.count = 1500, .seed = drawn.c.seed + 5};
    return plausible(posterior, drawn.plan.evaluate(drawn.tensors(), drawn.run()).sample(options), options.count);
  };
  DrawOptions draw{.zero_percent = 4, .graphs = CaseOptions{.most_work = 3000}};
  for_each_model(60, draw, check);
  for (const bool nested : {false, true}) {
    draw.graphs = ChainOptions{.most_work = 4000, .nested = nested};
    for_each_model(60, draw, check);
  }
}

/// Changes slices of operands, where one plate is large. Entries that no slice reads are NaN.
testing::AssertionResult check_updates(const Case& c) {
  FactorGraph graph = c.build();
  Random random(c.seed);
  const RunOptions options{.lengths = c.lengths};
  std::vector<std::int64_t> sizes;
  bool large = false;  // one plate is
  for (const Dim& dim : graph.dims()) {
    sizes.push_back(dim.kind == DimKind::variable ? dim.size : 1 + random.below(3));
    if (dim.kind != DimKind::plate || large || random.chance(50)) continue;
    sizes.back() = 150;
    large = true;
  }
  if (!c.lengths.empty()) sizes = planner::extents_of(graph);  // which they are given for
  double elements = 0;
  for (const Factor& factor : graph.factors()) {
    double own = 1;
    for (const DimId d : factor.dims) own *= static_cast<double>(sizes[d]);
    elements += own;
  }
  if (elements > 3e5 || graph.factors().empty()) return testing::AssertionSuccess();
  graph = graph.resized(sizes);
  try {
    const Plan plan = compile(graph);
    const Operands given(graph, random, {.semiring = Semiring::log});
    std::vector<Tensor> operands;
    for (const Tensor& t : given.tensors()) operands.push_back(Tensor::of(t.shape(), t.values()));
    if (!c.lengths.empty()) spoil_padding(graph, c.lengths, operands);
    Evaluation e = plan.evaluate(operands, options);
    for (int change = 0; change < 3; ++change) {
      const auto f = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(operands.size())));
      std::vector<std::int64_t> index;
      Tensor slice = operands[f];
      std::size_t axis = 0;
      const std::vector<DimId>& dims = graph.factors()[f].dims;
      if (std::set<DimId>(dims.begin(), dims.end()).size() < dims.size()) continue;  // a diagonal
      for (const DimId d : dims) {
        if (graph.dims()[d].kind == DimKind::variable) {
          ++axis;
          continue;
        }
        if (slice.shape()[axis] == 0) return testing::AssertionSuccess();
        index.push_back(random.below(slice.shape()[axis]));
        slice = slice.select(axis, index.back());
      }
      if (slice.elements() == 0) continue;
      static_cast<double*>(slice.mutable_data())[0] += 0.25;
      e.update(f, index);
      const Evaluation fresh = plan.evaluate(operands, options);
      const auto got = e.value(), want = fresh.value();
      for (std::size_t o = 0; o < want.size(); ++o) {
        if (got[o].values() != want[o].values())
          return testing::AssertionFailure() << "output " << o << "\n" << c.print();
      }
      const auto after = e.gradient(), exact = fresh.gradient();
      for (std::size_t k = 0; k < exact.size(); ++k) {
        if (after[k].values() != exact[k].values())
          return testing::AssertionFailure() << "gradient " << k << "\n" << c.print();
      }
      const SampleOptions draws{.count = 2, .seed = c.seed};
      if (e.sample(draws) != fresh.sample(draws)) return testing::AssertionFailure() << "samples\n" << c.print();
    }
  } catch (const IntractableError&) {
  } catch (const ImpossibleError&) {  // a variable has no states
  } catch (const SizeError&) {        // a diagonal of two sizes
  }
  return testing::AssertionSuccess();
}

TEST(EvaluationUpdate, HasTheBitsOfAFreshEvaluation) {
  for_each_seed(250, [](std::uint64_t seed) { return check_updates(random_case(seed, {.most_work = 2000})); });
  for_each_seed(150, [](std::uint64_t seed) {
    return check_updates(random_chain(seed, {.most_work = 2000, .nested = seed % 3 == 0}));
  });
}

TEST(EvaluationUpdate, OfAnOperandThatWasCopiedHasTheBitsOfAFreshEvaluation) {
  // Its magnitude would swallow the other's.
  const Tensor large = Tensor::of<float>({3, 2}, {1e8F, 1e8F, 2e8F, 1e8F, 1e8F, 3e8F});
  const Tensor small = Tensor::of<float>({3, 2}, {0.5F, 0.25F, 1, 2, 3, 4});
  const Plan plan = compile("ix,ix->", {large, small}, {.plates = "i"});
  Evaluation e = plan.evaluate({large, small});
  static_cast<float*>(large.mutable_data())[2] = 1e8F;
  e.update(0, 1);
  EXPECT_EQ(e.value()[0].values(), plan.evaluate({large, small}).value()[0].values());
  EXPECT_EQ(e.marginals().variables.at("x").values(),
            plan.evaluate({large, small}).marginals().variables.at("x").values());
}

}  // namespace
}  // namespace plated::test
