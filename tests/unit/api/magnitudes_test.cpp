// Posteriors of numbers of any magnitude: what is common to all states of a slice spoils nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "plated/plated.hpp"
#include "unit/graph/message_of.hpp"

namespace plated {
namespace {

using test::message_of;

constexpr double infinity = std::numeric_limits<double>::infinity();
/// What people mask a slice with; a shift that leaves four digits of a logarithm; the largest numbers that there are.
constexpr double magnitudes[] = {-1e30, 1e30, -1e12, 1e12, -1e16, -1e300, 1e300};

/// A variable m and, in plate i, x: f[i, m, x]. Slice 1 is far off.
struct Plated {
  static constexpr const char* equation = "m,imx->";

  explicit Plated(double offset, double second = 0) {
    std::vector<double> f = {-0.1, -2.5, -1.5, -0.3, 0.2, -0.7, -0.4, -0.9, -1.1, 0.3, 0.1, -0.2};
    likelihood = f;
    for (std::size_t k = 4; k < 8; ++k) f[k] = (offset == 0 ? f[k] : 0) + offset;
    if (offset != 0) {
      for (std::size_t k = 4; k < 8; ++k) likelihood[k] = 0;
    }
    for (std::size_t k = 8; k < 12; ++k) f[k] += second;
    operands = {Tensor::of<double>({2}, {std::log(0.9), std::log(0.1)}), Tensor::of<double>({3, 2, 2}, f)};
    centred = {operands[0], Tensor::of<double>({3, 2, 2}, likelihood)};
  }

  EinsumOptions options{.plates = "i"};
  std::vector<double> likelihood;
  std::vector<Tensor> operands;
  std::vector<Tensor> centred;  // the same without the offset
};

void expect_near(const Tensor& got, const Tensor& want, double tolerance, const std::string& what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  const std::vector<double> a = got.values(), b = want.values();
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] == b[k]) continue;  // infinities among them
    EXPECT_NEAR(a[k], b[k], tolerance) << what << ", entry " << k;
  }
}

/// Everything that does not depend on a slice's constant, on both.
void expect_same_posterior(const char* equation, const std::vector<Tensor>& given, const std::vector<Tensor>& centred,
                           const EinsumOptions& options, const std::vector<std::vector<std::string>>& sets,
                           double tolerance = 1e-9) {
  for (const bool log : {false, true}) {
    const MarginalOptions wanted{.factors = true, .sets = sets, .log = log};
    const Marginals got = marginals(equation, given, options, wanted);
    const Marginals want = marginals(equation, centred, options, wanted);
    for (const auto& [name, tensor] : want.variables) expect_near(got.variables.at(name), tensor, tolerance, name);
    for (std::size_t f = 0; f < want.factors.size(); ++f) {
      expect_near(got.factors[f], want.factors[f], tolerance, "factor " + std::to_string(f));
    }
    for (std::size_t s = 0; s < sets.size(); ++s) expect_near(got.sets[s], want.sets[s], tolerance, "set");
  }
  const MapResult best = map(equation, given, options), expected = map(equation, centred, options);
  for (const auto& [name, states] : expected.assignment) EXPECT_EQ(best.assignment.at(name).values, states.values);
  const auto drawn = sample(equation, given, {.count = 50, .seed = 3}, options);
  for (const auto& [name, states] : sample(equation, centred, {.count = 50, .seed = 3}, options)) {
    EXPECT_EQ(drawn.at(name).values, states.values) << name;
  }
  expect_near(entropy(equation, given, options), entropy(equation, centred, options), tolerance, "entropy");
  std::vector<Tensor> statistics;
  for (const Tensor& operand : given) {
    std::vector<double> values(static_cast<std::size_t>(operand.elements()));
    std::iota(values.begin(), values.end(), 1.0);
    statistics.push_back(Tensor::of(operand.shape(), values));
  }
  expect_near(expectation(equation, given, statistics, options), expectation(equation, centred, statistics, options),
              1e3 * tolerance, "expectation");
  const ValueAndGradient got = value_and_gradient(equation, given, options);
  const ValueAndGradient want = value_and_gradient(equation, centred, options);
  for (std::size_t f = 0; f < given.size(); ++f) {
    expect_near(got.gradients[f], want.gradients[f], tolerance, "gradient " + std::to_string(f));
  }
}

