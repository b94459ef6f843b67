// Weights of plates on small models whose answers are known.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "planner/planner.hpp"
#include "plated/error.hpp"
#include "plated/gradient.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"

namespace plated::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Weights, AndLengthsOfOnePlateMultiply) {
  const Tensor g = Tensor::of<double>({3, 2}, {0, 1, 2, 0.5, std::nan(""), 3});
  const Tensor w = Tensor::of<double>({3}, {0.5, 2, 7});
  const EinsumOptions options{.plates = "i", .lengths = {{"i", Integers({}, {2})}}, .weights = {{"i", w}}};
  const double want = 0.5 * std::log(1 + std::exp(1)) + 2 * std::log(std::exp(2) + std::exp(0.5));
  EXPECT_NEAR(einsum("ix->", {g}, options).values()[0], want, 1e-14);
}

TEST(Weights, OfFloat32AreAsGood) {
  const Tensor g = Tensor::of<float>({2, 2}, {0, 1, 2, 0.5F});
  const Tensor w = Tensor::of<float>({2}, {0.5F, 2});
  const Tensor got = einsum("ix->", {g}, {.plates = "i", .weights = {{"i", w}}});
  EXPECT_EQ(got.dtype(), Dtype::float32);
  EXPECT_NEAR(got.values()[0], 0.5 * std::log(1 + std::exp(1)) + 2 * std::log(std::exp(2) + std::exp(0.5)), 1e-6);
}

TEST(Weights, OfZeroLeaveOutWhatIsImpossible) {
  const Tensor g = Tensor::of<double>({2, 2}, {0, 1, -infinity, -infinity});
  const EinsumOptions options{.plates = "i", .weights = {{"i", Tensor::of<double>({2}, {1, 0})}}};
  EXPECT_NEAR(einsum("ix->", {g}, options).values()[0], std::log(1 + std::exp(1)), 1e-14);
  const auto got = value_and_gradient("ix->", {g}, options);
  EXPECT_EQ(got.gradients[0].values()[2], 0);
  EXPECT_EQ(marginals("ix->", {g}, options).variables.at("x").values()[3], 0);
  for (const auto& [name, states] : sample("ix->", {g}, {.count = 20}, options)) {
    for (const std::int64_t state : states.values) EXPECT_TRUE(state == 0 || state == 1) << name;
  }
}

TEST(Weights, OfTheOnlySliceCount) {
  const Tensor g = Tensor::of<double>({1, 2}, {0.25, 1});
  const EinsumOptions options{.plates = "i", .weights = {{"i", Tensor::scalar(2.5)}}};
  const double one = std::log(std::exp(0.25) + std::exp(1)), p = std::exp(0.25 - one);
  EXPECT_NEAR(leave_one_out("ix->", {g}, "i", options).values()[0], 2.5 * one, 1e-14);
  EXPECT_NEAR(value_and_gradient("ix->", {g}, options).gradients[0].values()[0], 2.5 * p, 1e-14);
  EXPECT_NEAR(marginals("ix->", {g}, options).variables.at("x").values()[0], p, 1e-14);
  EXPECT_NEAR(entropy("ix->", {g}, options).values()[0], -2.5 * (p * std::log(p) + (1 - p) * std::log(1 - p)), 1e-14);
  const EinsumOptions gone{.plates = "i", .lengths = {{"i", Integers({}, {0})}}};
  EXPECT_EQ(leave_one_out("ix->", {g}, "i", gone).values()[0], 0);
  EXPECT_EQ(entropy("ix->", {g}, gone).values()[0], 0);
}

