// marginals and the questions derived from them: names, shapes, and refusals.
#include "plated/marginals.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "plated/error.hpp"
#include "unit/api/shuffled_model.hpp"

namespace plated {
namespace {

using Values = std::vector<double>;
using Shape = Tensor::Shape;
const double none = -std::numeric_limits<double>::infinity();

Plan shuffled() { return compile(shuffled_graph()); }
std::vector<Tensor> shuffled_operands(Dtype dtype = Dtype::float64) {
  return {Tensor(dtype, {2, 6}), Tensor(dtype, {3, 5, 2, 4})};
}

TEST(Marginals, AreNamedAndHaveAxesBatchPlatesStatesInDeclarationOrder) {
  const Marginals p = marginals(shuffled(), shuffled_operands(), {}, {.factors = true, .sets = {{"x", "y"}, {"x"}}});
  EXPECT_EQ(p.log_partition.shape(), Shape{6});
  ASSERT_EQ(p.variables.size(), 2U);
  EXPECT_EQ(p.variables.at("x").shape(), (Shape{6, 2}));
  EXPECT_EQ(p.variables.at("y").shape(), (Shape{6, 4, 5, 3}));
  ASSERT_EQ(p.factors.size(), 2U);
  EXPECT_EQ(p.factors[0].shape(), (Shape{2, 6}));
  EXPECT_EQ(p.factors[1].shape(), (Shape{3, 5, 2, 4}));
  ASSERT_EQ(p.sets.size(), 2U);
  EXPECT_EQ(p.sets[0].shape(), (Shape{6, 4, 5, 3, 2}));
  EXPECT_EQ(p.sets[1].shape(), (Shape{6, 2}));
  for (const double x : p.variables.at("y").values()) EXPECT_NEAR(x, 1.0 / 3, 1e-14);
  for (const double x : p.sets[0].values()) EXPECT_NEAR(x, 1.0 / 6, 1e-14);
}

TEST(Marginals, GiveOnlyWhatIsWanted) {
  const Marginals p = marginals(shuffled(), shuffled_operands(), {}, {.variables = false});
  EXPECT_TRUE(p.variables.empty());
  EXPECT_TRUE(p.factors.empty());
  EXPECT_TRUE(p.sets.empty());
  EXPECT_NEAR(p.log_partition.values()[3], std::log(2.0) + 20 * std::log(3.0), 1e-12);
}

TEST(Marginals, TakeTheOperandsDtype) {
  const Marginals p = marginals(shuffled(), shuffled_operands(Dtype::float32), {}, {.factors = true, .sets = {{"x"}}});
  EXPECT_EQ(p.variables.at("y").dtype(), Dtype::float32);
  EXPECT_EQ(p.factors[0].dtype(), Dtype::float32);
  EXPECT_EQ(p.sets[0].dtype(), Dtype::float32);
}

TEST(Marginals, OfTiedFactorsAreAveraged) {
  // Two slices: the first sees state 0 alone, the second state 1.
  const Tensor tied = Tensor::of<double>({2}, {0, 0}), seen = Tensor::of<double>({2, 2}, {0, none, none, 0});
  const Marginals p = marginals("(i)x,ix->", {tied, seen}, {.plates = "i"}, {.factors = true});
  EXPECT_EQ(p.factors[0].values(), (Values{0.5, 0.5}));
  EXPECT_EQ(p.factors[1].values(), (Values{1, 0, 0, 1}));
  const Marginals logs = marginals("(i)x,ix->", {tied, seen}, {.plates = "i"}, {.factors = true, .log = true});
  EXPECT_NEAR(logs.factors[0].values()[0], std::log(0.5), 1e-15);
  EXPECT_EQ(logs.factors[1].values(), (Values{0, none, none, 0}));
}

TEST(Marginals, InLogDoNotUnderflow) {
  const Tensor f = Tensor::of<double>({2}, {0, -2000});
  EXPECT_EQ(marginals("x->", {f}).variables.at("x").values(), (Values{1, 0}));
  EXPECT_EQ(marginals("x->", {f}, {}, {.log = true}).variables.at("x").values(), (Values{0, -2000}));
}

TEST(Marginals, ReadWeightsInTheRealSemiring) {
  const Tensor f = Tensor::of<double>({2}, {3, 1});
  const Marginals p = marginals("x->", {f}, {.semiring = Semiring::real});
  EXPECT_NEAR(p.variables.at("x").values()[0], 0.75, 1e-15);
  EXPECT_NEAR(p.log_partition.item(), std::log(4.0), 1e-15);
  EXPECT_THROW((void)marginals("x->", {Tensor::of<double>({2}, {3, -1})}, {.semiring = Semiring::real}), ValueError);
}

TEST(Marginals, RefuseUnknownNamesAndOtherSemirings) {
  const Tensor f = Tensor::of<double>({2}, {3, 1});
  for (const char* name : {"z", "n", "i"}) {
    EXPECT_THROW((void)marginals(shuffled(), shuffled_operands(), {}, {.sets = {{"x", name}}}), UnknownNameError);
  }
  EXPECT_THROW((void)marginals(shuffled(), shuffled_operands(), {}, {.sets = {{"x"}, {"y", "x", "y"}}}),
               DuplicateNameError);
  for (const Semiring semiring : {Semiring::max_plus, Semiring::min_plus, Semiring::max_product, Semiring::boolean}) {
    EXPECT_THROW((void)marginals("x->", {f}, {.semiring = semiring}), OptionError);
    EXPECT_THROW((void)entropy("x->", {f}, {.semiring = semiring}), OptionError);
    EXPECT_THROW((void)expectation("x->", {f}, {f}, {.semiring = semiring}), OptionError);
    EXPECT_THROW(
        (void)leave_one_out("ix->", {Tensor(Dtype::float64, {2, 2})}, "i", {.plates = "i", .semiring = semiring}),
        OptionError);
  }
  EXPECT_THROW((void)max_marginals("x->", {f}, {.semiring = Semiring::boolean}), OptionError);
}

TEST(Marginals, RefuseWrongOperands) {
  const std::vector<Tensor> one{Tensor(Dtype::float64, {2, 6})};
  EXPECT_THROW((void)marginals(shuffled(), one), OperandCountError);
  const std::vector<Tensor> missing{one[0], Tensor::view(static_cast<double*>(nullptr), {3, 5, 2, 4})};
  EXPECT_THROW((void)marginals(shuffled(), missing), NullDataError);
  const std::vector<Tensor> wrong{one[0], Tensor(Dtype::float64, {4, 5, 2, 4})};
  EXPECT_THROW((void)marginals(shuffled(), wrong), SizeError);
  const std::vector<Tensor> smaller{one[0], Tensor(Dtype::float64, {3, 5, 2, 1})};
  EXPECT_EQ(marginals(shuffled(), smaller).variables.at("y").shape(), (Shape{6, 1, 5, 3})) << "a plate has any size";
}

TEST(Marginals, NameTheBatchThatIsImpossible) {
  const Tensor f = Tensor::of<double>({3, 2}, {0, 0, 0, 0, none, none});
  for (const bool log : {false, true}) {
    try {
      (void)marginals("nx->", {f}, {.batch = "n"}, {.log = log});
      FAIL() << "not refused";
    } catch (const ImpossibleError& error) {
      EXPECT_NE(std::string(error.what()).find("n = 2"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW((void)entropy("nx->", {f}, {.batch = "n"}), ImpossibleError);
  EXPECT_THROW((void)expectation("nx->", {f}, {Tensor(Dtype::float64, {3, 2})}, {.batch = "n"}), ImpossibleError);
}

TEST(Marginals, AreRefusedBeforeAnythingIsAllocated) {
  // Ten million million variables, all the same number in memory: their posteriors alone would not fit.
  const std::int64_t slices = 1000000;
  const Tensor huge = Tensor::of<float>({2}, {0, 0}).broadcast({slices, slices});
  EinsumOptions options{.plates = "ij"};
  options.memory_limit = std::int64_t{1} << 30;
  try {
    (void)marginals("ijx->", {huge}, options);
    FAIL() << "not refused";
  } catch (const MemoryLimitError& error) {
    EXPECT_EQ(error.limit(), options.memory_limit);
    EXPECT_GE(error.bytes_needed(), 2 * 4 * slices * slices);
  }
}

TEST(MaxMarginals, AreTheScoresOfTheBestAssignmentThatHasAState) {
  const Tensor f = Tensor::of<double>({2}, {1, 0}), g = Tensor::of<double>({2, 2, 2}, {0, 5, 2, 3, 1, 0, 0, 0});
  const auto best = max_marginals("x,ixy->", {f, g}, {.plates = "i"});
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best.at("x").values(), (Values{1 + 5 + 1, 0 + 3 + 0}));
  EXPECT_EQ(best.at("y").shape(), (Shape{2, 2}));
  EXPECT_EQ(best.at("y").values(), (Values{2, 7, 7, 6}));
  const auto least = max_marginals("x,ixy->", {f, g}, {.plates = "i", .semiring = Semiring::min_plus});
  EXPECT_EQ(least.at("x").values(), (Values{1, 2}));
}

TEST(Expectation, TakesStatisticsLikeTheOperands) {
  const Tensor f = Tensor::of<double>({2}, {0, std::log(3.0)}), g(Dtype::float64, {4, 2});
  const Tensor state = Tensor::of<double>({2}, {0, 1});
  EXPECT_NEAR(expectation("x,ix->", {f, g}, {state, Tensor()}, {.plates = "i"}).item(), 0.75, 1e-14);
  const Tensor each = state.broadcast({4});
  EXPECT_NEAR(expectation("x,ix->", {f, g}, {Tensor(), each}, {.plates = "i"}).item(), 4 * 0.75, 1e-14);
  EXPECT_NEAR(expectation("x,ix->", {f, g}, {state, each}, {.plates = "i"}).item(), 5 * 0.75, 1e-14);
  EXPECT_EQ(expectation("x,ix->", {f, g}, {Tensor(), Tensor()}, {.plates = "i"}).item(), 0);
  EXPECT_THROW((void)expectation("x,ix->", {f, g}, {state}, {.plates = "i"}), OperandCountError);
  EXPECT_THROW((void)expectation("x,ix->", {f, g}, {state, state}, {.plates = "i"}), ShapeError);
}

TEST(LeaveOneOut, WantsAPlate) {
  for (const char* name : {"x", "n", "k"}) {
    EXPECT_THROW((void)leave_one_out(shuffled(), shuffled_operands(), name), UnknownNameError);
  }
  EXPECT_EQ(leave_one_out(shuffled(), shuffled_operands(), "i").shape(), (Shape{6, 5}));
}

TEST(LeaveOneOut, OfAChainTakesEachFactorOnce) {
  const std::vector<Tensor> operands{Tensor(Dtype::float64, {2}), Tensor(Dtype::float64, {2, 2}),
                                     Tensor(Dtype::float64, {4, 2})};
  const EinsumOptions options{.chains = {{"t", {"a->b"}}}};
  EXPECT_EQ(leave_one_out("a,(t)ab,tb->", operands, "t", options, {"f2"}).shape(), Shape{4});
  EXPECT_THROW((void)leave_one_out("a,(t)ab,tb->", operands, "t", options, {"f2", "f2"}), DuplicateNameError);
}

TEST(LeaveOneOut, NamesTheSliceWithoutWhichTheRestIsImpossible) {
  const Tensor f = Tensor::of<double>({3, 1}, {0, none, 0});
  try {
    (void)leave_one_out("ix->", {f}, "i", {.plates = "i"});
    FAIL() << "not refused";
  } catch (const ImpossibleError& error) {
    EXPECT_NE(std::string(error.what()).find("without slice 0"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace plated