TEST(Magnitudes, OfOneSliceSpoilNothing) {
  std::vector<double> f(12, 0.0);
  for (std::size_t k = 4; k < 8; ++k) f[k] = -1e30;
  const Marginals got =
      marginals("m,imx->", {Tensor::of<double>({2}, {std::log(0.9), std::log(0.1)}), Tensor::of<double>({3, 2, 2}, f)},
                {.plates = "i"});
  EXPECT_NEAR(got.variables.at("m").at({0}), 0.9, 1e-12);
  EXPECT_NEAR(got.variables.at("m").at({1}), 0.1, 1e-12);
  EXPECT_EQ(got.log_partition.item(), -1e30);
  for (const double x : got.variables.at("x").values()) EXPECT_NEAR(x, 0.5, 1e-12);
}

TEST(Magnitudes, OfOneSliceSpoilNoQuestion) {
  for (const double offset : magnitudes) {
    SCOPED_TRACE(offset);
    const Plated model(offset);
    expect_same_posterior(Plated::equation, model.operands, model.centred, model.options, {{"m", "x"}});
    // The value is the total of the numbers as they are.
    EXPECT_EQ(value_and_gradient(Plated::equation, model.operands, model.options).values[0].item(),
              einsum(Plated::equation, model.operands, model.options).item());
    EXPECT_NEAR(marginals(Plated::equation, model.operands, model.options).log_partition.item() / offset, 1, 1e-9);
    EXPECT_NEAR(map(Plated::equation, model.operands, model.options).score.item() / offset, 1, 1e-9);
  }
}

TEST(Magnitudes, OfSeveralSlicesThatCancelSpoilNoQuestion) {
  // What is left of the last slice's own digits next to its shift is the question that is asked.
  const Plated model(-1e9, 1e9);
  std::vector<double> centred = model.operands[1].values();
  for (std::size_t k = 4; k < 8; ++k) centred[k] += 1e9;
  for (std::size_t k = 8; k < 12; ++k) centred[k] -= 1e9;
  expect_same_posterior(Plated::equation, model.operands, {model.operands[0], Tensor::of<double>({3, 2, 2}, centred)},
                        model.options, {{"m", "x"}}, 1e-8);
}

TEST(Magnitudes, OfEveryOperandSpoilNothingInFloat32) {
  for (const float offset : {-1e30F, 3e38F, -3e38F}) {
    std::vector<float> f(12, 0.0F);
    for (std::size_t k = 4; k < 8; ++k) f[k] = offset;
    const std::vector<Tensor> operands = {Tensor::of<float>({2}, {std::log(0.9F), std::log(0.1F)}),
                                          Tensor::of<float>({3, 2, 2}, f)};
    const Marginals got = marginals("m,imx->", operands, {.plates = "i"});
    EXPECT_NEAR(got.variables.at("m").at({0}), 0.9, 1e-6);
    EXPECT_NEAR(entropy("m,imx->", operands, {.plates = "i"}).item(),
                -0.9 * std::log(0.9) - 0.1 * std::log(0.1) + 3 * std::log(2.0), 1e-5);
    EXPECT_EQ(map("m,imx->", operands, {.plates = "i"}).assignment.at("m").values[0], 0);
  }
}

