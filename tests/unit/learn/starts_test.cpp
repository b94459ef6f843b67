// Random starts: near to what is observed, and different for each state.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plated/fit.hpp"

namespace plated::test {
namespace {

/// Rows of rare marks, each given one of a few kinds, and no numbers to start from.
Model marked_rows(std::int64_t marks, std::int64_t kinds) {
  FactorGraph graph;
  graph.plate("row", 1);
  graph.plate("place", marks);
  graph.variable("kind", kinds, {"row"});
  graph.variable("mark", 2, {"row", "place"});
  graph.factor("kinds", {"kind"}, {.tied = {"row"}, .distribution_of = "kind"});
  graph.factor("marks", {"place", "kind", "mark"}, {.tied = {"row"}, .distribution_of = "mark"});
  return make_model(graph, {}, {.learning = {{"kinds", {.learn = true}}, {"marks", {.learn = true}}}});
}

/// Place p is marked in every (p + 2)-nd row.
Integers rare_marks(std::int64_t rows, std::int64_t marks) {
  Integers seen({rows, marks}, 0);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t p = 0; p < marks; ++p) {
      seen.values[static_cast<std::size_t>(r * marks + p)] = r % (p + 2) == 0 ? 1 : 0;
    }
  }
  return seen;
}

TEST(RandomStarts, ScatterAroundTheFrequenciesOfWhatIsObserved) {
  constexpr std::int64_t rows = 400;
  constexpr std::int64_t marks = 30;
  const Integers seen = rare_marks(rows, marks);
  double independent = 0;
  std::vector<double> frequency(marks, 0);
  for (std::int64_t k = 0; k < rows * marks; ++k) {
    frequency[static_cast<std::size_t>(k % marks)] +=
        static_cast<double>(seen.values[static_cast<std::size_t>(k)]) / rows;
  }
  for (const double p : frequency) independent += rows * (p * std::log(p) + (1 - p) * std::log1p(-p));
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Fit found = fit(marked_rows(marks, 6), {.states = {{"mark", seen}}}, {.iterations = 1, .seed = seed});
    // Marks that are uniform over all chances would have it near 2.5 times that.
    EXPECT_GT(found.history.front(), 1.1 * independent) << seed;
    const std::vector<double> fitted = found.model.factors[1].values();
    for (std::size_t kind = 1; kind < 6; ++kind) EXPECT_NE(fitted[1], fitted[2 * kind + 1]) << seed;
  }
}

TEST(RandomStarts, OfBatchesScatterAroundAllOfThem) {
  // The first half of the rows, and so the first batches, have no marks at all.
  Integers seen = rare_marks(400, 30);
  std::fill_n(seen.values.begin(), 200 * 30, 0);
  std::vector<double> frequency(30, 0);
  for (std::size_t k = 0; k < seen.values.size(); ++k) frequency[k % 30] += static_cast<double>(seen.values[k]) / 400;
  const Fit start = fit(marked_rows(30, 6), {.states = {{"mark", seen}}}, {.iterations = 0, .batch = {{"row", 50}}});
  const std::vector<double> drawn = start.model.factors[1].values();
  for (std::size_t k = 0; k < 30 * 6; ++k) {
    const double chance = std::exp(drawn[2 * k + 1]);
    EXPECT_GT(chance, frequency[k / 6] / 10) << k;
    EXPECT_LT(chance, frequency[k / 6] * 10) << k;
  }
}

}  // namespace
}  // namespace plated::test
