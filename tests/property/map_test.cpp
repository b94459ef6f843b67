// The best assignment and max-marginals of random models, against brute force and bit for bit.
#include <gtest/gtest.h>

#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "property/drawn_model.hpp"
#include "property/near.hpp"

namespace plated::test {
namespace {

/// In the semiring that is meant, or in the one whose best assignment it is.
RunOptions options_of(DrawnModel& drawn) {
  RunOptions options = drawn.run();
  const bool other_name = drawn.random.chance(40);
  if (other_name && drawn.semiring == Semiring::max_plus) options.semiring = Semiring::log;
  if (other_name && drawn.semiring == Semiring::max_product) options.semiring = Semiring::real;
  return options;
}

/// For each operand, which entries an assignment uses.
using Used = std::vector<std::vector<bool>>;

Used used_entries(const DrawnModel& drawn, const oracle::Posterior& posterior,
                  const std::map<std::string, Integers>& assignment) {
  Used used;
  for (const Tensor& t : drawn.tensors()) used.emplace_back(static_cast<std::size_t>(t.elements()), false);
  std::size_t batch = 0;
  std::vector<std::int64_t> at(drawn.graph.dims().size(), 0);
  oracle::for_each_index(drawn.graph, drawn.of_kind(DimKind::batch), at, [&] {
    const oracle::World world(drawn.graph, at, {});
    const oracle::States states = posterior.states(batch++, assignment);
    for (const oracle::Site& site : world.factors) used[site.owner][oracle::index_of(site, states)] = true;
  });
  return used;
}

/// Dense copies of the operands in which everything that is not used is the semiring's zero; nothing is where `used` is
/// empty.
std::vector<Tensor> masked(const DrawnModel& drawn, const Used& used) {
  std::vector<Tensor> result;
  for (std::size_t f = 0; f < drawn.tensors().size(); ++f) {
    const Tensor& operand = drawn.tensors()[f];
    std::vector<double> values = operand.values();
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (!used.empty() && !used[f][k]) values[k] = static_cast<double>(oracle::zero(drawn.semiring));
    }
    result.push_back(operand.dtype() == Dtype::float64
                         ? Tensor::of<double>(operand.shape(), values)
                         : Tensor::of<float>(operand.shape(), std::vector<float>(values.begin(), values.end())));
  }
  return result;
}

/// Bits may depend on how operands lie in memory: the masked ones are dense, and so must be what they are held against.
/// Along a chain they also depend on whether messages are kept, and on the level of each message, which masks change.
testing::AssertionResult check_bits(const DrawnModel& drawn, const oracle::Posterior& posterior,
                                    const RunOptions& options, const MapResult& got) {
  if (!drawn.c.chains.empty()) return testing::AssertionSuccess();
  const Plan total = compile(drawn.graph.asking({{}}));
  if (total.run(drawn.tensors(), drawn.run())[0].values() != got.score.values()) {
    return testing::AssertionFailure() << "the score is not the einsum's, bit for bit";
  }
  const MapResult of_dense = map(drawn.plan, masked(drawn, {}), options);
  const Used used = used_entries(drawn, posterior, of_dense.assignment);
  if (total.run(masked(drawn, used), drawn.run())[0].values() == of_dense.score.values()) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "the assignment does not evaluate to the score, bit for bit";
}

/// The score is the best one, the assignment is consistent along chains and weighs what the score says.
testing::AssertionResult check_best(DrawnModel& drawn, const Bound& bound) {
  const RunOptions options = options_of(drawn);
  oracle::Posterior posterior = drawn.posterior();
  const Numbers best = posterior.table({});
  const auto ask = [&] { return map(drawn.plan, drawn.tensors(), options); };
  if (any_zero(best, drawn.semiring)) return impossible([&] { (void)ask(); });
  const MapResult got = ask();
  const Tensor::Shape batch = posterior.shape(posterior.axes({}));
  if (const auto good = near("score", got.score, batch, best, log_magnitude(best), bound); !good) return good;
  if (got.assignment.size() != drawn.variables().size()) {
    return testing::AssertionFailure() << got.assignment.size() << " variables";
  }
  for (const DimId v : drawn.variables()) {
    Tensor::Shape shape = posterior.shape(posterior.axes({v}));
    shape.pop_back();
    if (got.assignment.at(drawn.name_of(v)).shape != shape) {
      return testing::AssertionFailure() << drawn.name_of(v) << " has the wrong shape";
    }
  }
  const std::vector<double> scores = got.score.values();
  for (std::size_t n = 0; n < posterior.batches(); ++n) {
    const long double weight = posterior.weight(n, posterior.states(n, got.assignment));
    if (!(std::abs(weight - scores[n]) <= bound.relative * (20 + std::abs(weight)))) {
      return testing::AssertionFailure() << "the assignment of batch " << n << " weighs " << static_cast<double>(weight)
                                         << ", not " << scores[n];
    }
  }
  return check_bits(drawn, posterior, options, got);
}

testing::AssertionResult check_max_marginals(DrawnModel& drawn, const Bound& bound) {
  oracle::Posterior posterior = drawn.posterior();
  const std::map<std::string, Tensor> got = max_marginals(drawn.plan, drawn.tensors(), options_of(drawn));
  if (got.size() != drawn.variables().size()) return testing::AssertionFailure() << got.size() << " variables";
  for (const DimId v : drawn.variables()) {
    const Numbers want = posterior.table({v});
    const Numbers magnitude = drawn.semiring == Semiring::max_product ? want : log_magnitude(want);
    const auto good =
        near(drawn.name_of(v), got.at(drawn.name_of(v)), posterior.shape(posterior.axes({v})), want, magnitude, bound);
    if (!good) return good;
  }
  return testing::AssertionSuccess();
}

Bound within(Dtype dtype) { return dtype == Dtype::float32 ? Bound{5e-6, 0} : Bound{1e-13, 0}; }

class Map : public OfModels {};

TEST_P(Map, IsTheBestAssignment) {
  for_each_model(models(), [](DrawnModel& drawn) { return check_best(drawn, within(dtype())); });
}

INSTANTIATE_TEST_SUITE_P(
    Of, Map,
    testing::Combine(
        testing::Values(
            Models{"plates", 800}, Models{"plates_with_zeros", 800, {.zero_percent = 12}},
            Models{"larger_plates",
                   60,
                   {.zero_percent = 3, .graphs = CaseOptions{.most_work = 2e5, .small_sizes = false}}},
            Models{"chains", 500, {.graphs = ChainOptions{}}},
            Models{"chains_with_zeros", 400, {.zero_percent = 12, .graphs = ChainOptions{}}},
            Models{"larger_chains",
                   30,
                   {.zero_percent = 3, .graphs = ChainOptions{.most_work = 1e6, .small_sizes = false}}},
            Models{"chains_in_chains", 100, {.zero_percent = 5, .graphs = ChainOptions{.nested = true}}},
            Models{"plates_in_blocks", 300, {.zero_percent = 5}, true},
            Models{"chains_in_blocks", 200, {.zero_percent = 5, .graphs = ChainOptions{.small_sizes = false}}, true},
            Models{
                "chains_in_chains_in_blocks", 100, {.zero_percent = 5, .graphs = ChainOptions{.nested = true}}, true}),
        max_semirings, both_dtypes),
    models_name);

class MaxMarginals : public OfModels {};

TEST_P(MaxMarginals, AreTheBestScoresOfEachState) {
  for_each_model(models(), [](DrawnModel& drawn) { return check_max_marginals(drawn, within(dtype())); });
}

INSTANTIATE_TEST_SUITE_P(
    Of, MaxMarginals,
    testing::Combine(
        testing::Values(Models{"plates", 500}, Models{"plates_with_zeros", 500, {.zero_percent = 25}},
                        Models{"chains", 300, {.graphs = ChainOptions{}}},
                        Models{"chains_with_zeros", 300, {.zero_percent = 25, .graphs = ChainOptions{}}},
                        Models{"chains_in_chains", 100, {.zero_percent = 5, .graphs = ChainOptions{.nested = true}}}),
        max_semirings, both_dtypes),
    models_name);

/// Small integers: many ties, and every sum exact.
TEST(MapTies, AreBestAssignmentsAndTheSameEveryTime) {
  const auto is_best = [](DrawnModel& drawn) -> testing::AssertionResult {
    std::vector<Tensor> whole;
    for (const Tensor& t : drawn.tensors()) {
      std::vector<double> values = t.values();
      for (double& x : values) x = std::round(x / 3);
      whole.push_back(Tensor::of<double>(t.shape(), values));
    }
    oracle::Posterior posterior(drawn.graph, whole, drawn.semiring, drawn.c.lengths);
    const Numbers best = posterior.table({});
    if (any_zero(best, drawn.semiring)) return testing::AssertionSuccess();
    RunOptions options = drawn.run();
    const MapResult got = map(drawn.plan, whole, options);
    for (std::size_t n = 0; n < best.size(); ++n) {
      if (got.score.values()[n] != best[n] || posterior.weight(n, posterior.states(n, got.assignment)) != best[n]) {
        return testing::AssertionFailure() << "batch " << n << " scores " << got.score.values()[n];
      }
    }
    for (const int threads : {1, 3}) {
      options.threads = threads;
      if (map(drawn.plan, whole, options).assignment != got.assignment) {
        return testing::AssertionFailure() << threads << " threads differ";
      }
    }
    return testing::AssertionSuccess();
  };
  for_each_model({"plates", 500, {.semiring = Semiring::max_plus}}, is_best);
  for_each_model({"chains", 300, {.semiring = Semiring::max_plus, .graphs = ChainOptions{}}}, is_best);
}

TEST(MapTies, OfEqualWeightsTakeTheLowestStates) {
  for (const Semiring semiring : {Semiring::max_plus, Semiring::min_plus, Semiring::max_product}) {
    const auto takes_lowest = [&](DrawnModel& drawn) -> testing::AssertionResult {
      std::vector<Tensor> equal;
      for (const Tensor& t : drawn.tensors()) {
        equal.push_back(
            Tensor::of<double>(t.shape(), std::vector<double>(static_cast<std::size_t>(t.elements()), 0.75)));
      }
      oracle::Posterior posterior(drawn.graph, equal, semiring, drawn.c.lengths);
      if (any_zero(posterior.table({}), semiring)) return testing::AssertionSuccess();
      for (const auto& [variable, states] : map(drawn.plan, equal, drawn.run()).assignment) {
        for (const std::int64_t s : states.values) {
          // A slice beyond a length has no state.
          if (s != 0 && (s != -1 || drawn.c.lengths.empty()))
            return testing::AssertionFailure() << variable << " is " << s;
        }
      }
      return testing::AssertionSuccess();
    };
    for_each_model({"plates", 300, {.semiring = semiring}}, takes_lowest);
    for_each_model({"chains", 60, {.semiring = semiring, .graphs = ChainOptions{}}}, takes_lowest);
  }
}

}  // namespace
}  // namespace plated::test