TEST(Magnitudes, AreFeltSoonerInMessagesOfFloat32) {
  const float shift = -2e6F;
  const std::vector<float> table = {0, 0.1F, 0.2F, 0.3F};
  const auto operands = [&](float by) {
    return std::vector<Tensor>{Tensor::of<float>({2}, {std::log(0.45F), std::log(0.55F)}),
                               Tensor::of<float>({2, 2}, {by, by, by, by}), Tensor::of<float>({2, 2}, table),
                               Tensor::of<float>({2, 2}, table)};
  };
  const char* const equation = "m,mx,xy,ym->";
  const auto draw = [&](float by) { return sample(equation, operands(by), {.count = 2000, .seed = 1}); };
  EXPECT_EQ(draw(shift).at("m").values, draw(0).at("m").values);
  EXPECT_EQ(map(equation, operands(shift)).assignment, map(equation, operands(0)).assignment);
}

TEST(Magnitudes, BreakNoTiesOfTheBestAssignment) {
  std::vector<double> f(6, -1e30);
  const std::vector<Tensor> operands = {Tensor::of<double>({2}, {std::log(0.1), std::log(0.9)}),
                                        Tensor::of<double>({3, 2}, f)};
  EXPECT_EQ(map("m,im->", operands, {.plates = "i"}).assignment.at("m").values[0], 1);
  // A cost is smallest where it is best.
  const std::vector<Tensor> costs = {Tensor::of<double>({2}, {0.9, 0.1}),
                                     Tensor::of<double>({3, 2}, {1e30, 1e30, 0, 0, 0, infinity})};
  const MapResult cheapest = map("m,im->", costs, {.plates = "i", .semiring = Semiring::min_plus});
  EXPECT_EQ(cheapest.assignment.at("m").values[0], 0);
  EXPECT_EQ(cheapest.score.item(), 1e30);
  const std::vector<Tensor> free = {costs[0], Tensor::of<double>({3, 2}, {1e30, 1e30, 0, 0, 0, 0})};
  EXPECT_EQ(map("m,im->", free, {.plates = "i", .semiring = Semiring::min_plus}).assignment.at("m").values[0], 1);
}

TEST(Magnitudes, OfSlicesLeaveOneOut) {
  const Plated model(-1e30);
  const std::vector<double> want = leave_one_out(Plated::equation, model.centred, "i", model.options).values();
  const std::vector<double> got = leave_one_out(Plated::equation, model.operands, "i", model.options).values();
  EXPECT_NEAR(got[0], want[0], 1e-12);
  EXPECT_EQ(got[1], -1e30);
  EXPECT_NEAR(got[2], want[2], 1e-12);
  // An only slice, and one that all slices share.
  const Tensor prior = model.operands[0];
  const Tensor f = Tensor::of<double>({2, 2}, {-1e30, -1e30, -1e30, -1e30});
  EXPECT_EQ(leave_one_out("m,imx->", {prior, Tensor::of<double>({1, 2, 2}, f.values())}, "i", {.plates = "i"}).item(),
            -1e30);
  for (const double x : leave_one_out("m,(i)mx->", {prior, f}, "i", {.plates = "i", .sizes = {{"i", 3}}}).values()) {
    EXPECT_EQ(x, -1e30);
  }
}

/// A hidden Markov model of four steps and two sequences; one step's emissions are far off.
struct Chained {
  static constexpr const char* equation = "(n) a, (n t) a b, n t b ->";

  explicit Chained(double offset) {
    std::vector<double> e(16), without(16);
    for (std::size_t k = 0; k < 16; ++k) {
      e[k] = without[k] = std::sin(static_cast<double>(k));
      const bool is_masked = k / 2 == 1 || k / 2 == 6;
      if (is_masked) e[k] = without[k] = 0;
      if (is_masked) e[k] += offset;
    }
    const Tensor start = Tensor::of<double>({2}, {std::log(0.6), std::log(0.4)});
    const Tensor step = Tensor::of<double>({2, 2}, {std::log(0.7), std::log(0.3), std::log(0.2), -infinity});
    operands = {start, step, Tensor::of<double>({2, 4, 2}, e)};
    centred = {start, step, Tensor::of<double>({2, 4, 2}, without)};
  }

