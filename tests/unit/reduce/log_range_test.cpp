// Logarithms that are too large to be added up.
#include "reduce/log_range.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "plated/error.hpp"
#include "plated/solve.hpp"
#include "unit/graph/message_of.hpp"

namespace plated::reduce {
namespace {

/// One variable in a plate of `slices`, with a factor that is tied in it.
template <class T>
Model model_of(std::vector<T> entries, std::int64_t slices) {
  Model model;
  model.space = Space::log;
  model.graph.plate("i", slices);
  model.graph.variable("x", 2, {"i"});
  model.graph.factor("f", {"x"}, {.tied = {"i"}});
  model.graph.output({});
  model.factors = {Tensor::of<T>({2}, entries)};
  model.children = {""};
  return model;
}

TEST(LogRange, SumsBeyondTheTypeAreRefusedForEveryQuestion) {
  const Model model = model_of<double>({1e307, 1e308}, 1000);
  EXPECT_SAYS(test::message_of<ValueError>([&] { (void)log_partition(model); }),
              "1e+311, beyond a float64; most of it");
  EXPECT_THROW((void)marginals(model), ValueError);
  EXPECT_THROW((void)map(model), ValueError);
  EXPECT_THROW((void)sample(model, {}), ValueError);
  EXPECT_THROW((void)entropy(model), ValueError);
  EXPECT_SAYS(test::message_of<ValueError>([&] {
                (void)log_partition(model_of<float>({1e38F, 0}, 3));
              }),
              "3e+38, beyond a float32");
}

TEST(LogRange, LargeNegativeNumbersAreZeros) {
  for (const double never : {-1e308, std::numeric_limits<double>::lowest(), -std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(log_partition(model_of<double>({0, never}, 1000)).item(), 0);
  }
  const float never = std::numeric_limits<float>::lowest();
  EXPECT_EQ(log_partition(model_of<float>({0, never}, 1000)).item(), 0);
}

TEST(LogRange, LargeSumsThatFitAreAnswered) {
  EXPECT_EQ(log_partition(model_of<double>({1e300, 0}, 100)).item(), 1e302);
}

}  // namespace
}  // namespace plated::reduce
