// A warmed-up run_into allocates nothing, and questions take the memory that their cost says.
#include <gtest/gtest.h>

#include "planner/planner.hpp"
#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/counted_memory.hpp"
#include "property/question_case.hpp"
#include "property/random_chain.hpp"
#include "property/random_operands.hpp"

namespace plated::test {
namespace {

/// Allocations of a second and a third run.
int allocations_when_warm(const FactorGraph& graph, const std::vector<Tensor>& operands, const RunOptions& options) {
  const Plan plan = compile(graph);
  std::vector<Tensor> outputs = plan.run(operands, options);
  Workspace workspace(plan);
  plan.run_into(outputs, operands, workspace, options);
  const std::int64_t held = workspace.bytes();
  allocations = 0;
  counting = true;
  plan.run_into(outputs, operands, workspace, options);
  plan.run_into(outputs, operands, workspace, options);
  counting = false;
  EXPECT_EQ(workspace.bytes(), held);
  return allocations;
}

void expect_none(Model model) {
  if (model.semiring == Semiring::real) {
    for (Tensor& operand : model.operands) operand = Tensor(operand.dtype(), operand.shape());  // so as not to overflow
  }
  for (const int threads : {1, 2}) {
    for (const Check check : {Check::none, Check::all}) {
      const RunOptions options{.semiring = model.semiring, .threads = threads, .check = check};
      EXPECT_EQ(allocations_when_warm(model.graph, model.operands, options), 0)
          << threads << " threads, " << name(model.semiring) << ", check " << static_cast<int>(check) << "\n"
          << compile(model.graph).print();
    }
  }
}

TEST(Allocation, IsCounted) {
  allocations = 0;
  counting = true;
  { const std::vector<int> list(10); }
  counting = false;
  EXPECT_GE(allocations, 1);
}

TEST(Allocation, IsNoneInAWarmRun) {
  for (const Semiring semiring : {Semiring::log, Semiring::real, Semiring::max_plus}) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      expect_none(Model("a,abi->", {{2}, {2, 2, 2}}, "i", dtype, semiring));
      expect_none(paper_model(4, 8, dtype, semiring));
      expect_none(paper_model(4, 8, dtype, semiring, "ijc,a"));  // leave-one-out products
      expect_none(Model("ab,bc->ac", {{150, 140}, {140, 130}}, "", dtype, semiring));
      expect_none(Model("iab,ibc,icd->", {{9, 20, 30}, {9, 30, 17}, {9, 17, 3}}, "i", dtype, semiring));
      expect_none(Model("ab->ba", {{30, 40}}, "", dtype, semiring));
      expect_none(Model("ix->", {{100000, 3}}, "i", dtype, semiring));
    }
  }
}

/// Hidden Markov models, whose matrix kernels have, and chains whose bodies are schedules.
TEST(Allocation, IsNoneInAWarmRunOfAChain) {
  const EquationOptions hmm{.plates = "n", .chains = {{"t", {"a->b"}}}};
  for (const Semiring semiring : {Semiring::log, Semiring::real, Semiring::max_plus}) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      const auto chain = [&](const char* equation, const std::vector<std::vector<std::int64_t>>& shapes) {
        expect_none(Model(equation, shapes, hmm, dtype, semiring));
      };
      chain("(n) a, (n t) a b, n t b ->", {{3}, {3, 3}, {9, 30, 3}});
      chain("(n) a, n t a b ->", {{3}, {9, 30, 3, 3}});
      chain("(n) a, (n t) a b, n t b ->", {{2}, {2, 2}, {1, 5000, 2}});
    }
  }
}

/// Several links, any order, ends, lengths, chains beside and inside each other.
TEST(Allocation, IsNoneInAWarmRunOfRandomChains) {
  for_each_seed(150, [](std::uint64_t seed) -> testing::AssertionResult {
    const Case c = random_chain(seed, {.nested = seed % 3 == 0});
    const FactorGraph graph = c.build();
    Random random(seed);
    const Operands operands(graph, random, {.semiring = Semiring::log});
    const RunOptions options{.threads = seed % 2 == 0 ? 1 : 2, .lengths = c.lengths};
    const int count = allocations_when_warm(graph, operands.tensors(), options);
    if (count == 0) return testing::AssertionSuccess();
    return testing::AssertionFailure() << c.print() << "\n" << count << " allocations";
  });
}