  EinsumOptions options{.plates = "n", .chains = {{"t", {"a->b"}}}};
  std::vector<Tensor> operands;
  std::vector<Tensor> centred;
};

TEST(Magnitudes, OfOneStepSpoilNoQuestionAboutAChain) {
  for (const double offset : magnitudes) {
    SCOPED_TRACE(offset);
    Chained model(offset);
    for (const bool ragged : {false, true}) {
      if (ragged) model.options.lengths = {{"t", Integers({2}, {3, 4})}};
      expect_same_posterior(Chained::equation, model.operands, model.centred, model.options, {{"a", "b"}});
      const auto filtered = [&](const std::vector<Tensor>& operands) {
        return marginals(Chained::equation, operands, model.options, {.filtered = true}).variables.at("b");
      };
      expect_near(filtered(model.operands), filtered(model.centred), 1e-9, "filtered");
    }
  }
}

TEST(Magnitudes, OfStepsLeaveOneOut) {
  Chained model(-1e30);
  for (const bool ragged : {false, true}) {
    if (ragged) model.options.lengths = {{"t", Integers({2}, {3, 3})}};
    const auto ask = [&](const std::vector<Tensor>& operands, const char* of, const std::vector<std::string>& factors) {
      return leave_one_out(Chained::equation, operands, of, model.options, factors).values();
    };
    const std::vector<double> steps = ask(model.operands, "t", {"f2"}), want = ask(model.centred, "t", {"f2"});
    ASSERT_EQ(steps.size(), 8U);
    for (std::size_t k = 0; k < 8; ++k) {
      if (k == 1 || k == 6) {
        EXPECT_EQ(steps[k], -1e30) << k;
      } else {
        EXPECT_NEAR(steps[k], want[k], 1e-12) << k;
      }
    }
    for (const double x : ask(model.operands, "n", {})) EXPECT_EQ(x, -1e30);
  }
}

TEST(Magnitudes, BeyondALengthAreNotRead) {
  Chained model(0);
  model.options.lengths = {{"t", Integers({2}, {3, 2})}};
  for (const double garbage : {-1e30, 1e300, infinity, std::nan("")}) {
    std::vector<double> e = model.operands[2].values();
    for (const std::size_t k : {6, 7, 12, 13, 14, 15}) e[k] = garbage;
    const std::vector<Tensor> operands = {model.operands[0], model.operands[1], Tensor::of<double>({2, 4, 2}, e)};
    const Marginals got = marginals(Chained::equation, operands, model.options);
    const Marginals want = marginals(Chained::equation, model.operands, model.options);
    EXPECT_EQ(got.variables.at("b").values(), want.variables.at("b").values()) << garbage;
    EXPECT_EQ(got.log_partition.values(), want.log_partition.values()) << garbage;
  }
}

TEST(Magnitudes, OfWeightsSpoilNothing) {
  // 1e-300 in each of 100,000 slices: logarithms that add up to −7e7.
  const std::int64_t slices = 100000;
  std::vector<double> weights(static_cast<std::size_t>(2 * slices), 1e-300);
  weights[0] = 9e-300;
  const Marginals got = marginals("m,im->", {Tensor::of<double>({2}, {1, 1}), Tensor::of<double>({slices, 2}, weights)},
                                  {.plates = "i", .semiring = Semiring::real});
  EXPECT_NEAR(got.variables.at("m").at({0}), 0.9, 1e-12);
}

