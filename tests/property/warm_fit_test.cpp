// An iteration of EM allocates nothing once the first has been done.
#include <gtest/gtest.h>

#include "plated/fit.hpp"
#include "property/counted_memory.hpp"
#include "property/random_tensor.hpp"

namespace plated::test {
namespace {

Tensor random_rows(const Tensor::Shape& shape, Random& random) {
  Tensor rows(Dtype::float64, shape);
  const auto states = static_cast<std::size_t>(shape.back());
  const std::span<double> entries = rows.span<double>();
  for (std::size_t row = 0; row < entries.size(); row += states) {
    double sum = 0;
    for (std::size_t k = 0; k < states; ++k) sum += entries[row + k] = random.uniform(0.2, 1);
    for (std::size_t k = 0; k < states; ++k) entries[row + k] /= sum;
  }
  return rows;
}

Integers random_states(const std::vector<std::int64_t>& shape, std::int64_t states, int missing, Random& random) {
  Integers seen(shape, -1);
  for (std::int64_t& state : seen.values) {
    if (!random.chance(missing)) state = random.below(states);
  }
  return seen;
}

int allocations_of(const plated::Model& model, const Data& data, bool accelerate, std::int64_t iterations) {
  const FitOptions options{.iterations = iterations, .tolerance = 0, .accelerate = accelerate, .threads = 1};
  allocations = 0;
  counting = true;
  const Fit fitted = fit(model, data, options);
  counting = false;
  EXPECT_EQ(fitted.restarts[0].iterations, iterations);
  return allocations;
}

void expect_warm(const plated::Model& model, const Data& data) {
  for (const bool accelerate : {false, true}) {
    (void)allocations_of(model, data, accelerate, 10);
    EXPECT_EQ(allocations_of(model, data, accelerate, 10), allocations_of(model, data, accelerate, 40));
  }
}

TEST(WarmFit, PlatesAllocateNothing) {
  Random random(1);
  FactorGraph graph;
  graph.plate("item", 300);
  graph.plate("annotator", 7);
  graph.variable("truth", 3, {"item"});
  graph.variable("vote", 3, {"item", "annotator"});
  graph.factor("prior", {"truth"}, {.tied = {"item"}, .distribution_of = "truth"});
  graph.factor("confusion", {"annotator", "truth", "vote"}, {.tied = {"item"}, .distribution_of = "vote"});
  const plated::Model model =
      make_model(graph, {{"prior", random_rows({3}, random)}, {"confusion", random_rows({7, 3, 3}, random)}},
                 {.space = Space::real});
  const Integers seen = random_states({300, 7}, 3, 30, random);
  expect_warm(model, {.states = {{"vote", seen}}});
  expect_warm(model, {.states = {{"vote", seen}}, .weights = {{"item", Tensor::scalar(2.0)}}});
}

TEST(WarmFit, ChainsOfUnequalLengthsAllocateNothing) {
  Random random(2);
  FactorGraph graph;
  graph.plate("n", 5);
  graph.chain("t", 40);
  graph.variable("a", 4, {"n", "t"});
  graph.variable("b", 4, {"n", "t"});
  graph.variable("seen", 6, {"n", "t"});
  graph.link("t", "a", "b");
  graph.factor("start", {"a"}, {.tied = {"n"}, .distribution_of = "a"});
  graph.factor("move", {"a", "b"}, {.tied = {"n", "t"}, .distribution_of = "b"});
  graph.factor("emit", {"b", "seen"}, {.tied = {"n", "t"}, .distribution_of = "seen"});
  const plated::Model model = make_model(graph,
                                         {{"start", random_rows({4}, random)},
                                          {"move", random_rows({4, 4}, random)},
                                          {"emit", random_rows({4, 6}, random)}},
                                         {.space = Space::real});
  const Integers seen = random_states({5, 40}, 6, 0, random);
  expect_warm(model, {.states = {{"seen", seen}}});
  expect_warm(model, {.states = {{"seen", seen}}, .lengths = {{"t", Integers({5}, {40, 12, 1, 30, 25})}}});
}

}  // namespace
}  // namespace plated::test