/// A graph of some size with the memory that its questions take beside what they are said to.
class RunBytes : public testing::TestWithParam<std::tuple<plated::Question::Kind, Semiring>> {};

void ask(const Plan& plan, const std::vector<Tensor>& operands, const plated::Question& question,
         const std::map<std::string, std::int64_t>& sizes) {
  using Kind = plated::Question::Kind;
  const RunOptions options{.semiring = question.semiring, .sizes = sizes};
  switch (question.kind) {
    case Kind::value:
      return (void)plan.run(operands, options);
    case Kind::gradient:
      return (void)value_and_gradient(plan, operands, options);
    case Kind::hessian_vector_product:
      return (void)hessian_vector_product(plan, operands, operands, options);
    case Kind::marginals:
      return (void)marginals(plan, operands, options, question.wanted);
    case Kind::max_marginals:
      return (void)max_marginals(plan, operands, options);
    case Kind::map:
      return (void)map(plan, operands, options);
    case Kind::sample:
      return (void)sample(plan, operands, {.count = 1}, options);
    case Kind::entropy:
      return (void)entropy(plan, operands, options);
    case Kind::expectation:
      return (void)expectation(plan, operands, operands, options);
    case Kind::leave_one_out:
      return (void)leave_one_out(plan, operands, question.plate, options);
  }
}

TEST_P(RunBytes, AreWhatAQuestionTakes) {
  const auto [kind, semiring] = GetParam();
  int large = 0;
  for_each_seed(250, [&, kind = kind, semiring = semiring](std::uint64_t seed) -> testing::AssertionResult {
    const Semiring drawn = semiring == Semiring::real ? Semiring::max_product : semiring;
    const std::optional<LargeCase> found = large_case(seed, drawn, Dtype::float64, 200000);
    if (!found) return testing::AssertionSuccess();
    const Plan plan = compile(found->graph);
    std::map<std::string, std::int64_t> sizes;
    for (DimId d = 0; d < found->extents.size(); ++d) sizes[found->graph.dims()[d].name] = found->extents[d];
    plated::Question question{.kind = kind, .semiring = semiring};
    for (const Dim& dim : found->graph.dims()) {
      if (dim.kind == DimKind::plate) question.plate = dim.name;
    }
    if (kind == plated::Question::Kind::leave_one_out && question.plate.empty()) return testing::AssertionSuccess();
    const std::int64_t said = plan.cost(question, sizes, Dtype::float64).run_bytes;
    std::int64_t taken = 0;
    try {
      taken = most_bytes([&] { ask(plan, found->factors, question, sizes); });
    } catch (const Error&) {
      return testing::AssertionSuccess();  // impossible, or beyond a double
    }
    // Pricing binds the same schedule: what that takes are the tables of kernels, which do not grow with sizes.
    const std::int64_t tables = most_bytes([&] { (void)plan.cost(question, sizes, Dtype::float64); });
    const bool exact = said < 1 << 20 || static_cast<double>(taken) >= 0.9 * static_cast<double>(said);
    large += said >= 1 << 20 ? 1 : 0;
    if (taken - tables <= said && exact) return testing::AssertionSuccess();
    return testing::AssertionFailure() << found->print() << "\n  takes " << taken << " with tables of " << tables
                                       << ", and is said to take " << said;
  });
  EXPECT_GT(large, quota(0)) << "too few take a MiB";
}

INSTANTIATE_TEST_SUITE_P(Questions, RunBytes,
                         testing::Values(std::tuple(plated::Question::Kind::value, Semiring::log),
                                         std::tuple(plated::Question::Kind::value, Semiring::real),
                                         std::tuple(plated::Question::Kind::gradient, Semiring::log),
                                         std::tuple(plated::Question::Kind::gradient, Semiring::real),
                                         std::tuple(plated::Question::Kind::hessian_vector_product, Semiring::log),
                                         std::tuple(plated::Question::Kind::marginals, Semiring::log),
                                         std::tuple(plated::Question::Kind::max_marginals, Semiring::max_plus),
                                         std::tuple(plated::Question::Kind::map, Semiring::max_plus),
                                         std::tuple(plated::Question::Kind::sample, Semiring::log),
                                         std::tuple(plated::Question::Kind::entropy, Semiring::log),
                                         std::tuple(plated::Question::Kind::expectation, Semiring::log),
                                         std::tuple(plated::Question::Kind::leave_one_out, Semiring::log)));

}  // namespace
}  // namespace plated::test
