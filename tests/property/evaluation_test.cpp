// Evaluations answer like the verbs, run forward once, and follow changes of their operands.
#include "plated/evaluation.hpp"

#include <gtest/gtest.h>

#include <set>

#include "planner/planner.hpp"
#include "plated/error.hpp"
#include "plated/gradient.hpp"
#include "property/random_case.hpp"
#include "property/random_operands.hpp"
#include "property/seeds.hpp"

namespace plated::test {
namespace {

testing::AssertionResult near(const std::string& what, const Tensor& got, const Tensor& want, double scale) {
  if (got.shape() != want.shape() || got.dtype() != want.dtype())
    return testing::AssertionFailure() << what << " shape";
  const std::vector<double> a = got.values(), b = want.values();
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] == b[k] || std::abs(a[k] - b[k]) <= scale * (1 + std::abs(b[k]))) continue;
    return testing::AssertionFailure() << what << "[" << k << "]: " << a[k] << " instead of " << b[k];
  }
  return testing::AssertionSuccess();
}

/// Every question of an evaluation against its verb.
testing::AssertionResult answers_alike(const Plan& plan, const std::vector<Tensor>& operands, Semiring semiring) {
  const RunOptions options{.semiring = semiring};
  const Evaluation e = plan.evaluate(operands, options);
  const auto want = plan.run(operands, options);
  const auto values = e.value();
  testing::AssertionResult good = testing::AssertionSuccess();
  for (std::size_t o = 0; o < want.size() && good; ++o) good = near("value", values[o], want[o], 1e-12);
  const bool sums = semiring == Semiring::log || semiring == Semiring::real;
  if (!good) return good;
  if (!sums) {
    if (semiring == Semiring::boolean) return good;
    const MapResult best = e.map();
    const MapResult other = map(plan, operands, options);
    if (!(good = near("score", best.score, other.score, 1e-12))) return good;
    const auto each = max_marginals(plan, operands, options);
    for (const auto& [name, tensor] : e.max_marginals()) {
      if (!(good = near("max-marginal of " + name, tensor, each.at(name), 1e-12))) return good;
    }
    return good;
  }
  const auto gradients = value_and_gradient(plan, operands, options).gradients;
  const auto mine = e.gradient();
  for (std::size_t f = 0; f < gradients.size() && good; ++f) good = near("gradient", mine[f], gradients[f], 1e-11);
  if (!good) return good;
  const MarginalOptions wanted{.factors = true};
  const Marginals posterior = marginals(plan, operands, options, wanted);
  const Marginals own = e.marginals(wanted);
  if (!(good = near("log Z", own.log_partition, posterior.log_partition, 1e-12))) return good;
  for (const auto& [name, tensor] : posterior.variables) {
    if (!(good = near("marginal of " + name, own.variables.at(name), tensor, 1e-11))) return good;
  }
  for (std::size_t f = 0; f < posterior.factors.size() && good; ++f) {
    good = near("factor", own.factors[f], posterior.factors[f], 1e-11);
  }
  if (!good) return good;
  if (!(good = near("entropy", e.entropy(), entropy(plan, operands, options), 1e-11))) return good;
  const auto expected = expectation(plan, operands, operands, {.semiring = semiring});
  if (semiring == Semiring::real && !(good = near("expectation", e.expectation(operands), expected, 1e-11)))
    return good;
  const auto draws = e.sample({.count = 3, .seed = 5});
  for (const auto& [name, states] : sample(plan, operands, {.count = 3, .seed = 5}, options)) {
    if (draws.at(name).shape != states.shape) return testing::AssertionFailure() << "samples of " << name;
  }
  return good;
}

class Evaluations : public testing::TestWithParam<Semiring> {};

TEST_P(Evaluations, AnswerLikeTheVerbs) {
  for_each_seed(250, [&](std::uint64_t seed) -> testing::AssertionResult {
    const Case c = random_case(seed, {.most_work = 2000});
    const FactorGraph graph = c.build();
    Random random(seed);
    try {
      const Plan plan = compile(graph);
      const bool weights = GetParam() == Semiring::real;
      const Operands operands(graph, random, {.semiring = weights ? Semiring::max_product : GetParam()});
      const auto good = answers_alike(plan, operands.tensors(), GetParam());
      if (!good) return testing::AssertionFailure() << good.message() << "\n" << c.print();
    } catch (const IntractableError&) {
    } catch (const ImpossibleError&) {
    }
    return testing::AssertionSuccess();
  });
}

INSTANTIATE_TEST_SUITE_P(Semirings, Evaluations,
                         testing::Values(Semiring::log, Semiring::real, Semiring::max_plus, Semiring::min_plus,
                                         Semiring::max_product, Semiring::boolean),
                         [](const auto& parameter) { return std::string(name(parameter.param)); });

TEST(EvaluationUpdate, HasTheBitsOfAFreshEvaluation) {
  for_each_seed(250, [&](std::uint64_t seed) -> testing::AssertionResult {
    const Case c = random_case(seed, {.most_work = 2000});
    FactorGraph graph = c.build();
    Random random(seed);
    std::vector<std::int64_t> sizes;
    bool large = false;  // one plate is
    for (const Dim& dim : graph.dims()) {
      sizes.push_back(dim.kind == DimKind::variable ? dim.size : 1 + random.below(3));
      if (dim.kind != DimKind::plate || large || random.chance(50)) continue;
      sizes.back() = 150;
      large = true;
    }
    double elements = 0;
    for (const Factor& factor : graph.factors()) {
      double own = 1;
      for (const DimId d : factor.dims) own *= static_cast<double>(sizes[d]);
      elements += own;
    }
    if (elements > 3e5 || graph.factors().empty()) return testing::AssertionSuccess();
    graph = graph.resized(sizes);
    try {
      const Plan plan = compile(graph);
      const Operands given(graph, random, {.semiring = Semiring::log});
      std::vector<Tensor> operands;
      for (const Tensor& t : given.tensors()) operands.push_back(Tensor::of(t.shape(), t.values()));
      Evaluation e = plan.evaluate(operands);
      for (int change = 0; change < 3; ++change) {
        const auto f = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(operands.size())));
        std::vector<std::int64_t> index;
        Tensor slice = operands[f];
        std::size_t axis = 0;
        const std::vector<DimId>& dims = graph.factors()[f].dims;
        if (std::set<DimId>(dims.begin(), dims.end()).size() < dims.size()) continue;  // a diagonal
        for (const DimId d : dims) {
          if (graph.dims()[d].kind == DimKind::variable) {
            ++axis;
            continue;
          }
          if (slice.shape()[axis] == 0) return testing::AssertionSuccess();
          index.push_back(random.below(slice.shape()[axis]));
          slice = slice.select(axis, index.back());
        }
        if (slice.elements() == 0) continue;
        static_cast<double*>(slice.mutable_data())[0] += 0.25;
        e.update(f, index);
        const Evaluation fresh = plan.evaluate(operands);
        const auto got = e.value(), want = fresh.value();
        for (std::size_t o = 0; o < want.size(); ++o) {
          if (got[o].values() != want[o].values())
            return testing::AssertionFailure() << "output " << o << "\n" << c.print();
        }
        const auto after = e.gradient(), exact = fresh.gradient();
        for (std::size_t k = 0; k < exact.size(); ++k) {
          if (after[k].values() != exact[k].values())
            return testing::AssertionFailure() << "gradient " << k << "\n" << c.print();
        }
      }
    } catch (const IntractableError&) {
    } catch (const SizeError&) {  // a diagonal of two sizes
    }
    return testing::AssertionSuccess();
  });
}

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
