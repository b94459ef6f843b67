// Plate sizes do not affect planning: plates of 10 and of 1e6 slices give the same schedule in the same time.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <sstream>

#include "property/compile_case.hpp"
#include "property/random_case.hpp"
#include "property/seeds.hpp"

namespace plated::test {
namespace {

/// The printed steps, without the lines that name sizes and costs.
std::string steps_of(const Plan& plan) {
  std::istringstream text(plan.print());
  std::string steps, line;
  while (std::getline(text, line)) {
    if (!line.starts_with("plates ") && !line.starts_with("cost:")) steps += line + "\n";
  }
  return steps;
}

FactorGraph with_plates(Case c, std::int64_t size) {
  for (Case::Dimension& plate : c.plates) plate.size = size;
  return c.build();
}

TEST(PlateSize, ChangesNoScheduleOfRandomGraphs) {
  for_each_seed(2000, [&](std::uint64_t seed) -> testing::AssertionResult {
    const Case c = random_case(seed, {.small_sizes = false});
    const std::optional<Plan> small = compile_if_tractable(with_plates(c, 2));
    if (!small) return testing::AssertionSuccess();
    const Plan large = compile(with_plates(c, 20011));
    if (small->elimination_order() == large.elimination_order() && steps_of(*small) == steps_of(large)) {
      return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << c.print() << "\nplates of 2:\n"
                                       << steps_of(*small) << "plates of 20011:\n"
                                       << steps_of(large);
  });
}

/// A hierarchical model that is large enough to take measurable time: `groups` chains of observations under one root.
FactorGraph large_model(std::int64_t plate_size, const char* output) {
  FactorGraph graph;
  graph.plate("i", plate_size);
  graph.plate("j", plate_size);
  graph.variable("root", 4);
  graph.factor("", {"root"});
  std::string last = "root";
  for (int k = 0; k < 30; ++k) {
    const std::string group = "g" + std::to_string(k), leaf = "x" + std::to_string(k);
    graph.variable(group, 3);
    graph.variable(leaf, 2);
    graph.factor("", {"i", last, group});
    graph.factor("", {"i", "j", group, leaf});
    graph.factor("", {"j", "i", leaf});
    last = group;
  }
  if (*output == '\0') {
    graph.output({});
  } else {
    graph.output({output});
  }
  return graph;
}

TEST(PlateSize, ChangesNoScheduleOfALargeModel) {
  for (const char* output : {"", "root"}) {
    const Plan small = compile(large_model(10, output)), large = compile(large_model(1000000, output));
    EXPECT_EQ(small.elimination_order(), large.elimination_order());
    EXPECT_EQ(steps_of(small), steps_of(large));
    EXPECT_EQ(small.steps(), large.steps());
  }
}

double median_seconds(std::int64_t plate_size) {
  std::vector<double> times;
  const FactorGraph graph = large_model(plate_size, "");
  for (int repeat = 0; repeat < 7; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    (void)compile(graph);
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + 3, times.end());
  return times[3];
}

TEST(PlateSize, ChangesNoPlanningTime) {
  double ratio = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const double small = median_seconds(10), large = median_seconds(1000000);
    ratio = large / small;
    std::cout << "planning: " << small * 1e3 << " ms for plates of 10, " << large * 1e3 << " ms for 1e6\n";
    if (ratio < 3) break;
  }
  EXPECT_LT(ratio, 3);
}

}  // namespace
}  // namespace plated::test
