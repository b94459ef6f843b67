// Samples: frequencies of all joint cells, zero weights, batches of samples, threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "unit/adjoint/backtrace_case.hpp"

namespace plated::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Joint = std::vector<std::vector<std::int64_t>>;

/// Sample s of every variable.
Joint joint_of(const std::vector<Integers>& draws, std::int64_t s, std::int64_t count) {
  Joint joint;
  for (const Integers& all : draws) {
    const auto cells = static_cast<std::int64_t>(all.values.size()) / count;
    joint.emplace_back(all.values.begin() + s * cells, all.values.begin() + (s + 1) * cells);
  }
  return joint;
}

/// Pearson's statistic in standard deviations above its mean; cells of few expected counts are taken together.
double excess(const std::map<Joint, double>& weight, const std::map<Joint, double>& seen, double count) {
  double total = 0, statistic = 0, cells = 0, rare_expected = 0, rare_seen = 0;
  for (const auto& [joint, w] : weight) total += w;
  const auto add = [&](double expected, double observed) {
    statistic += (observed - expected) * (observed - expected) / expected;
    ++cells;
  };
  for (const auto& [joint, w] : weight) {
    const auto found = seen.find(joint);
    const double observed = found == seen.end() ? 0 : found->second;
    const double expected = count * w / total;
    if (expected < 8) {
      rare_expected += expected;
      rare_seen += observed;
    } else {
      add(expected, observed);
    }
  }
  if (rare_expected > 0) add(std::max(rare_expected, 1e-9), rare_seen);
  return cells < 2 ? 0 : (statistic - (cells - 1)) / std::sqrt(2 * (cells - 1));
}

TEST(BacktraceSample, HasTheFrequenciesOfTheJointDistribution) {
  base::Random random(11);
  constexpr std::int64_t count = 40000;
  for (const bool narrow : {false, true}) {
    for (const auto& [name, graph] : small_models()) {
      BacktraceCase c(graph);
      // A fifth of all entries are zero; those of the first operand are not, so that something is possible.
      const auto entry = [&] { return random.below(5) == 0 ? -infinity : 3 * random.uniform(); };
      narrow ? c.fill<float>(entry) : c.fill<double>(entry);
      std::vector<double> score = c.run(Semiring::log);
      for (int retry = 0; retry < 50 && *std::min_element(score.begin(), score.end()) == -infinity; ++retry) {
        narrow ? c.fill<float>(entry) : c.fill<double>(entry);
        score = c.run(Semiring::log);
      }
      ASSERT_GT(*std::min_element(score.begin(), score.end()), -infinity) << name;
      const auto draws = c.backtrace(Semiring::log, {.draw = true, .count = count, .seed = 12});
      std::map<Joint, double> weight, seen;
      c.visit_assignments([&](const Joint& joint) { weight[joint] = std::exp(c.weight(joint)); });
      for (std::int64_t s = 0; s < count; ++s) ++seen[joint_of(draws, s, count)];
      for (const auto& [joint, n] : seen) {
        ASSERT_TRUE(weight.contains(joint)) << name;
        EXPECT_GT(weight.at(joint), 0) << name << ": an impossible assignment was drawn";
      }
      EXPECT_LT(excess(weight, seen, count), 5.0) << name << (narrow ? " in float32" : "");
    }
  }
}

/// Different counts take different ways; every sample must come out the same.
TEST(BacktraceSample, IsTheSameInAnyBatches) {
  base::Random random(13);
  std::vector<std::pair<std::string, FactorGraph>> models = small_models();
  const std::map<char, std::int64_t> sizes{{'a', 7}, {'b', 5}, {'c', 33}, {'d', 20}, {'e', 3}, {'i', 5}, {'j', 19}};
  models.emplace_back("paper", graph_of("a,abi,bcij,adj,deij->", sizes, "ij"));
  models.emplace_back("paper transposed", graph_of("a,iba,jicb,jda,jied->", sizes, "ij"));
  models.emplace_back("long rows", graph_of("abc,d->", {{'a', 20}, {'b', 20}, {'c', 20}, {'d', 200}}));
  for (const auto& [name, graph] : models) {
    BacktraceCase c(graph);
    c.fill<float>([&] { return 3 * random.uniform(); });
    (void)c.run(Semiring::log);
    constexpr std::int64_t count = 1500;
    const auto all = c.backtrace(Semiring::log, {.draw = true, .count = count, .seed = 99, .first = 5});
    for (const auto& [first, some] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 1}, {1, 2}, {3, 5}, {8, 9}, {100, 1301}, {1499, 1}}) {
      const auto part = c.backtrace(Semiring::log, {.draw = true, .count = some, .seed = 99, .first = 5 + first});
      for (std::int64_t s = 0; s < some; ++s) {
        ASSERT_EQ(joint_of(part, s, some), joint_of(all, first + s, count)) << name << " " << first << " " << some;
      }
    }
  }
}

TEST(BacktraceSample, IsTheSameOnAnyNumberOfThreads) {
  const std::map<char, std::int64_t> sizes{{'a', 8}, {'b', 8}, {'c', 8}, {'d', 8}, {'e', 8}, {'i', 30}, {'j', 40}};
  BacktraceCase c(graph_of("a,abi,bcij,adj,deij->", sizes, "ij"));
  base::Random random(17);
  c.fill<float>([&] { return 2 * random.uniform(); });
  (void)c.run(Semiring::log);
  for (const std::int64_t count : {1, 3, 2500}) {
    const adjoint::Choice choice{.draw = true, .count = count, .seed = 5};
    const auto expected = c.backtrace(Semiring::log, choice, 1);
    for (const int threads : {2, 5}) EXPECT_EQ(c.backtrace(Semiring::log, choice, threads), expected);
  }
}

TEST(BacktraceSample, DiffersBySeedAndSlice) {
  BacktraceCase c(graph_of("(i)x->", {{'x', 1000}, {'i', 50}}, "i"));
  c.fill<double>([] { return 0.0; });
  (void)c.run(Semiring::log);
  std::set<std::vector<std::int64_t>> seen;
  for (const std::uint64_t seed : {1ULL, 2ULL, 1ULL << 40}) {
    const auto draws = c.backtrace(Semiring::log, {.draw = true, .count = 20, .seed = seed});
    const auto& values = draws[*c.graph.find("x")].values;
    for (std::size_t s = 0; s < 20; ++s) seen.insert({values.begin() + s * 50, values.begin() + (s + 1) * 50});
    EXPECT_GT(std::set<std::int64_t>(values.begin(), values.end()).size(), 500U);
  }
  EXPECT_EQ(seen.size(), 60U);
}

}  // namespace
}  // namespace plated::test
