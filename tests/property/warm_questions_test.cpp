// Questions into the caller's memory give the bits of fresh answers, and allocate nothing once they have been asked.
#include <gtest/gtest.h>

#include <cstring>

#include "plated/error.hpp"
#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/asked_again.hpp"
#include "property/counted_memory.hpp"
#include "property/random_tensor.hpp"

namespace plated::test {
namespace {

/// Allocations of the third and fourth call.
template <class Ask>
int allocations_when_warm(const Ask& ask) {
  ask();
  ask();
  allocations = 0;
  counting = true;
  ask();
  ask();
  counting = false;
  return allocations;
}

void expect_marginals(Asked& asked, const MarginalOptions& wanted) {
  Marginals answer;
  const auto ask = [&] { marginals_into(answer, asked.plan, asked.operands, asked.workspace, asked.options, wanted); };
  EXPECT_EQ(allocations_when_warm(ask), 0) << "marginals";
  asked.change();
  ask();
  const Marginals fresh = marginals(asked.plan, asked.operands, asked.options, wanted);
  EXPECT_EQ(answer.log_partition, fresh.log_partition);
  EXPECT_EQ(answer.variables, fresh.variables);
  expect_same(answer.factors, fresh.factors);
  expect_same(answer.sets, fresh.sets);
}

void expect_choices(Asked& asked) {
  MapResult best;
  EXPECT_EQ(allocations_when_warm([&] { map_into(best, asked.plan, asked.operands, asked.workspace, asked.options); }),
            0)
      << "map";
  for (const std::int64_t count : {1, 7, 300}) {
    std::map<std::string, Integers> drawn;
    std::uint64_t seed = 0;
    const auto ask = [&] {
      const SampleOptions draws{.count = count, .seed = ++seed, .first = 5};
      sample_into(drawn, asked.plan, asked.operands, draws, asked.workspace, asked.options);
    };
    EXPECT_EQ(allocations_when_warm(ask), 0) << count << " samples";
    asked.change();
    ask();
    EXPECT_EQ(drawn, sample(asked.plan, asked.operands, {.count = count, .seed = seed, .first = 5}, asked.options));
  }
  map_into(best, asked.plan, asked.operands, asked.workspace, asked.options);
  const MapResult fresh = map(asked.plan, asked.operands, asked.options);
  EXPECT_EQ(best.score, fresh.score);
  EXPECT_EQ(best.assignment, fresh.assignment);
}

void expect_sweeps(Asked& asked, std::string_view plate, const std::vector<std::string>& factors) {
  const Plan& plan = asked.plan;
  ValueAndGradient slopes;
  HessianVectorProduct curves;
  std::map<std::string, Tensor> best;
  Tensor nats, mean, left_out;
  const std::vector<Tensor> directions = asked.operands;
  const auto none = [&](const char* verb, const auto& ask) {
    EXPECT_EQ(allocations_when_warm(ask), 0) << verb;
    ask();
  };
  for (int round = 0; round < 2; ++round) {
    asked.change();
    none("gradient", [&] { value_and_gradient_into(slopes, plan, asked.operands, asked.workspace, asked.options); });
    none("hessian", [&] {
      hessian_vector_product_into(curves, plan, asked.operands, directions, asked.workspace, asked.options);
    });
    none("max_marginals", [&] { max_marginals_into(best, plan, asked.operands, asked.workspace, asked.options); });
    none("entropy", [&] { entropy_into(nats, plan, asked.operands, asked.workspace, asked.options); });
    none("expectation",
         [&] { expectation_into(mean, plan, asked.operands, directions, asked.workspace, asked.options); });
    none("leave_one_out",
         [&] { leave_one_out_into(left_out, plan, asked.operands, plate, asked.workspace, asked.options, factors); });
    const ValueAndGradient fresh = value_and_gradient(plan, asked.operands, asked.options);
    expect_same(slopes.values, fresh.values);
    expect_same(slopes.gradients, fresh.gradients);
    const HessianVectorProduct curved = hessian_vector_product(plan, asked.operands, directions, asked.options);
    expect_same(curves.tangents, curved.tangents);
    expect_same(curves.products, curved.products);
    EXPECT_EQ(best, max_marginals(plan, asked.operands, asked.options));
    EXPECT_EQ(nats, entropy(plan, asked.operands, asked.options));
    EXPECT_EQ(mean, expectation(plan, asked.operands, directions, asked.options));
    EXPECT_EQ(left_out, leave_one_out(plan, asked.operands, plate, asked.options, factors));
  }
}

void expect_warm(const Model& model, std::string_view plate, const std::vector<std::string>& factors = {}) {
  for (const int threads : {1, 2}) {
    Asked asked(model, threads);
    expect_marginals(asked, {});
    expect_marginals(asked, {.factors = true});
    expect_choices(asked);
    expect_sweeps(asked, plate, factors);
  }
}

TEST(WarmQuestions, OfPlatesAllocateNothing) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    expect_warm(Model("a,abi->", {{2}, {2, 2, 3}}, "i", dtype, Semiring::log), "i");
    expect_warm(Model("a,abi,ac->", {{2}, {2, 2, 3}, {2, 1}}, "i", dtype, Semiring::log), "i");  // c is certain
    expect_warm(paper_model(3, 5, dtype, Semiring::log), "i");
    expect_warm(Model("iab,ibc->", {{40, 5, 6}, {40, 6, 7}}, "i", dtype, Semiring::log), "i");
  }
}