TEST(Magnitudes, OfViewsThatRepeatMemoryAndOfDiagonals) {
  const std::vector<double> shifted = {-1e30, -1e30, -1e30, -1e30};
  // The same table for every slice, in memory once.
  const Tensor repeated = Tensor::view(shifted.data(), {5, 2, 2}, {0, 2, 1});
  const Tensor prior = Tensor::of<double>({2}, {std::log(0.9), std::log(0.1)});
  const Marginals got = marginals("m,imx->", {prior, repeated}, {.plates = "i"}, {.factors = true});
  EXPECT_NEAR(got.variables.at("m").at({0}), 0.9, 1e-12);
  EXPECT_EQ(got.factors[1].shape(), (Tensor::Shape{5, 2, 2}));
  // Only the diagonal is read: what lies beside it does not count as a best entry.
  const Tensor diagonal = Tensor::of<double>({2, 2}, {-1e30, 1e30, 5e30, -1e30});
  EXPECT_NEAR(marginals("m,mm->", {prior, diagonal}).variables.at("m").at({0}), 0.9, 1e-12);
}

// A run looks at large operands itself: what it meets far inside is treated as if it had been seen before.
TEST(Magnitudes, OfOneSliceAmongThousandsSpoilNothing) {
  const std::int64_t slices = 3000;
  std::vector<double> f;
  for (std::int64_t k = 0; k < slices * 4; ++k) f.push_back(-0.01 * std::sin(0.37 * static_cast<double>(k)));
  const EinsumOptions options{.plates = "i"};
  const Tensor prior = Tensor::of<double>({2}, {0, 0.5});
  const auto of = [&](double offset) {
    std::vector<double> shifted = f;
    for (std::size_t k = 4004; k < 4008; ++k) shifted[k] += offset;
    return std::vector<Tensor>{prior, Tensor::of<double>({slices, 2, 2}, shifted)};
  };
  const std::vector<Tensor> plain = of(0);
  for (const double offset : {-1e9, 1e9}) {
    const std::vector<Tensor> operands = of(offset);
    const auto expect = [](const Tensor& got, const Tensor& want) {
      const std::vector<double> a = got.values(), b = want.values();
      ASSERT_EQ(a.size(), b.size());
      // The slice itself has seven digits left.
      for (std::size_t k = 0; k < a.size(); ++k) ASSERT_NEAR(a[k], b[k], a.size() > 2 && k / 4 == 1001 ? 1e-6 : 1e-7);
    };
    expect(marginals("m,imx->", operands, options).variables.at("m"),
           marginals("m,imx->", plain, options).variables.at("m"));
    expect(entropy("m,imx->", operands, options), entropy("m,imx->", plain, options));
    expect(value_and_gradient("m,imx->", operands, options).gradients[1],
           value_and_gradient("m,imx->", plain, options).gradients[1]);
    EXPECT_EQ(map("m,imx->", operands, options).assignment.at("m").values,
              map("m,imx->", plain, options).assignment.at("m").values);
    const std::vector<Tensor::Shape> shapes{{2}, {slices, 2, 2}};
    const Plan plan = compile(FactorGraph::from_equation("m,imx->", shapes, {.plates = "i"}));
    expect(plan.evaluate(operands).marginals().variables.at("m"),
           marginals("m,imx->", plain, options).variables.at("m"));
    const double want = marginals("m,imx->", plain, options).variables.at("m").at({1});
    const std::vector<std::int64_t> drawn =
        sample("m,imx->", operands, {.count = 4000, .seed = 3}, options).at("m").values;
    const double share = static_cast<double>(std::accumulate(drawn.begin(), drawn.end(), std::int64_t{0})) / 4000;
    EXPECT_NEAR(share, want, 5 * std::sqrt(want * (1 - want) / 4000));
  }
}

TEST(Magnitudes, CountAsMemoryWhereTheyNeedACopy) {
  const std::int64_t slices = 20000;
  std::vector<double> values(static_cast<std::size_t>(2 * slices), -1e30);
  const std::vector<Tensor> operands = {Tensor::of<double>({slices, 2}, values)};
  EXPECT_THROW((void)marginals("im->", operands, {.plates = "i", .memory_limit = 16 * slices - 1}), MemoryLimitError);
  EXPECT_NO_THROW((void)marginals("im->", operands, {.plates = "i", .memory_limit = 64 * slices}));
}

