// sample: the stream of a seed, names, shapes, and refusals.
#include "plated/sample.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "plated/error.hpp"
#include "unit/api/shuffled_model.hpp"

namespace plated {
namespace {

using Shape = std::vector<std::int64_t>;
const double none = -std::numeric_limits<double>::infinity();

Plan shuffled() { return compile(shuffled_graph({"x"})); }
const std::vector<Tensor> operands{Tensor(Dtype::float64, {2, 6}), Tensor(Dtype::float64, {3, 5, 2, 4})};

TEST(Sample, NamesDrawsWithAxesSamplesBatchAndPlatesInDeclarationOrder) {
  const auto draws = sample(shuffled(), operands, {.count = 7});
  ASSERT_EQ(draws.size(), 2U);
  EXPECT_EQ(draws.at("x").shape, (Shape{7, 6}));
  EXPECT_EQ(draws.at("y").shape, (Shape{7, 6, 4, 5}));
  for (const std::int64_t state : draws.at("y").values) EXPECT_TRUE(state >= 0 && state < 3);
}

TEST(Sample, ContinuesAStreamAtFirst) {
  const Plan plan = shuffled();
  const auto whole = sample(plan, operands, {.count = 10, .seed = 3});
  const auto begin = sample(plan, operands, {.count = 4, .seed = 3});
  const auto rest = sample(plan, operands, {.count = 6, .seed = 3, .first = 4});
  for (const char* variable : {"x", "y"}) {
    std::vector<std::int64_t> joined = begin.at(variable).values;
    joined.insert(joined.end(), rest.at(variable).values.begin(), rest.at(variable).values.end());
    EXPECT_EQ(joined, whole.at(variable).values);
  }
  EXPECT_NE(sample(plan, operands, {.count = 10, .seed = 4}).at("y"), whole.at("y"));
  EXPECT_NE(sample(plan, operands, {.count = 10, .seed = 3, .first = 1}).at("y"), whole.at("y"));
  EXPECT_EQ(sample(plan, operands, {.count = 10, .seed = 3}, {.threads = 1}).at("y"), whole.at("y"));
}

TEST(Sample, OfNoneIsEmpty) {
  const auto draws = sample(shuffled(), operands, {.count = 0});
  EXPECT_EQ(draws.at("x").shape, (Shape{0, 6}));
  EXPECT_TRUE(draws.at("x").values.empty());
}

TEST(Sample, TakesOneOfItsOwnAccord) {
  EXPECT_EQ(sample("x->", {Tensor(Dtype::float32, {2})}, {}).at("x").shape, Shape{1});
}

TEST(Sample, DrawsOnlyWhatIsPossible) {
  const Tensor f = Tensor::of<double>({3}, {none, 0, none});
  EXPECT_EQ(sample("x->", {f}, {.count = 100}).at("x").values, Shape(100, 1));
  const Tensor weights = Tensor::of<double>({3}, {0, 0, 2});
  EXPECT_EQ(sample("x->", {weights}, {.count = 100}, {.semiring = Semiring::real}).at("x").values, Shape(100, 2));
}

TEST(Sample, RefusesNegativeNumbers) {
  EXPECT_THROW((void)sample(shuffled(), operands, {.count = -1}), OptionError);
  EXPECT_THROW((void)sample(shuffled(), operands, {.first = -1}), OptionError);
}

TEST(Sample, ExistsInLogAndRealOnly) {
  const Tensor f(Dtype::float64, {2});
  for (const Semiring semiring : {Semiring::max_plus, Semiring::min_plus, Semiring::max_product, Semiring::boolean}) {
    EXPECT_THROW((void)sample("x->", {f}, {}, {.semiring = semiring}), OptionError);
  }
}

TEST(Sample, RefusesWhatIsImpossibleAndWrongOperands) {
  EXPECT_THROW((void)sample("x->", {Tensor::of<double>({2}, {none, none})}, {}), ImpossibleError);
  EXPECT_THROW((void)sample("x->", {Tensor(Dtype::float64, {2})}, {}, {.semiring = Semiring::real}), ImpossibleError);
  const std::vector<Tensor> one{operands[0]}, wrong{operands[0], operands[0]};
  EXPECT_THROW((void)sample(shuffled(), one, {}), OperandCountError);
  EXPECT_THROW((void)sample(shuffled(), wrong, {}), RankError);
  EXPECT_THROW((void)sample("x->", {Tensor::view(static_cast<float*>(nullptr), {2})}, {}), NullDataError);
}

}  // namespace
}  // namespace plated