/// Large operands are looked at by the run that reads them.
TEST(WarmQuestions, OfLargeOperandsAllocateNothing) {
  expect_warm(Model("iab,ibc->", {{400, 5, 6}, {400, 6, 7}}, "i", Dtype::float64, Semiring::log), "i");
}

/// What has to be recentred, and is found to be so by the run, is asked once more.
TEST(WarmQuestions, OfLargeMagnitudesAreThoseOfFreshAnswers) {
  Asked asked(Model("iab,ibc->", {{400, 5, 6}, {400, 6, 7}}, "i", Dtype::float64, Semiring::log), 1);
  Marginals answer;
  MapResult best;
  for (const double shift : {0.0, 1e12, -1e12}) {
    asked.operands[0].data<double>()[777] += shift;
    for (double& entry : asked.operands[1].span<double>()) entry += shift;
    for (int again = 0; again < 2; ++again) {
      marginals_into(answer, asked.plan, asked.operands, asked.workspace);
      map_into(best, asked.plan, asked.operands, asked.workspace);
    }
    EXPECT_EQ(answer.variables, marginals(asked.plan, asked.operands).variables) << shift;
    EXPECT_EQ(answer.log_partition, marginals(asked.plan, asked.operands).log_partition) << shift;
    EXPECT_EQ(best.score, map(asked.plan, asked.operands).score) << shift;
    EXPECT_EQ(best.assignment, map(asked.plan, asked.operands).assignment) << shift;
  }
}

/// What is observed stays, and parameters change: a loop of learning.
TEST(WarmQuestions, WithTheSameEvidenceAllocateNothing) {
  const Model model("a,abi,bci->", {{2}, {2, 3, 4}, {3, 2, 4}}, "i", Dtype::float64, Semiring::log);
  const std::vector<std::int16_t> whole{0, 1, 2, 1}, part{0, -1, 2, 1};
  for (const std::vector<std::int16_t>& seen : {whole, part}) {
    Asked asked(model, 1);
    asked.plan = compile(model.graph, {.observable = {"b", "a"}});
    asked.workspace = Workspace(asked.plan);
    asked.options.evidence = {{"b", IntegerView::view(seen)}};
    expect_marginals(asked, {});
    expect_marginals(asked, {.factors = true});
    expect_choices(asked);
  }
}

/// Whose logarithms are taken into memory of the last call.
TEST(WarmQuestions, OfWeightsAllocateNothing) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    Asked asked(Model("a,abi->", {{2}, {2, 3, 4}}, "i", dtype, Semiring::real), 1);
    asked.options.semiring = Semiring::real;
    const auto change = [&] {
      for (const Tensor& operand : asked.operands) {
        if (dtype == Dtype::float32) {
          for (float& entry : operand.span<float>()) entry = 0.25F + entry * entry;
        } else {
          for (double& entry : operand.span<double>()) entry = 0.25 + entry * entry;
        }
      }
    };
    change();
    Marginals answer;
    const auto ask = [&] { marginals_into(answer, asked.plan, asked.operands, asked.workspace, asked.options); };
    EXPECT_EQ(allocations_when_warm(ask), 0);
    change();
    ask();
    EXPECT_EQ(answer.variables, marginals(asked.plan, asked.operands, asked.options).variables);
    EXPECT_EQ(answer.log_partition, marginals(asked.plan, asked.operands, asked.options).log_partition);
  }
}

TEST(WarmQuestions, OfChainsAllocateNothing) {
  const EquationOptions hmm{.plates = "n", .chains = {{"t", {"a->b"}}}};
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    const Model tied("(n) a, (n t) a b, n t b ->", {{3}, {3, 3}, {9, 30, 3}}, hmm, dtype, Semiring::log);
    expect_warm(tied, "t", {tied.graph.factors()[2].name});
    const Model untied("(n) a, n t a b ->", {{3}, {4, 20, 3, 3}}, hmm, dtype, Semiring::log);
    expect_warm(untied, "t", {untied.graph.factors()[1].name});
  }
}

