// Fits random plated models and chains, against EM by enumeration of all assignments of the unrolled graph.
#include "plated/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "plated/error.hpp"
#include "property/naive_em.hpp"
#include "property/random_case.hpp"
#include "property/random_chain.hpp"
#include "property/random_model.hpp"
#include "property/seeds.hpp"

namespace plated::test {
namespace {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

AssertionResult near(const std::string& what, double got, long double want, double tolerance) {
  const auto expected = static_cast<double>(want);
  if (got == expected || std::abs(got - expected) <= tolerance * std::max(1.0, std::abs(expected))) {
    return AssertionSuccess();
  }
  return AssertionFailure() << what << ": " << got << ", not " << expected;
}

AssertionResult check_tables(const Model& model, const std::vector<std::vector<long double>>& tables) {
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    const std::vector<double> values = model.factors[f].values();
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double got = model.space == Space::log ? std::exp(values[k]) : values[k];
      AssertionResult good =
          near("entry " + std::to_string(k) + " of factor " + std::to_string(f), got, tables[f][k], 1e-9);
      if (!good) return good;
    }
  }
  return AssertionSuccess();
}

struct Tally {
  std::int64_t fitted = 0, impossible = 0, tied = 0, missing = 0;
};

AssertionResult check_model(Model model, Random& random, Tally& tally) {
  tie_and_choose(model, random);
  const Evidence data = random_data(model, random);
  const std::vector<std::vector<std::size_t>> groups = groups_of(model);
  if (data.empty() || groups.empty()) return AssertionSuccess();
  FitOptions options{.iterations = 3, .tolerance = 0, .accelerate = false};
  if (random.chance(30)) options.pseudo_count = 0.5;
  NaiveEm naive(model, data, groups, options.pseudo_count);
  std::vector<long double> history;
  long double log_likelihood = 0;
  for (int k = 0; k <= 3; ++k) {
    log_likelihood = naive.count();
    history.push_back(log_likelihood + naive.log_prior());
    if (k < 3) naive.maximise();
  }
  try {
    const Fit got = fit(model, {.states = data}, options);
    if (std::isinf(static_cast<double>(history[0]))) return AssertionFailure() << "fitted to impossible data";
    ++tally.fitted;
    tally.tied += std::any_of(groups.begin(), groups.end(), [](const auto& group) { return group.size() > 1; });
    for (const auto& [name, states] : data)
      tally.missing += std::find(states.begin(), states.end(), -1) != states.end();
    for (std::size_t k = 0; k < got.history.size(); ++k) {
      AssertionResult good = near("objective " + std::to_string(k), got.history[k], history[k], 1e-10);
      if (!good) return good;
    }
    if (AssertionResult good = near("ln L", got.log_likelihood, log_likelihood, 1e-10); !good) return good;
    if (AssertionResult good = check_tables(got.model, naive.tables()); !good) return good;
    // What is expected under the fitted numbers.
    const std::map<std::string, Tensor> counts = expected_counts(got.model, {.states = data});
    for (std::size_t f = 0; f < model.factors.size(); ++f) {
      const std::vector<double> values = counts.at(model.graph.factors()[f].name).values();
      for (std::size_t k = 0; k < values.size(); ++k) {
        AssertionResult good = near("count " + std::to_string(k) + " of factor " + std::to_string(f), values[k],
                                    naive.counts()[f][k], 1e-8);
        if (!good) return good;
      }
    }
    options.accelerate = true;
    options.iterations = 12;
    const Fit faster = fit(model, {.states = data}, options);
    for (std::size_t k = 1; k < faster.history.size(); ++k) {
      if (faster.history[k] < faster.history[k - 1] - 1e-9 * std::max(1.0, std::abs(faster.history[k])))
        return AssertionFailure() << "the objective falls to " << faster.history[k];
    }
  } catch (const ImpossibleError&) {
    ++tally.impossible;
    if (!std::isinf(static_cast<double>(history[0]))) return AssertionFailure() << "possible data were refused";
  } catch (const IntractableError&) {
  }
  return AssertionSuccess();
}

TEST(Fit, RandomPlatedModelsAgreeWithEnumeration) {
  Tally tally;
  for_each_seed(1500, [&](std::uint64_t seed) {
    const Case c = random_case(seed, {.most_work = 4000, .small_sizes = false});
    Random random(seed + 7);
    AssertionResult good = check_model(random_model(c.build(), {}, random), random, tally);
    return good ? good : good << "\n" << c.equation() << "\n" << c.build().print();
  });
  EXPECT_GT(tally.fitted, quota(400));
  EXPECT_GE(tally.tied, quota(11));
  EXPECT_GT(tally.missing, quota(80));
  EXPECT_GE(tally.impossible, quota(2));
}

TEST(Fit, RandomChainsAgreeWithEnumeration) {
  Tally tally;
  for_each_seed(600, [&](std::uint64_t seed) {
    const Case c = random_chain(seed, {.most_work = 4000, .small_sizes = false});
    Random random(seed + 7);
    AssertionResult good = check_model(random_model(c.build(), c.lengths, random), random, tally);
    return good ? good : good << "\n" << c.print();
  });
  EXPECT_GT(tally.fitted, quota(150));
  EXPECT_GT(tally.missing, quota(40));
}

}  // namespace
}  // namespace plated::test
