// Marginals of variables, factors and sets of variables of random models, against the brute-force posterior.
#include <gtest/gtest.h>

#include "plated/marginals.hpp"
#include "property/drawn_equation.hpp"
#include "property/near.hpp"

namespace plated::test {
namespace {

/// Random sets of variables, each one's plates and chains containing the other's.
std::vector<std::vector<DimId>> random_sets(DrawnModel& drawn) {
  const auto plates = drawn.graph.variable_plates();
  std::vector<DimId> variables = drawn.variables();
  std::vector<std::vector<DimId>> sets;
  for (std::int64_t n = drawn.random.below(3); n > 0 && !variables.empty(); --n) {
    drawn.random.shuffle(variables);
    std::vector<DimId> set;
    for (const DimId v : variables) {
      const bool fits = std::all_of(set.begin(), set.end(), [&](DimId w) {
        const auto &p = plates[v], &q = plates[w];
        return std::includes(p.begin(), p.end(), q.begin(), q.end()) ||
               std::includes(q.begin(), q.end(), p.begin(), p.end());
      });
      if (fits && set.size() < 3) set.push_back(v);
    }
    sets.push_back(set);
  }
  return sets;
}

testing::AssertionResult check_factors(const DrawnModel& drawn, const oracle::Posterior& posterior,
                                       const Marginals& got, bool log, const Bound& bound) {
  for (std::size_t f = 0; f < got.factors.size(); ++f) {
    Numbers want = posterior.factor(f);
    const Numbers count = posterior.shared_by(f);
    if (!count.empty() && std::count(count.begin(), count.end(), 0) == std::ssize(count))
      continue;  // it stands for nothing
    for (std::size_t k = 0; k < want.size(); ++k) want[k] /= std::max(count[k], 1.0L);
    const auto good = near_probabilities("posterior of factor " + std::to_string(f), got.factors[f],
                                         drawn.tensors()[f].shape(), want, log, bound);
    if (!good) return good;
  }
  return testing::AssertionSuccess();
}

/// Whether there is an answer to everything that was asked, and to nothing else.
testing::AssertionResult check_counts(const DrawnModel& drawn, const MarginalOptions& wanted, const Marginals& got) {
  std::size_t variables = wanted.variables ? drawn.variables().size() : 0;
  for (const auto& [name, tensor] : got.variables) {
    if (name.starts_with('^') || name.ends_with('$')) variables += wanted.ends ? 1 : 0;
  }
  if (got.variables.size() == variables && got.factors.size() == (wanted.factors ? drawn.tensors().size() : 0) &&
      got.sets.size() == wanted.sets.size()) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << got.variables.size() << " variables, " << got.factors.size() << " factors, "
                                     << got.sets.size() << " sets";
}

testing::AssertionResult check(DrawnModel& drawn, const Bound& bound) {
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
  if (any_zero(posterior.table({}), drawn.semiring)) return impossible([&] { (void)ask(); });
  const Marginals got = ask();
  const Numbers log_z = posterior.log_totals();
  auto good = near("log Z", got.log_partition, posterior.shape(posterior.axes({})), log_z, log_magnitude(log_z), bound);
  if (good) good = check_counts(drawn, wanted, got);
  for (const DimId v : drawn.variables()) {
    if (!good || !wanted.variables) break;
    good = near_probabilities("marginal of " + drawn.name_of(v), got.variables.at(drawn.name_of(v)),
                              posterior.shape(posterior.axes({v})), posterior.marginal({v}), wanted.log, bound);
  }
  if (good) good = check_factors(drawn, posterior, got, wanted.log, bound);
  for (std::size_t s = 0; s < sets.size() && good; ++s) {
    good = near_probabilities("joint marginal " + std::to_string(s), got.sets.at(s),
                              posterior.shape(posterior.axes(sets[s])), posterior.marginal(sets[s]), wanted.log, bound);
  }
  if (good) return good;
  return testing::AssertionFailure() << good.message() << (wanted.log ? ", log" : "")
                                     << (wanted.variables ? ", variables" : "") << (wanted.factors ? ", factors" : "")
                                     << (wanted.ends ? ", ends" : "");
}

class MarginalsOf : public OfModels {};

TEST_P(MarginalsOf, ArePosteriors) {
  for_each_model(models(), [](DrawnModel& drawn) { return check(drawn, bound({dtype()})); });
}

INSTANTIATE_TEST_SUITE_P(
    Of, MarginalsOf,
    testing::Combine(
        testing::Values(
            Models{"plates", 900}, Models{"plates_with_zeros", 900, {.zero_percent = 12}},
            Models{"plates_of_extreme_magnitudes", 600, {.extreme = true}},
            Models{"larger_plates",
                   60,
                   {.zero_percent = 3, .graphs = CaseOptions{.most_work = 2e5, .small_sizes = false}}},
            Models{"chains", 500, {.graphs = ChainOptions{}}},
            Models{"chains_with_zeros", 400, {.zero_percent = 10, .graphs = ChainOptions{}}},
            Models{"chains_of_extreme_magnitudes", 300, {.extreme = true, .graphs = ChainOptions{}}},
            Models{"larger_chains",
                   25,
                   {.zero_percent = 3, .graphs = ChainOptions{.most_work = 5e5, .small_sizes = false}}},
            Models{"chains_in_chains", 100, {.zero_percent = 5, .graphs = ChainOptions{.nested = true}}},
            Models{"plates_in_blocks", 120, {.zero_percent = 5}, true},
            Models{"chains_in_blocks", 120, {.zero_percent = 5, .graphs = ChainOptions{}}, true},
            Models{
                "chains_in_chains_in_blocks", 30, {.zero_percent = 5, .graphs = ChainOptions{.nested = true}}, true}),
        sum_semirings, both_dtypes),
    models_name);

/// Slices that a chain does not have sum to nothing.
testing::AssertionResult check_sums(DrawnModel& drawn, double within) {
  oracle::Posterior posterior = drawn.posterior();
  if (any_zero(posterior.table({}), drawn.semiring)) return testing::AssertionSuccess();
  const Marginals got = marginals(drawn.plan, drawn.tensors(), drawn.run());
  for (const auto& [variable, tensor] : got.variables) {
    const std::vector<double> p = tensor.values();
    const Numbers want = posterior.marginal({*drawn.graph.find(variable)});
    const auto states = static_cast<std::size_t>(tensor.shape().back());
    for (std::size_t k = 0; k < p.size(); k += states) {
      double sum = 0;
      long double exact = 0;
      for (std::size_t s = 0; s < states; ++s) {
        sum += p[k + s];
        exact += want[k + s];
      }
      if (!(std::abs(sum - static_cast<double>(std::round(exact))) <= within)) {
        return testing::AssertionFailure() << variable << " sums to 1 + " << sum - 1;
      }
    }
  }
  return testing::AssertionSuccess();
}

class SumsOfMarginals : public OfModels {};

TEST_P(SumsOfMarginals, AreOne) {
  const double within = dtype() == Dtype::float32 ? 3e-6 : 1e-14;
  for_each_model(models(), [&](DrawnModel& drawn) { return check_sums(drawn, within); });
}

INSTANTIATE_TEST_SUITE_P(Of, SumsOfMarginals,
                         testing::Combine(testing::Values(Models{"plates", 400},
                                                          Models{"chains", 100, {.graphs = ChainOptions{}}}),
                                          testing::Values(Semiring::log), both_dtypes),
                         models_name);

TEST(MarginalsOf, AnEquationAreThoseOfItsPlan) {
  const auto are_same = [](DrawnModel& drawn) -> testing::AssertionResult {
    // Names are declared in another order in an equation, so that axes may be too.
    const std::optional<EinsumOptions> options = comparable_equation(drawn);
    oracle::Posterior posterior = drawn.posterior();
    if (!options || any_zero(posterior.table({}), drawn.semiring)) return testing::AssertionSuccess();
    const Marginals got = marginals(drawn.c.equation(), drawn.tensors(), *options);
    for (const DimId v : drawn.variables()) {
      const Tensor& t = got.variables.at(drawn.name_of(v));
      if (drawn.graph.variable_plates()[v].size() > 1) continue;
      const Numbers want = posterior.marginal({v});
      const auto good = near(drawn.name_of(v), t, posterior.shape(posterior.axes({v})), want, want, {1e-11, 1e-300});
      if (!good) return good;
    }
    return testing::AssertionSuccess();
  };
  for_each_model({"plates", 300}, are_same);
  for_each_model({"chains", 100, {.graphs = ChainOptions{}}}, are_same);
}

}  // namespace
}  // namespace plated::test