TEST(Weights, ArePricedAndPrintedWhereAQuestionNamesThem) {
  FactorGraph g;
  g.batch("b", 4);
  g.plate("i", 10);
  g.plate("j", 20);
  g.variable("x", 3);
  g.variable("y", 2, {"i", "j"});
  g.factor("f", {"b", "x"});
  g.factor("g", {"i", "j", "x", "y"});
  const Plan plan = compile(g);
  for (const Question::Kind kind : {Question::Kind::value, Question::Kind::gradient, Question::Kind::marginals}) {
    const Question plain{.kind = kind}, weighted{.kind = kind, .weights = {"i"}},
        ragged{.kind = kind, .lengths = {"j"}};
    EXPECT_FALSE(plain == weighted);
    EXPECT_NE(std::hash<Question>{}(plain), std::hash<Question>{}(weighted));
    EXPECT_NE(std::hash<Question>{}(ragged), std::hash<Question>{}(weighted));
    EXPECT_EQ(plan.print(plain).find("weights of"), std::string::npos);
    EXPECT_NE(plan.print(weighted).find("weights of i"), std::string::npos) << plan.print(weighted);
    EXPECT_NE(plan.print(ragged).find("weights of j"), std::string::npos) << plan.print(ragged);
    EXPECT_GT(plan.cost(weighted).flops, plan.cost(plain).flops);
    // A copy of g without what is not there.
    EXPECT_GE(plan.cost(ragged).run_bytes, plan.cost({.kind = kind, .weights = {"j"}}).run_bytes + 10 * 20 * 3 * 2 * 4);
    EXPECT_GT(plan.cost(weighted, {{"i", 1000}}).flops, plan.cost(weighted).flops);
  }
  EXPECT_THROW((void)plan.print({.weights = {"x"}}), UnknownNameError);
  EXPECT_THROW((void)plan.cost({.lengths = {"k"}}), UnknownNameError);
}

TEST(Weights, ArePlannedOnceWhereCompileIsToldOfThem) {
  FactorGraph g;
  g.batch("b", 2);
  g.plate("i", 3);
  g.variable("x", 2, {"i"});
  g.factor("f", {"b", "i", "x"});
  const Plan plan = compile(g, {.questions = {{.weights = {"i"}}, {.lengths = {"i"}}}});
  const std::uint64_t made = planner::plans_made;
  const std::vector<Tensor> operands{Tensor(Dtype::float64, {2, 3, 2})};
  (void)plan.run(operands, {.weights = {{"i", Tensor::scalar(2.5)}}});
  (void)plan.run(operands, {.lengths = {{"i", Integers({2}, {1, 2})}}});
  (void)plan.cost({.weights = {"i"}});
  EXPECT_EQ(planner::plans_made, made);
  (void)plan.run(operands);
  EXPECT_EQ(planner::plans_made, made + 1);
}

TEST(Weights, GiveTheSameBitsOnAnyNumberOfThreads) {
  const std::int64_t slices = 200000;
  std::vector<double> numbers, each;
  for (std::int64_t k = 0; k < 2 * slices; ++k) numbers.push_back(std::sin(static_cast<double>(k)));
  for (std::int64_t k = 0; k < slices; ++k) each.push_back(0.25 * static_cast<double>(k % 9));
  const Tensor g = Tensor::of({slices, 2}, numbers);
  EinsumOptions options{.plates = "i", .weights = {{"i", Tensor::of({slices}, each)}}};
  std::vector<double> values, gradients;
  for (const int threads : {1, 2, 5}) {
    options.threads = threads;
    const auto got = value_and_gradient("ix->", {g}, options);
    if (threads == 1) {
      values = got.values[0].values();
      gradients = got.gradients[0].values();
    }
    EXPECT_EQ(got.values[0].values(), values);
    EXPECT_EQ(got.gradients[0].values(), gradients);
  }
}

TEST(Weights, CountTheConstantsOfOperandsThatAreRecentred) {
  const Tensor g = Tensor::of<double>({2, 2}, {1e14, 1e14 + 1, 2, 0.5});
  const EinsumOptions options{.plates = "i", .weights = {{"i", Tensor::of<double>({2}, {0.5, 3})}}};
  const std::vector<double> got = leave_one_out("ix->", {g}, "i", options).values();
  EXPECT_NEAR(got[0], 0.5e14, 1);
  EXPECT_NEAR(got[1], 3 * std::log(std::exp(2) + std::exp(0.5)), 1e-12);
}

}  // namespace
}  // namespace plated::test
