// Small models and their data, for tests of learning.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "plated/model.hpp"
#include "property/written_case.hpp"

namespace plated::test {

/// Items with a hidden class, and annotators with confusion tables: the start is 0.7 on the diagonal.
inline Model dawid_skene(std::int64_t items, std::int64_t annotators, std::int64_t classes) {
  FactorGraph graph;
  graph.plate("item", items);
  graph.plate("annotator", annotators);
  graph.variable("truth", classes, {"item"});
  graph.variable("vote", classes, {"item", "annotator"});
  graph.factor("prior", {"truth"}, {.tied = {"item"}, .distribution_of = "truth"});
  graph.factor("confusion", {"annotator", "truth", "vote"}, {.tied = {"item"}, .distribution_of = "vote"});
  Tensor prior(Dtype::float64, {classes});
  Tensor confusion(Dtype::float64, {annotators, classes, classes});
  auto* const p = static_cast<double*>(prior.mutable_data());
  auto* const c = static_cast<double*>(confusion.mutable_data());
  for (std::int64_t k = 0; k < classes; ++k) p[k] = 1.0 / static_cast<double>(classes);
  for (std::int64_t a = 0; a < annotators; ++a) {
    for (std::int64_t k = 0; k < classes; ++k) {
      for (std::int64_t v = 0; v < classes; ++v)
        c[(a * classes + k) * classes + v] = k == v ? 0.7 : 0.3 / static_cast<double>(classes - 1);
    }
  }
  return make_model(graph, {{"prior", prior}, {"confusion", confusion}}, {.space = Space::real});
}

inline Integers votes(std::int64_t items, std::int64_t annotators, std::int64_t classes, int missing_percent,
                      int seed) {
  Random random(static_cast<std::uint64_t>(seed));
  Integers seen({items, annotators}, -1);
  for (std::int64_t i = 0; i < items; ++i) {
    const std::int64_t truth = random.below(classes);
    for (std::int64_t a = 0; a < annotators; ++a) {
      if (random.chance(missing_percent)) continue;
      seen.values[static_cast<std::size_t>(i * annotators + a)] = random.chance(65) ? truth : random.below(classes);
    }
  }
  return seen;
}

/// A chain in log space, of sequences of different lengths.
inline Model hidden_markov(std::int64_t sequences, std::int64_t steps) {
  FactorGraph graph;
  graph.plate("n", sequences);
  graph.chain("t", steps);
  graph.variable("before", 2, {"n", "t"});
  graph.variable("now", 2, {"n", "t"});
  graph.variable("seen", 3, {"n", "t"});
  graph.link("t", "before", "now");
  graph.factor("start", {"^before"}, {.tied = {"n"}, .distribution_of = "^before"});
  graph.factor("move", {"before", "now"}, {.tied = {"n", "t"}, .distribution_of = "now"});
  graph.factor("emit", {"now", "seen"}, {.tied = {"n", "t"}, .distribution_of = "seen"});
  const auto log = [](std::vector<double> p) {
    for (double& x : p) x = std::log(x);
    return p;
  };
  return make_model(graph, {{"start", Tensor::of<double>({2}, log({0.6, 0.4}))},
                            {"move", Tensor::of<double>({2, 2}, log({0.7, 0.3, 0.2, 0.8}))},
                            {"emit", Tensor::of<double>({2, 3}, log({0.5, 0.3, 0.2, 0.1, 0.2, 0.7}))}});
}

inline void expect_near(const std::vector<double>& got, const std::vector<double>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], want[k], tolerance) << "entry " << k;
}

/// The message of what a call throws.
template <class E, class Call>
std::string refused(const Call& call) {
  try {
    (void)call();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace plated::test