/// Posteriors that are outputs of a plan.
TEST(WarmQuestions, OfSetsAndLogarithmsAllocateNothing) {
  Asked plates(paper_model(3, 5, Dtype::float32, Semiring::log), 1);
  expect_marginals(plates, {.log = true});
  const EquationOptions hmm{.plates = "n", .chains = {{"t", {"a->b"}}}};
  const Model model("(n) a, (n t) a b, n t b c ->", {{3}, {3, 3}, {2, 9, 3, 2}}, hmm, Dtype::float64, Semiring::log);
  Asked chain(model, 1);
  expect_marginals(chain, {.sets = {{"b", "c"}}});
  expect_marginals(chain, {.sets = {{"c"}}, .log = true});
  expect_marginals(chain, {.filtered = true});
  expect_marginals(chain, {.ends = true});
  const std::vector<std::int32_t> steps{9, 4};
  chain.options.lengths = {{"t", IntegerView::view(steps)}};
  expect_marginals(chain, {.sets = {{"b", "c"}}, .ends = true, .filtered = true, .log = true});
}

/// Other memory of the same strides is read, too.
TEST(WarmQuestions, FollowTheirOperands) {
  Asked asked(paper_model(3, 4, Dtype::float64, Semiring::log), 1);
  const std::vector<Tensor> others = paper_model(3, 4, Dtype::float64, Semiring::log, "ijc,a").operands;
  Marginals posterior;
  MapResult best;
  for (int round = 0; round < 2; ++round) {
    for (const std::vector<Tensor>& operands : {asked.operands, others}) {
      marginals_into(posterior, asked.plan, operands, asked.workspace);
      EXPECT_EQ(posterior.variables, marginals(asked.plan, operands).variables);
      map_into(best, asked.plan, operands, asked.workspace);
      EXPECT_EQ(best.assignment, map(asked.plan, operands).assignment);
    }
    asked.change();
  }
}

TEST(WarmQuestions, WriteIntoMemoryOfAnyStridesAndType) {
  const Model model("a,abi->", {{2}, {2, 3, 4}}, "i", Dtype::float64, Semiring::log);
  const Plan plan = compile(model.graph);
  Workspace workspace(plan);
  std::vector<double> memory(12, -1);
  std::vector<float> narrow(2, -1);
  Marginals answer;
  answer.variables["b"] = Tensor::view(memory.data(), {4, 3}, {1, 4});
  answer.variables["a"] = Tensor::view(narrow);
  marginals_into(answer, plan, model.operands, workspace);
  const Marginals fresh = marginals(plan, model.operands);
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t b = 0; b < 3; ++b) {
      EXPECT_NEAR(memory[static_cast<std::size_t>(i + 4 * b)], fresh.variables.at("b").at({i, b}), 1e-14);
    }
  }
  EXPECT_NEAR(narrow[1], fresh.variables.at("a").at({1}), 1e-6);
  double total = 0;
  Tensor nats = Tensor::view(&total, {});
  entropy_into(nats, plan, model.operands, workspace);
  EXPECT_EQ(total, entropy(plan, model.operands).item());
}

TEST(WarmQuestions, RefuseMemoryThatDoesNotFit) {
  const Model model("a,abi->", {{2}, {2, 3, 4}}, "i", Dtype::float64, Semiring::log);
  const Plan plan = compile(model.graph);
  Workspace workspace(plan);
  Marginals answer;
  const auto ask = [&] { marginals_into(answer, plan, model.operands, workspace); };
  answer.variables["a"] = Tensor(Dtype::float64, {3});
  EXPECT_THROW(ask(), SizeError);
  const std::vector<double> read_only(2);
  answer.variables["a"] = Tensor::view(read_only);
  EXPECT_THROW(ask(), ShapeError);
  answer.variables["a"] = model.operands[0];
  EXPECT_THROW(ask(), OverlapError);
  answer.variables.clear();
  EXPECT_NO_THROW(ask());
  Workspace other(compile(model.graph));
  EXPECT_THROW(marginals_into(answer, plan, model.operands, other), OptionError);
}

/// A question that has thrown is asked afresh.
TEST(WarmQuestions, RecoverFromErrors) {
  Asked asked(Model("a,abi->", {{2}, {2, 2, 3}}, "i", Dtype::float64, Semiring::log), 1);
  Marginals answer;
  const auto ask = [&] { marginals_into(answer, asked.plan, asked.operands, asked.workspace); };
  ask();
  const std::vector<double> before = asked.operands[0].values();
  for (double& entry : asked.operands[0].span<double>()) entry = -std::numeric_limits<double>::infinity();
  EXPECT_THROW(ask(), ImpossibleError);
  std::copy(before.begin(), before.end(), asked.operands[0].data<double>());
  ask();
  EXPECT_EQ(answer.variables, marginals(asked.plan, asked.operands).variables);
}

}  // namespace
}  // namespace plated::test
