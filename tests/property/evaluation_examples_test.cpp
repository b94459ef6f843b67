// Evaluations by hand: what they plan, check and refuse.
#include <gtest/gtest.h>

#include "planner/planner.hpp"
#include "plated/error.hpp"
#include "plated/evaluation.hpp"

namespace plated::test {
namespace {

TEST(Evaluation, PlansAndRunsNothingAgain) {
  const std::vector<Tensor> operands{Tensor(Dtype::float64, {3}), Tensor(Dtype::float64, {10, 3, 2})};
  const Plan plan = compile("x,ixy->", operands, {.plates = "i"});
  const Evaluation e = plan.evaluate(operands);
  (void)e.marginals();
  (void)e.gradient();
  const std::uint64_t before = planner::plans_made;
  (void)e.marginals();
  (void)e.gradient();
  (void)e.entropy();
  (void)e.sample({.count = 2});
  (void)e.value();
  EXPECT_EQ(planner::plans_made, before);
}

TEST(Evaluation, RefusesWhatItsSemiringDoesNotHave) {
  const std::vector<Tensor> operands{Tensor(Dtype::float64, {3}), Tensor(Dtype::float64, {10, 3, 2})};
  const Plan plan = compile("x,ixy->", operands, {.plates = "i"});
  const Evaluation log = plan.evaluate(operands);
  const Evaluation best = plan.evaluate(operands, {.semiring = Semiring::max_plus});
  EXPECT_THROW((void)log.map(), OptionError);
  EXPECT_THROW((void)log.max_marginals(), OptionError);
  EXPECT_THROW((void)best.marginals(), OptionError);
  EXPECT_THROW((void)best.gradient(), OptionError);
  try {
    (void)best.entropy();
    FAIL();
  } catch (const OptionError& error) {
    EXPECT_NE(std::string(error.what()).find("max_plus"), std::string::npos) << error.what();
  }
}

TEST(Evaluation, RefusesUpdatesOfWhatIsNotThere) {
  FactorGraph g;
  g.plate("i", 10);
  g.variable("x", 3);
  g.factor("prior", {"x"});
  g.factor("seen", {"i", "x"});
  const std::vector<Tensor> operands{Tensor(Dtype::float64, {3}), Tensor(Dtype::float64, {10, 3})};
  Evaluation e = compile(g).evaluate(operands);
  EXPECT_THROW(e.update(1, 10), ShapeError);
  EXPECT_THROW(e.update(1, -1), ShapeError);
  EXPECT_THROW(e.update(0, 0), ShapeError) << "it has no plate";
  EXPECT_THROW(e.update(2, 0), OperandCountError);
  EXPECT_THROW(e.update("heard", 0), UnknownNameError);
  static_cast<double*>(operands[1].mutable_data())[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(e.update("seen", 1), ValueError);
  static_cast<double*>(operands[1].mutable_data())[3] = -2;
  EXPECT_NO_THROW(e.update("seen", 1));
  EXPECT_EQ(e.value()[0].item(), compile(g).evaluate(operands).value()[0].item());
  static_cast<double*>(operands[1].mutable_data())[3] = -1e30;  // so large that it is reduced
  EXPECT_NO_THROW(e.update("seen", 1));
  EXPECT_EQ(e.marginals().variables.at("x").values(),
            compile(g).evaluate(operands).marginals().variables.at("x").values());
}

TEST(Evaluation, ChecksThatAChangedSliceIsStillADistribution) {
  FactorGraph g;
  g.plate("i", 2);
  g.plate("j", 3);
  g.variable("x", 2);
  g.variable("y", 2, {"i", "j"});
  g.factor("prior", {"x"}, {.distribution_of = "x"});
  g.factor("noise", {"i", "x", "j", "y"}, {.distribution_of = "y"});
  const std::vector<Tensor> operands{Tensor::of<double>({2}, {0.5, 0.5}),
                                     Tensor::of<double>({2, 2, 3, 2}, std::vector<double>(24, 0.5))};
  auto* const noise = static_cast<double*>(operands[1].mutable_data());
  const auto change = [&](double low) {  // at i = 1, x = 0, j = 2
    noise[16] = low;
    noise[17] = 0.75;
  };
  for (const Check check : {Check::all, Check::none}) {
    Evaluation e = compile(g).evaluate(operands, {.semiring = Semiring::real, .check = check});
    change(0.5);
    const auto update = [&](std::vector<std::int64_t> index) {
      e.update("noise", std::span<const std::int64_t>(index));
    };
    if (check == Check::none) {
      EXPECT_NO_THROW(update({1}));
      change(0.25);
      continue;
    }
    EXPECT_NO_THROW(update({1, 1})) << "another slice";
    for (const std::vector<std::int64_t>& index : {std::vector<std::int64_t>{1}, {1, 2}, {}}) {
      try {
        update(index);
        FAIL() << "it sums to 1.25";
      } catch (const ValueError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("i = 1, x = 0, j = 2"), std::string::npos) << text;
        EXPECT_NE(text.find("1.25"), std::string::npos) << text;
      }
    }
    change(0.25);
    EXPECT_NO_THROW(update({1, 2}));
    EXPECT_DOUBLE_EQ(e.value()[0].item(), 1.0);
    noise[16] = noise[17] = 0.5;
  }
}

}  // namespace
}  // namespace plated::test
