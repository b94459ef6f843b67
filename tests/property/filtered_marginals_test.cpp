// Filtered marginals of chains, and those of their ends, against the brute-force posterior.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plated/error.hpp"
#include "plated/marginals.hpp"
#include "property/drawn_model.hpp"
#include "property/near.hpp"

namespace plated::test {
namespace {

/// `^a` and `b$`, on request and only then.
testing::AssertionResult check_ends(DrawnModel& drawn, const Bound& bound) {
  oracle::Posterior plain = drawn.posterior();
  if (any_zero(plain.table({}), drawn.semiring)) return testing::AssertionSuccess();
  const Marginals none = marginals(drawn.plan, drawn.tensors(), drawn.run());
  if (none.variables.size() != drawn.variables().size()) {
    return testing::AssertionFailure() << none.variables.size() << " variables without ends";
  }
  const bool log = drawn.random.chance(50);
  const Marginals got = marginals(drawn.plan, drawn.tensors(), drawn.run(), {.ends = true, .log = log});
  // An output names the ends, so that the oracle's graph has them.
  FactorGraph graph = drawn.graph;
  std::vector<std::string> names;
  for (const auto& chain : drawn.c.chains) {
    for (const auto& [source, target] : chain.links) {
      for (const auto& [end, of] : {std::pair(first(source), source), std::pair(last(target), target)}) {
        std::vector<std::string> output{end};
        for (const DimId d : oracle::Slices(drawn.graph, {}).around(*drawn.graph.find(chain.name))) {
          output.push_back(drawn.name_of(d));
        }
        graph.output(output);
        names.push_back(end);
      }
    }
  }
  oracle::Posterior posterior(graph, drawn.tensors(), drawn.semiring, drawn.c.lengths);
  for (const std::string& end : names) {
    if (!got.variables.contains(end)) return testing::AssertionFailure() << "no " << end;
    const DimId v = *graph.find(end);
    const auto good = near_probabilities("marginal of " + end, got.variables.at(end),
                                         posterior.shape(posterior.axes({v})), posterior.marginal({v}), log, bound);
    if (!good) return good;
  }
  return testing::AssertionSuccess();
}

/// Of the outermost chain that a variable is in. Other sequences of it are known to their ends.
testing::AssertionResult check_filtered(DrawnModel& drawn, const Bound& bound) {
  oracle::Posterior posterior = drawn.posterior();
  if (any_zero(posterior.table({}), drawn.semiring)) return testing::AssertionSuccess();
  const Marginals got = marginals(drawn.plan, drawn.tensors(), drawn.run(), {.filtered = true});
  for (const DimId v : drawn.variables()) {
    const auto chain = oracle::Slices(drawn.graph, {}).outermost_chain(v);
    const Numbers want = chain ? posterior.filtered(v, *chain) : posterior.marginal({v});
    const auto good = near_probabilities("filtered " + drawn.name_of(v), got.variables.at(drawn.name_of(v)),
                                         posterior.shape(posterior.axes({v})), want, false, bound);
    if (!good) return good;
  }
  return testing::AssertionSuccess();
}

class ChainMarginals : public OfModels {};

TEST_P(ChainMarginals, OfEnds) {
  for_each_model(models(), [](DrawnModel& drawn) { return check_ends(drawn, bound({dtype()})); });
}

INSTANTIATE_TEST_SUITE_P(
    Of, ChainMarginals,
    testing::Combine(
        testing::Values(Models{"chains", 300, {.zero_percent = 5, .graphs = ChainOptions{}}},
                        Models{"chains_in_chains", 50, {.zero_percent = 5, .graphs = ChainOptions{.nested = true}}},
                        Models{"chains_in_blocks", 60, {.zero_percent = 5, .graphs = ChainOptions{}}, true}),
        sum_semirings, both_dtypes),
    models_name);

class FilteredMarginals : public OfModels {};

TEST_P(FilteredMarginals, KnowNothingOfLaterSlices) {
  for_each_model(models(), [](DrawnModel& drawn) { return check_filtered(drawn, bound({dtype()})); });
}

INSTANTIATE_TEST_SUITE_P(
    Of, FilteredMarginals,
    testing::Combine(
        testing::Values(Models{"chains_with_free_ends",
                               250,
                               {.zero_percent = 5, .graphs = ChainOptions{.most_work = 8000, .last_factors = false}}},
                        Models{"chains_whose_last_state_is_held",
                               250,
                               {.zero_percent = 5, .graphs = ChainOptions{.most_work = 8000, .slice_ends = false}}},
                        Models{"chains_in_chains",
                               60,
                               {.zero_percent = 5, .graphs = ChainOptions{.most_work = 8000, .nested = true}}},
                        Models{"chains_in_blocks",
                               60,
                               {.zero_percent = 5, .graphs = ChainOptions{.most_work = 8000, .last_factors = false}},
                               true}),
        sum_semirings, both_dtypes),
    models_name);

TEST(ChainMarginalsOf, NeighbouringSlicesAgree) {
  for_each_model(300, {.graphs = ChainOptions{}}, [](DrawnModel& drawn) -> testing::AssertionResult {
    if (!drawn.c.lengths.empty()) return testing::AssertionSuccess();
    const auto& chain = drawn.c.chains[0];
    oracle::Posterior posterior = drawn.posterior();
    if (any_zero(posterior.table({}), drawn.semiring)) return testing::AssertionSuccess();
    const Marginals got = marginals(drawn.plan, drawn.tensors(), drawn.run(), {.ends = true});
    for (const auto& [source, target] : chain.links) {
      // Axes: …, the chain, the states. What follows slice 0 of the source is the target but for its last slice.
      const Tensor &a = got.variables.at(source), &b = got.variables.at(target);
      const std::size_t axis = a.rank() - 2;
      for (std::int64_t t = 0; t + 1 < chain.size; ++t) {
        const std::vector<double> after = a.select(axis, t + 1).values(), before = b.select(axis, t).values();
        for (std::size_t k = 0; k < after.size(); ++k) {
          if (!(std::abs(after[k] - before[k]) <= 1e-13)) return testing::AssertionFailure() << source << " " << t;
        }
      }
      if (chain.size == 0) continue;
      const std::vector<double> first_a = a.select(axis, 0).values(), end = got.variables.at(first(source)).values();
      for (std::size_t k = 0; k < end.size(); ++k) {
        if (!(std::abs(first_a[k] - end[k]) <= 1e-13)) return testing::AssertionFailure() << first(source);
      }
    }
    return testing::AssertionSuccess();
  });
}

/// Sets, ends and filtered marginals in one question are those of three.
TEST(ChainMarginalsOf, AllAtOnceAreThoseAskedAlone) {
  int asked = 0;
  for_each_model(200, {.graphs = ChainOptions{.last_factors = false}}, [&](DrawnModel& drawn) {
    const auto ask = [&](const MarginalOptions& wanted) {
      return marginals(drawn.plan, drawn.tensors(), drawn.run(), wanted);
    };
    oracle::Posterior posterior = drawn.posterior();
    if (any_zero(posterior.table({}), drawn.semiring)) return testing::AssertionSuccess();
    const auto& [source, target] = drawn.c.chains[0].links[0];
    const std::vector<std::vector<std::string>> sets{{source}};
    Marginals filtered;
    try {
      filtered = ask({.filtered = true, .log = true});
    } catch (const Error&) {
      return testing::AssertionSuccess();  // what is not offered
    }
    ++asked;
    const Marginals all = ask({.sets = sets, .ends = true, .filtered = true, .log = true});
    const Marginals joint = ask({.variables = false, .sets = sets, .log = true});
    const Marginals ends = ask({.variables = false, .ends = true, .log = true});
    const auto is_near = [](const Tensor& got, const Tensor& want) {
      const std::vector<double> a = got.values(), b = want.values();
      return got.shape() == want.shape() && std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) {
               return x == y || std::abs(x - y) <= 1e-9 * (1 + std::abs(y));
             });
    };
    if (all.sets.size() != 1 || !is_near(all.sets[0], joint.sets[0])) return testing::AssertionFailure() << "set";
    for (const Marginals& of : {filtered, ends}) {
      for (const auto& [name, tensor] : of.variables) {
        if (!is_near(all.variables.at(name), tensor)) return testing::AssertionFailure() << name;
      }
    }
    return testing::AssertionSuccess();
  });
  EXPECT_GT(asked, quota(50));
}

}  // namespace
}  // namespace plated::test