TEST(Magnitudes, AreNotLookedAtUnlessOperandsAreChecked) {
  const Plated model(-1e30);
  EinsumOptions unchecked = model.options;
  unchecked.check = Check::none;
  EXPECT_NEAR(marginals(Plated::equation, model.operands, unchecked).variables.at("m").at({0}), 0.5, 1e-9);
}

TEST(Sums, OfPosteriorsAreOneInLargePlates) {
  // log Z is about −1e7, to which exp(x − log Z) is good to 1e-9 only.
  const std::int64_t slices = 300000;
  std::vector<double> f;
  for (std::int64_t k = 0; k < slices * 4; ++k) f.push_back(-20.0 - std::sin(0.37 * static_cast<double>(k)));
  const std::vector<Tensor> operands = {Tensor::of<double>({2}, {0, 0.5}), Tensor::of<double>({slices, 2, 2}, f)};
  for (const bool log : {false, true}) {
    const Marginals got =
        marginals("m,imx->", operands, {.plates = "i"}, {.factors = true, .sets = {{"m"}, {"m", "x"}}, .log = log});
    const auto expect_sums = [&](const Tensor& tensor, std::size_t states) {
      const std::vector<double> p = tensor.values();
      for (std::size_t first = 0; first < p.size(); first += states) {
        double sum = 0;
        for (std::size_t k = first; k < first + states; ++k) {
          const double x = log ? std::exp(p[k]) : p[k];
          ASSERT_LE(x, 1.0);
          sum += x;
        }
        ASSERT_NEAR(sum, 1.0, 1e-12);
      }
    };
    expect_sums(got.variables.at("m"), 2);
    expect_sums(got.variables.at("x"), 2);
    expect_sums(got.factors[0], 2);
    expect_sums(got.factors[1], 4);
    expect_sums(got.sets[0], 2);
    expect_sums(got.sets[1], 4);
  }
}

TEST(Overflow, OfAValueIsAnError) {
  const Tensor large = Tensor::of<double>({3, 2}, std::vector<double>(6, 1e308));
  const EinsumOptions plates{.plates = "i"};
  const auto refused = [](const auto& ask) {
    const std::string message = message_of<ValueError>(ask);
    EXPECT_SAYS(message, "overflows");
  };
  refused([&] { (void)einsum("im->", {large}, plates); });
  refused([&] { (void)einsum("im->", {large}, {.plates = "i", .semiring = Semiring::real}); });
  refused([&] { (void)einsum("im->", {large}, {.plates = "i", .semiring = Semiring::max_plus}); });
  refused([&] { (void)einsum("im->", {large}, {.plates = "i", .semiring = Semiring::max_product}); });
  refused([&] { (void)marginals("im->", {large}, plates); });
  refused([&] { (void)map("im->", {large}, plates); });
  refused([&] { (void)max_marginals("im->", {large}, plates); });
  refused([&] { (void)value_and_gradient("im->", {large}, plates); });
  refused([&] { (void)value_and_gradient("im->", {large}, {.plates = "i", .semiring = Semiring::real}); });
  EXPECT_EQ(einsum("im->", {large}, {.plates = "i", .check = Check::none}).item(), infinity);
  const Tensor small = Tensor::of<double>({3, 2}, std::vector<double>(6, -1e308));
  refused([&] { (void)einsum("im->", {small}, {.plates = "i", .semiring = Semiring::min_plus}); });
  // Towards the semiring's zero there is no overflow: a weight of no size is none.
  EXPECT_EQ(einsum("im->", {small}, plates).item(), -infinity);
  EXPECT_NEAR(marginals("im->", {small}, plates).variables.at("m").at({0, 0}), 0.5, 1e-12);
}

}  // namespace
}  // namespace plated
