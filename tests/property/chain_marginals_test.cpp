// Smoothed, joint, filtered and end marginals of random chains against the brute-force posterior.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "plated/marginals.hpp"
#include "property/blocked_from.hpp"
#include "property/chain_case.hpp"

namespace plated::test {
namespace {

/// Random sets of variables of one slice: inside the same chains, joined there, each one's plates containing the
/// other's.
std::vector<std::vector<DimId>> random_sets(DrawnChain& drawn) {
  const auto plates = drawn.graph.variable_plates();
  const oracle::Slices slices(drawn.graph, {});
  std::vector<DimId> variables = drawn.variables();
  std::vector<std::vector<DimId>> sets;
  for (std::int64_t n = drawn.random.below(3); n > 0 && !variables.empty(); --n) {
    drawn.random.shuffle(variables);
    std::vector<DimId> set;
    for (const DimId v : variables) {
      const bool fits = std::all_of(set.begin(), set.end(), [&](DimId w) {
        const auto &p = plates[v], &q = plates[w];
        const bool nested = std::includes(p.begin(), p.end(), q.begin(), q.end()) ||
                            std::includes(q.begin(), q.end(), p.begin(), p.end());
        const std::vector<DimId> chains = slices.of_kind(p, DimKind::chain);
        const bool joined = std::all_of(chains.begin(), chains.end(), [&](DimId chain) {
          const std::vector<DimId> label = joined_in(drawn.graph, chain);
          return label[v] == label[w];
        });
        return nested && joined && chains == slices.of_kind(q, DimKind::chain);
      });
      if (fits && set.size() < 3) set.push_back(v);
    }
    sets.push_back(set);
  }
  return sets;
}

testing::AssertionResult check_factors(DrawnChain& drawn, oracle::Posterior& posterior, const Marginals& got, bool log,
                                       const Bound& bound) {
  for (std::size_t f = 0; f < got.factors.size(); ++f) {
    Numbers want = posterior.factor(f);
    const Numbers count = posterior.shared_by(f);
    if (std::count(count.begin(), count.end(), 0) == std::ssize(count)) continue;  // it stands for nothing
    for (std::size_t k = 0; k < want.size(); ++k) want[k] /= std::max(count[k], 1.0L);
    const auto good = near_probabilities("posterior of factor " + std::to_string(f), got.factors[f],
                                         drawn.tensors()[f].shape(), want, log, bound);
    if (!good) return good;
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult check(DrawnChain& drawn, const Bound& bound) {
  const std::vector<std::vector<DimId>> sets = random_sets(drawn);
  MarginalOptions wanted{.variables = drawn.random.chance(85),
                         .factors = drawn.random.chance(60),
                         .sets = {},
                         .ends = drawn.random.chance(50),
                         .log = drawn.random.chance(50)};
  for (const std::vector<DimId>& set : sets) {
    wanted.sets.emplace_back();
    for (const DimId v : set) wanted.sets.back().push_back(drawn.name_of(v));
  }
  oracle::Posterior posterior = drawn.posterior();
  const auto ask = [&] { return marginals(drawn.plan, drawn.tensors(), drawn.run(), wanted); };
  const Numbers totals = posterior.table({});
  if (any_zero(totals, drawn.semiring)) return impossible([&] { (void)ask(); });
  const Marginals got = ask();
  const Numbers log_z = posterior.log_totals();
  auto good = near("log Z", got.log_partition, posterior.shape(posterior.axes({})), log_z, log_magnitude(log_z), bound);
  for (const DimId v : drawn.variables()) {
    if (!good || !wanted.variables) break;
    good = near_probabilities("marginal of " + drawn.name_of(v), got.variables.at(drawn.name_of(v)),
                              posterior.shape(posterior.axes({v})), posterior.marginal({v}), wanted.log, bound);
  }
  if (good && wanted.factors) good = check_factors(drawn, posterior, got, wanted.log, bound);
  for (std::size_t s = 0; s < sets.size() && good; ++s) {
    good = near_probabilities("joint marginal " + std::to_string(s), got.sets.at(s),
                              posterior.shape(posterior.axes(sets[s])), posterior.marginal(sets[s]), wanted.log, bound);
  }
  if (good) return good;
  return testing::AssertionFailure() << good.message() << (wanted.log ? ", log" : "")
                                     << (wanted.variables ? ", variables" : "") << (wanted.factors ? ", factors" : "")
                                     << (wanted.ends ? ", ends" : "");
}

class ChainMarginals : public testing::TestWithParam<std::tuple<Semiring, Dtype>> {
 protected:
  template <class Check>
  void run(std::uint64_t runs, int zero_percent, Check check_one, const ChainOptions& graphs = {},
           bool extreme = false) {
    const ChainDraw draw{.semiring = std::get<0>(GetParam()),
                         .dtypes = {std::get<1>(GetParam())},
                         .zero_percent = zero_percent,
                         .extreme = extreme,
                         .graphs = graphs};
    for_each_chain(runs, draw, [&](DrawnChain& drawn) { return check_one(drawn, bound(draw.dtypes)); });
  }
};

/// `^a` and `b$`, on request and only then.
testing::AssertionResult check_ends(DrawnChain& drawn, const Bound& bound) {
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
  for (const auto& chain : drawn.chain_case.chains) {
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
  oracle::Posterior posterior(graph, drawn.tensors(), drawn.semiring, drawn.chain_case.lengths);
  for (const std::string& end : names) {
    if (!got.variables.contains(end)) return testing::AssertionFailure() << "no " << end;
    const DimId v = *graph.find(end);
    const auto good = near_probabilities("marginal of " + end, got.variables.at(end),
                                         posterior.shape(posterior.axes({v})), posterior.marginal({v}), log, bound);
    if (!good) return good;
  }
  return testing::AssertionSuccess();
}

/// Where sequences share a variable, or chains nest, what "up to this slice" means of the others is left open here.
testing::AssertionResult check_filtered(DrawnChain& drawn, const Bound& bound) {
  oracle::Posterior posterior = drawn.posterior();
  if (drawn.chain_case.chains.size() > 1 || any_zero(posterior.table({}), drawn.semiring)) {
    return testing::AssertionSuccess();
  }
  const oracle::Slices slices(drawn.graph, {});
  const DimId chain = *drawn.graph.find(drawn.chain_case.chains[0].name);
  for (const DimId v : drawn.variables()) {
    const std::vector<DimId> plates = slices.plates(v);
    const bool inside = oracle::contains(plates, chain);
    if (!inside && plates.size() < slices.around(chain).size()) return testing::AssertionSuccess();
  }
  const Marginals got = marginals(drawn.plan, drawn.tensors(), drawn.run(), {.filtered = true});
  for (const DimId v : drawn.variables()) {
    if (!oracle::contains(slices.plates(v), chain)) continue;
    const auto good =
        near_probabilities("filtered " + drawn.name_of(v), got.variables.at(drawn.name_of(v)),
                           posterior.shape(posterior.axes({v})), posterior.filtered(v, chain), false, bound);
    if (!good) return good;
  }
  return testing::AssertionSuccess();
}

TEST_P(ChainMarginals, OfRandomChains) { run(500, 0, check); }
TEST_P(ChainMarginals, OfChainsWithZeros) { run(400, 10, check); }
TEST_P(ChainMarginals, OfLargerChains) { run(25, 3, check, {.most_work = 5e5, .small_sizes = false}); }
TEST_P(ChainMarginals, OfChainsInsideChains) { run(100, 5, check, {.nested = true}); }
TEST_P(ChainMarginals, OfRunsInBlocksOfSlices) {
  const BlockedFrom all(0);
  run(120, 5, check);
  run(30, 5, check, {.nested = true});
  run(60, 5, check_ends);
  run(60, 5, check_filtered, {.most_work = 8000, .last_factors = false});
}
/// Until posteriors are exact for slices that weigh 1e±300, or are masked with −1e30 in log space.
TEST_P(ChainMarginals, OfExtremeMagnitudes) { run(300, 0, check, {}, true); }
TEST_P(ChainMarginals, OfEnds) { run(300, 5, check_ends); }
TEST_P(ChainMarginals, Filtered) { run(250, 5, check_filtered, {.most_work = 8000, .last_factors = false}); }
TEST_P(ChainMarginals, FilteredWhereTheLastStateIsHeld) {
  run(250, 5, check_filtered, {.most_work = 8000, .slice_ends = false});
}

INSTANTIATE_TEST_SUITE_P(Semirings, ChainMarginals,
                         testing::Combine(testing::Values(Semiring::log, Semiring::real),
                                          testing::Values(Dtype::float32, Dtype::float64)),
                         test_name);

TEST(ChainMarginalsOf, NeighbouringSlicesAgree) {
  for_each_chain(300, {}, [](DrawnChain& drawn) -> testing::AssertionResult {
    if (!drawn.chain_case.lengths.empty()) return testing::AssertionSuccess();
    const auto& chain = drawn.chain_case.chains[0];
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

}  // namespace
}  // namespace plated::test
