// value_and_gradient and hessian_vector_product: refusals, output memory, cancellation.
#include "plated/gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "plated/error.hpp"

namespace plated {
namespace {

using Values = std::vector<double>;
using Shape = Tensor::Shape;

const Tensor f = Tensor::of<double>({2}, {1, 2});
const Tensor g = Tensor::of<double>({3, 2}, {1, 2, 3, 4, 5, 6});
const std::vector<Tensor> operands{f, g};

/// Σ_x f[x] ∏_i g[i, x], and x kept.
Plan plan() {
  FactorGraph graph;
  graph.plate("i", 3);
  graph.variable("x", 2);
  graph.factor("f", {"x"});
  graph.factor("g", {"i", "x"});
  graph.output({});
  graph.output({"x"});
  return compile(graph);
}
const RunOptions real{.semiring = Semiring::real};

Tensor no_data(const Shape& shape) { return Tensor::view(static_cast<double*>(nullptr), shape); }

TEST(ValueAndGradient, GivesValuesAndGradientsInTheOperandsShapes) {
  const auto [values, gradients] = value_and_gradient(plan(), operands, real);
  ASSERT_EQ(values.size(), 2U);
  ASSERT_EQ(gradients.size(), 2U);
  // f ∏ g = 1·15 and 2·48; each entry of both outputs counts once.
  EXPECT_EQ(values[0].item(), 15 + 96);
  EXPECT_EQ(values[1].values(), (Values{15, 96}));
  EXPECT_EQ(gradients[0].values(), (Values{30, 96}));
  EXPECT_EQ(gradients[1].shape(), g.shape());
  EXPECT_EQ(gradients[1].values(), (Values{30, 96, 10, 48, 6, 32}));
}

TEST(ValueAndGradient, WeighsTheOutputsWithCotangents) {
  const GradientOptions total{.cotangents = {Tensor::scalar(1.0), Tensor::of<double>({2}, {0, 0})}};
  EXPECT_EQ(value_and_gradient(plan(), operands, real, total).gradients[0].values(), (Values{15, 48}));
  const GradientOptions second{.cotangents = {Tensor::scalar(0.0F), Tensor::of<float>({2}, {0, -2})}};
  EXPECT_EQ(value_and_gradient(plan(), operands, real, second).gradients[0].values(), (Values{0, -96}));
  const auto in_log = value_and_gradient(plan(), operands, {}, total);
  const double odds = std::exp(f.at({1}) + 12 - f.at({0}) - 9);
  EXPECT_NEAR(in_log.gradients[0].values()[1], odds / (1 + odds), 1e-14);
}

TEST(ValueAndGradient, RefusesWrongCounts) {
  const std::vector<Tensor> one{f}, three{f, g, g};
  EXPECT_THROW((void)value_and_gradient(plan(), one), OperandCountError);
  EXPECT_THROW((void)value_and_gradient(plan(), three), OperandCountError);
  EXPECT_THROW((void)value_and_gradient(plan(), operands, {}, {.cotangents = {Tensor::scalar(1.0)}}),
               OperandCountError);
  EXPECT_THROW((void)value_and_gradient(plan(), operands, {}, {.gradients = {Tensor(Dtype::float64, {2})}}),
               OperandCountError);
}

TEST(ValueAndGradient, RefusesWrongShapes) {
  const std::vector<Tensor> narrow{f, Tensor(Dtype::float64, {3, 1})}, flat{f, Tensor(Dtype::float64, {6})};
  EXPECT_THROW((void)value_and_gradient(plan(), narrow), SizeError);
  EXPECT_THROW((void)value_and_gradient(plan(), flat), RankError);
  const GradientOptions cotangents{.cotangents = {Tensor::scalar(1.0), Tensor(Dtype::float64, {3})}};
  EXPECT_THROW((void)value_and_gradient(plan(), operands, {}, cotangents), ShapeError);
  const GradientOptions sizes{.gradients = {Tensor(Dtype::float64, {3}), Tensor(Dtype::float64, {3, 2})}};
  EXPECT_THROW((void)value_and_gradient(plan(), operands, {}, sizes), SizeError);
  const GradientOptions ranks{.gradients = {Tensor(Dtype::float64, {2, 1}), Tensor(Dtype::float64, {3, 2})}};
  EXPECT_THROW((void)value_and_gradient(plan(), operands, {}, ranks), RankError);
}

TEST(ValueAndGradient, RefusesTensorsWithoutData) {
  const std::vector<Tensor> missing{f, no_data({3, 2})};
  EXPECT_THROW((void)value_and_gradient(plan(), missing), NullDataError);
  EXPECT_THROW((void)value_and_gradient(plan(), operands, {}, {.cotangents = {no_data({}), f}}), NullDataError);
}

TEST(ValueAndGradient, RefusesCotangentsThatAreNoNumbers) {
  const GradientOptions nan{.cotangents = {Tensor::scalar(std::nan("")), f}};
  EXPECT_THROW((void)value_and_gradient(plan(), operands, {}, nan), ValueError);
  const GradientOptions infinite{.cotangents = {Tensor::scalar(1.0), Tensor::of<double>({2}, {0, INFINITY})}};
  EXPECT_THROW((void)value_and_gradient(plan(), operands, {}, infinite), ValueError);
}

TEST(ValueAndGradient, RefusesPlacesThatCannotBeWritten) {
  const double constant[2] = {0, 0};
  double memory[8] = {};
  const Tensor place = Tensor::view(memory, {3, 2});
  const auto into = [&](const Tensor& first, const Tensor& second) {
    return value_and_gradient(plan(), operands, {}, {.gradients = {first, second}});
  };
  EXPECT_THROW((void)into(Tensor::view(constant, {2}), place), ShapeError);
  EXPECT_THROW((void)into(Tensor::view(memory, {2}, {0}), Tensor()), OverlapError);  // itself
  EXPECT_THROW((void)into(Tensor::view(memory + 5, {2}), place), OverlapError);      // the other
  EXPECT_THROW((void)into(Tensor(), g), OverlapError);                               // the operand
  EXPECT_NO_THROW((void)into(Tensor::view(memory + 6, {2}), place));
}

TEST(ValueAndGradient, TakesAPlaceWithoutElements) {
  const Tensor nothing(Dtype::float64, {0, 3});
  const ValueAndGradient answer = value_and_gradient("ix->", {nothing}, {.plates = "i"},
                                                     {.gradients = {Tensor::uninitialised(Dtype::float64, {0, 3})}});
  EXPECT_EQ(answer.values.at(0).item(), 0);
  EXPECT_EQ(answer.gradients.at(0).shape(), (Tensor::Shape{0, 3}));
}

TEST(ValueAndGradient, RefusesPlacesThatOverlapACotangent) {
  const Tensor cotangent = Tensor::of<double>({2}, {1, 1});
  const GradientOptions shared{.cotangents = {Tensor::scalar(1.0), cotangent}, .gradients = {cotangent, Tensor()}};
  EXPECT_THROW((void)value_and_gradient(plan(), operands, {}, shared), OverlapError);
}

TEST(ValueAndGradient, WritesIntoTheCallersMemoryInAnyStridesAndDtype) {
  std::vector<float> memory(16, -7);
  // g's gradient as float32, columns first and two apart.
  const Tensor place = Tensor::view(memory.data() + 1, {3, 2}, {2, 8});
  const auto [values, gradients] = value_and_gradient(plan(), operands, real, {.gradients = {Tensor(), place}});
  EXPECT_EQ(values[0].item(), 111);
  EXPECT_EQ(gradients[0].data(), nullptr) << "not wanted";
  EXPECT_EQ(gradients[1].data(), place.data());
  EXPECT_EQ(place.values(), (Values{30, 96, 10, 48, 6, 32}));
  EXPECT_EQ(memory, (std::vector<float>{-7, 30, -7, 10, -7, 6, -7, -7, -7, 96, -7, 48, -7, 32, -7, -7}));
}

TEST(ValueAndGradient, IsTheSameWhereverTheOthersAreWritten) {
  // The gradient of the pair is the joint posterior of x and y, from which those of x and y alone may be added up.
  std::vector<double> entries;
  for (int k = 0; k < 35; ++k) entries.push_back(2 * std::sin(k));
  const Tensor x = Tensor::of({5}, Values(entries.begin(), entries.begin() + 5));
  const Tensor y = Tensor::of({7}, Values(entries.begin() + 9, entries.begin() + 16)),
               pair = Tensor::of({5, 7}, entries);
  const std::vector<Tensor> all{x, y, pair};
  const auto fresh = value_and_gradient("x,y,xy->", all).gradients;
  std::vector<double> memory(100, -7);
  const Tensor by_x = Tensor::view(memory.data() + 9, {5}, {-2}), by_y = Tensor::view(memory.data() + 10, {7});
  const Tensor transposed = Tensor::view(memory.data() + 20, {5, 7}, {1, 6});
  const std::vector<GradientOptions> places = {{.gradients = {by_x, by_y, transposed}},
                                               {.gradients = {by_x, by_y, Tensor()}},
                                               {.gradients = {by_x, Tensor(), transposed}}};
  for (const GradientOptions& into : places) {
    const auto gradients = value_and_gradient("x,y,xy->", all, {}, into).gradients;
    for (std::size_t k = 0; k < 3; ++k) {
      if (gradients[k].data() == nullptr) continue;
      const Values got = gradients[k].values(), want = fresh[k].values();
      for (std::size_t e = 0; e < got.size(); ++e) EXPECT_NEAR(got[e], want[e], 1e-15) << "operand " << k;
    }
  }
  const std::size_t gap = 20 + 5;  // between the columns of the transposed place
  EXPECT_EQ(memory[gap], -7);
  EXPECT_EQ(memory[2], -7);
  EXPECT_EQ(memory[19], -7);
}

TEST(ValueAndGradient, LeavesNothingOldInItsPlaces) {
  // Off the diagonal, and where no output depends on a factor, the gradient is zero and not what was there before.
  Values square(9, -7), line(2, -7);
  const GradientOptions diagonal{.gradients = {Tensor::view(square.data(), {3, 3})}};
  (void)value_and_gradient("aa->", {Tensor::of<double>({3, 3}, Values(9, 2))}, {.semiring = Semiring::real}, diagonal);
  EXPECT_EQ(square, (Values{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  const GradientOptions untouched{.gradients = {Tensor(), Tensor::view(line.data(), {2})}};
  (void)value_and_gradient("ix,y->ix", {Tensor(Dtype::float64, {0, 2}), f}, {.plates = "i"}, untouched);
  EXPECT_EQ(line, (Values{0, 0}));
}

TEST(ValueAndGradient, TakesEachOperandsOwnDtype) {
  const std::vector<Tensor> mixed{Tensor::of<float>({2}, {1, 2}), g};
  const auto [values, gradients] = value_and_gradient(plan(), mixed, real);
  EXPECT_EQ(values[0].dtype(), Dtype::float64);
  EXPECT_EQ(gradients[0].dtype(), Dtype::float32);
  EXPECT_EQ(gradients[1].dtype(), Dtype::float64);
}

TEST(ValueAndGradient, ExistsInLogAndRealOnly) {
  for (const Semiring semiring : {Semiring::max_plus, Semiring::min_plus, Semiring::max_product, Semiring::boolean}) {
    EXPECT_THROW((void)value_and_gradient(plan(), operands, {.semiring = semiring}), OptionError);
    EXPECT_THROW((void)hessian_vector_product(plan(), operands, operands, {.semiring = semiring}), OptionError);
  }
}

TEST(ValueAndGradient, IsRefusedBeforeAnythingIsAllocated) {
  // A plate of 10^12 slices, all the same number in memory: its gradient would take four million million bytes.
  const std::int64_t slices = 1000000;
  const Tensor huge = Tensor::of<float>({2}, {0, 0}).broadcast({slices, slices});
  const Tensor x = Tensor::of<float>({2}, {0, 0});
  EinsumOptions options{.plates = "ij"};
  options.memory_limit = std::int64_t{1} << 30;
  try {
    (void)value_and_gradient("x,ijx->", {x, huge}, options);
    FAIL() << "not refused";
  } catch (const MemoryLimitError& error) {
    EXPECT_EQ(error.limit(), options.memory_limit);
    EXPECT_GE(error.bytes_needed(), 2 * 4 * slices * slices);
  }
}

TEST(ValueAndGradient, OverTheLimitTouchesNoPlace) {
  const Tensor big = Tensor(Dtype::float64, {200, 200});
  std::vector<double> memory(40000, -7);
  EinsumOptions options;
  options.memory_limit = 64;
  const GradientOptions places{.gradients = {Tensor::view(memory.data(), {200, 200}), Tensor(), Tensor()}};
  EXPECT_THROW((void)value_and_gradient("ab,bc,ca->", {big, big, big}, options, places), MemoryLimitError);
  EXPECT_EQ(memory, std::vector<double>(40000, -7));
  options.memory_limit = 1 << 24;
  EXPECT_NO_THROW((void)value_and_gradient("ab,bc,ca->", {big, big, big}, options, places));
  EXPECT_NEAR(memory[0], 1.0 / 40000, 1e-12);
}

TEST(ValueAndGradient, StopsWhenItIsCancelled) {
  const Plan p = plan();
  int asked = 0;
  RunOptions counting = real;
  counting.cancelled = [&] { return ++asked, false; };
  (void)value_and_gradient(p, operands, counting);
  const int questions = asked;
  EXPECT_GT(questions, 2);
  for (int stop = 1; stop <= questions; ++stop) {
    asked = 0;
    RunOptions stopping = real;
    stopping.cancelled = [&] { return ++asked == stop; };
    bool stopped = false;
    try {
      (void)value_and_gradient(p, operands, stopping);
    } catch (const CancelledError&) {
      stopped = true;
    }
    // A run that was slow at first may have been asked more often than between its steps.
    EXPECT_EQ(stopped, asked >= stop) << "at " << stop;
    EXPECT_LE(asked, stop) << "nothing runs on";
    EXPECT_TRUE(stopped || stop > 2);
  }
  EXPECT_EQ(value_and_gradient(p, operands, real).values[0].item(), 111) << "the plan is as good as new";
}

TEST(ValueAndGradient, TellsItsProgress) {
  std::vector<double> shares;
  RunOptions telling = real;
  telling.progress = [&](double share) { shares.push_back(share); };
  (void)value_and_gradient(plan(), operands, telling);
  ASSERT_FALSE(shares.empty());
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_DOUBLE_EQ(shares.back(), 1.0);
}

TEST(HessianVectorProduct, GivesTangentsAndProducts) {
  // Along f alone: d/dt of the values, and of each gradient.
  const std::vector<Tensor> direction{Tensor::of<double>({2}, {1, 0}), Tensor(Dtype::float64, {3, 2})};
  const auto [tangents, products] = hessian_vector_product(plan(), operands, direction, real);
  ASSERT_EQ(tangents.size(), 2U);
  ASSERT_EQ(products.size(), 2U);
  EXPECT_EQ(tangents[0].item(), 15);
  EXPECT_EQ(tangents[1].values(), (Values{15, 0}));
  EXPECT_EQ(products[0].values(), (Values{0, 0}));
  EXPECT_EQ(products[1].values(), (Values{30, 0, 10, 0, 6, 0}));
}

TEST(HessianVectorProduct, RefusesWrongDirections) {
  const auto along = [](std::vector<Tensor> direction) { return hessian_vector_product(plan(), operands, direction); };
  EXPECT_THROW((void)along({f}), OperandCountError);
  EXPECT_THROW((void)along({f, f}), ShapeError);
  EXPECT_THROW((void)along({f, no_data({3, 2})}), NullDataError);
  EXPECT_THROW((void)along({Tensor::of<double>({2}, {0, std::nan("")}), g}), ValueError);
  EXPECT_THROW((void)hessian_vector_product(plan(), operands, operands, {}, {f}), OperandCountError);
}

}  // namespace
}  // namespace plated
