// leave_one_out on random plated graphs: log Z and log Z without each slice, against the brute-force posterior.
#include <gtest/gtest.h>

#include <tuple>

#include "plated/marginals.hpp"
#include "property/adjoint_case.hpp"
#include "property/shifted_operand.hpp"

namespace plated::test {
namespace {

testing::AssertionResult check(Drawn& drawn, const Bound& bound) {
  oracle::Posterior posterior(drawn.graph, drawn.tensors(), drawn.semiring);
  const Numbers log_z = logarithms(posterior.table({}));
  for (const DimId plate : drawn.of_kind(DimKind::plate)) {
    const Numbers without = posterior.without_each_slice(plate);
    const auto ask = [&] { return leave_one_out(drawn.plan, drawn.tensors(), drawn.name_of(plate), drawn.run()); };
    testing::AssertionResult good = testing::AssertionSuccess();
    if (any_zero(without, drawn.semiring)) {
      good = impossible([&] { (void)ask(); });
    } else {
      std::vector<DimId> axes = posterior.axes({});
      axes.push_back(plate);
      Numbers want = logarithms(without), magnitude;
      const std::size_t slices = without.empty() ? 1 : without.size() / log_z.size();
      for (std::size_t k = 0; k < want.size(); ++k) {
        magnitude.push_back(std::isinf(log_z[k / slices]) ? 1 : std::abs(log_z[k / slices]) + std::abs(want[k]) + 20);
        want[k] = log_z[k / slices] - want[k];
      }
      good = near("plate " + drawn.name_of(plate), ask(), posterior.shape(axes), want, magnitude, bound);
    }
    if (!good) return testing::AssertionFailure() << good.message() << ", plate " << drawn.name_of(plate);
  }
  return testing::AssertionSuccess();
}

class LeaveOneOut : public testing::TestWithParam<std::tuple<Semiring, Dtype>> {};

TEST_P(LeaveOneOut, OfRandomGraphs) {
  for (const int zeros : {0, 10}) {
    const Draw draw{.semiring = std::get<0>(GetParam()),
                    .dtypes = {std::get<1>(GetParam())},
                    .zero_percent = zeros,
                    .graphs = {.most_work = 10000}};
    const Bound within{draw.dtypes[0] == Dtype::float32 ? 2e-6 : 1e-13, 0};
    for_each_tractable(800, draw, [&](Drawn& drawn) { return check(drawn, within); });
  }
}

TEST(LeaveOneOutOfRandomGraphs, CountsTheConstantsOfOperandsThatAreRecentred) {
  const Draw draw{.semiring = Semiring::log, .dtypes = {Dtype::float32}, .graphs = {.most_work = 10000}};
  for_each_tractable(800, draw, [](Drawn& drawn) {
    if (drawn.tensors().empty()) return testing::AssertionSuccess();
    shift_one_operand(drawn);
    return check(drawn, {2e-6, 0});
  });
}

INSTANTIATE_TEST_SUITE_P(Semirings, LeaveOneOut,
                         testing::Combine(testing::Values(Semiring::log, Semiring::real),
                                          testing::Values(Dtype::float32, Dtype::float64)),
                         test_name);

TEST(Predictive, OfACoinIsLaplacesRuleOnAGrid) {
  // A coin of unknown bias on a grid; p(toss i | others) by direct summation.
  const std::int64_t grid = 20, tosses = 12;
  std::vector<double> prior(static_cast<std::size_t>(grid), -std::log(20.0)), likelihood;
  for (std::int64_t i = 0; i < tosses; ++i) {
    for (std::int64_t x = 0; x < grid; ++x) {
      const double p = (static_cast<double>(x) + 0.5) / 20;
      likelihood.push_back(std::log(i % 3 == 0 ? p : 1 - p));
    }
  }
  const Tensor f = Tensor::of<double>({grid}, prior), g = Tensor::of<double>({tosses, grid}, likelihood);
  const std::vector<double> got = leave_one_out("x,ix->", {f, g}, "i", {.plates = "i"}).values();
  for (std::int64_t i = 0; i < tosses; ++i) {
    long double with = 0, without = 0;
    for (std::int64_t x = 0; x < grid; ++x) {
      long double w = 1;
      for (std::int64_t k = 0; k < tosses; ++k) {
        if (k != i) w *= std::exp(static_cast<long double>(likelihood[static_cast<std::size_t>(k * grid + x)]));
      }
      without += w;
      with += w * std::exp(static_cast<long double>(likelihood[static_cast<std::size_t>(i * grid + x)]));
    }
    EXPECT_NEAR(got[static_cast<std::size_t>(i)], static_cast<double>(std::log(with / without)), 1e-12);
  }
}

TEST(Predictive, OfAPlateThatThePlanLeavesOutForItsSingleSlice) {
  // Tractable for one slice of i alone. Without it, z is held by nothing and still summed; w goes with the slice.
  FactorGraph graph;
  graph.plate("i", 1);
  graph.plate("j", 2);
  graph.variable("w", 5, {"i"});
  graph.variable("x", 2, {"i"});
  graph.variable("y", 2, {"j"});
  graph.variable("z", 3, {});
  graph.factor("f", {"i", "j", "x", "y"});
  graph.factor("g", {"j", "y"});
  graph.factor("h", {"i", "x", "z"});
  const Tensor f = Tensor::of<double>({1, 2, 2, 2}, {.1, .2, .3, .4, .5, .6, .7, .8});
  const Tensor g = Tensor::of<double>({2, 2}, {1, 2, 3, 4});
  const Tensor h = Tensor::of<double>({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const RunOptions real{.semiring = Semiring::real};
  const Plan plan = compile(graph);
  const std::vector<Tensor> operands{f, g, h};
  const double first = (.1 * 1 + .2 * 2) * (.5 * 3 + .6 * 4) * (1 + 2 + 3);
  const double second = (.3 * 1 + .4 * 2) * (.7 * 3 + .8 * 4) * (4 + 5 + 6);
  const double with = 5 * (first + second), without = (1 + 2) * (3 + 4) * 3;
  EXPECT_NEAR(leave_one_out(plan, operands, "i", real).values()[0], std::log(with / without), 1e-13);
  EXPECT_EQ(leave_one_out(plan, operands, "i", real).shape(), Tensor::Shape{1});
  const std::vector<double> of_j = leave_one_out(plan, operands, "j", real).values();
  const double without_first = 5 * ((.5 * 3 + .6 * 4) * 6 + (.7 * 3 + .8 * 4) * 15);
  EXPECT_NEAR(of_j[0], std::log(with / without_first), 1e-13);
  EXPECT_NE(plan.print({.kind = Question::Kind::leave_one_out, .plate = "i"}), plan.print());
}

TEST(Predictive, KeepsPrecisionWhereOneSliceDrownsTheOthers) {
  // Slice 0 alone decides between the states of x; by subtraction the others' say would be lost.
  const Tensor g = Tensor::of<double>({3, 2}, {-1e9, 0, -1, -2, -3, -3.5});
  const std::vector<double> got = leave_one_out("ix->x", {g}, "i", {.plates = "i"}).values();
  const double others = std::log(std::exp(-4.0) + std::exp(-5.5));
  EXPECT_NEAR(got[0], -5.5 - others, 1e-13);
  EXPECT_NEAR(got[1], -5.5 - -3.5, 1e-13);
  EXPECT_NEAR(got[2], -5.5 - -2.0, 1e-13);
}

TEST(Predictive, NamesWhatIsWrong) {
  const Tensor g = Tensor::of<double>({3, 2}, {0, 0, -1, -2, -3, -3.5});
  EXPECT_THROW((void)leave_one_out("ix->", {g}, "nothing", {.plates = "i"}), UnknownNameError);
  EXPECT_THROW((void)leave_one_out("ix->", {g}, "x", {.plates = "i"}), Error);
  EXPECT_THROW((void)leave_one_out("ix->", {g}, "i", {.plates = "i", .semiring = Semiring::max_plus}), OptionError);
  const double none = -std::numeric_limits<double>::infinity();
  const Tensor twice = Tensor::of<double>({3, 2}, {none, 0, 0, none, 1, 1});  // x cannot be both
  EXPECT_THROW((void)leave_one_out("ix->x", {twice}, "i", {.plates = "i"}), ImpossibleError);
  const Tensor once = Tensor::of<double>({2, 2}, {none, 0, 0, none});
  EXPECT_EQ(leave_one_out("ix->x", {once}, "i", {.plates = "i"}).values(), (std::vector<double>{none, none}));
}

}  // namespace
}  // namespace plated::test
