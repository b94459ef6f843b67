// Calls on models: what they keep, refuse, tell and draw.
#include <gtest/gtest.h>

#include <cmath>

#include "plated/error.hpp"
#include "plated/marginals.hpp"
#include "plated/solve.hpp"
#include "property/random_case.hpp"
#include "unit/reduce/random_network.hpp"

namespace plated::test {
namespace {

TEST(Solve, KeepsPlansForTheSameGraph) {
  Random random(8);
  const Model model = random_network(random, {.variables = 6, .zero_percent = 0});
  KeptPlans kept;
  const auto observed = [&](std::int64_t state) {
    return SolveOptions{.evidence = {{"v5", Integers({}, {state})}}, .plans = &kept};
  };
  (void)log_partition(model, observed(0));
  EXPECT_EQ(kept.size(), 1U);
  EXPECT_EQ(log_partition(model, observed(1)).item(), log_partition(model, {.evidence = observed(1).evidence}).item());
  EXPECT_EQ(kept.size(), 1U);
  (void)map(model, observed(1));
  EXPECT_EQ(kept.size(), 2U);
  (void)log_partition(model, {.plans = &kept});
  EXPECT_EQ(kept.size(), 3U);
}

TEST(Solve, RefusesQueriesThatMakeNoSense) {
  Random random(8);
  const Model model = random_network(random);
  EXPECT_TRUE(marginals(model, std::vector<std::vector<std::string>>{}).empty());
  EXPECT_THROW((void)marginals(model, {{"v9"}}), UnknownNameError);
  EXPECT_THROW((void)marginals(model, {{"v1", "v1"}}), DuplicateNameError);
  EXPECT_THROW((void)marginals(model, {std::vector<std::string>{}}), OptionError);
}

TEST(Solve, DrawsSamplesWithTheMarginalsFrequencies) {
  Random random(5);
  Model model = random_network(random, {.variables = 6, .zero_percent = 0, .undirected_percent = 50});
  model.evidence.emplace("v5", Integers({}, {0}));
  const auto posterior = marginals(model);
  constexpr std::int64_t count = 20000;
  const auto draws = sample(model, {.count = count, .seed = 3});
  for (const auto& [variable, probabilities] : posterior) {
    const std::vector<double> p = probabilities.values();
    std::vector<double> seen(p.size(), 0.0);
    for (const std::int64_t state : draws.at(variable).values) seen[static_cast<std::size_t>(state)] += 1.0 / count;
    for (std::size_t s = 0; s < p.size(); ++s) EXPECT_NEAR(seen[s], p[s], 5 * std::sqrt(0.25 / count)) << variable;
  }
}

TEST(Solve, TellsWhatItWillDo) {
  Model model;
  model.graph.variable("cause", 3);
  model.graph.variable("effect", 2);
  model.graph.variable("aside", 2);
  model.graph.factor("p", {"cause"}, {.distribution_of = "cause", .trusted = true});
  model.graph.factor("q", {"cause", "effect"}, {.distribution_of = "effect", .trusted = true});
  model.graph.factor("r", {"cause", "aside"}, {.distribution_of = "aside", .trusted = true});
  model.graph.output({});
  model.factors = {Tensor::of<double>({3}, {0.5, 0.25, 0.25}), Tensor::of<double>({3, 2}, {1, 0, 0.5, 0.5, 0.25, 0.75}),
                   Tensor::of<double>({3, 2}, {0.1, 0.9, 0.2, 0.8, 0.3, 0.7})};
  model.children = {"cause", "effect", "aside"};
  model.evidence.emplace("effect", Integers({}, {1}));
  const Explanation told = explain(model);
  EXPECT_EQ(told.absorbed, 1);
  EXPECT_EQ(told.impossible, 1);
  EXPECT_EQ(told.determined, 0);
  EXPECT_EQ(told.dropped, (std::vector<std::string>{"aside"}));
  EXPECT_GT(told.cost.flops, 0);
  EXPECT_EQ(told.sweeps, 1);
  EXPECT_GT(told.sweep_flops, 0);
  const Explanation posterior = explain(model, Question::Kind::marginals);
  ASSERT_EQ(posterior.plans.size(), 1U);
  EXPECT_GT(posterior.cost.flops, told.cost.flops) << "exactly counted, back and forth";
  EXPECT_NE(posterior.plans[0].print(posterior.question).find("Weigh"), std::string::npos);
  EXPECT_THROW((void)explain(model, Question::Kind::gradient), OptionError);
  EXPECT_NEAR(log_partition(model).item(), std::log(0.25 * 0.5 + 0.25 * 0.75), 1e-14);
}

TEST(Solve, StopsWhenAskedTo) {
  Random random(1);
  const Model model = random_network(random);
  SolveOptions options;
  options.cancelled = [] { return true; };
  EXPECT_THROW((void)marginals(model, options), CancelledError);
}

TEST(Solve, ReportsProgressUpToTheEnd) {
  Random random(1);
  const Model model = random_network(random);
  double last = 0;
  SolveOptions options;
  options.progress = [&](double share) {
    EXPECT_GE(share, last);
    last = share;
  };
  (void)marginals(model, options);
  EXPECT_NEAR(last, 1, 1e-9);
}

}  // namespace
}  // namespace plated::test
