// Choices that must not change values: optional passes, search strategies, forms of input and output.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "property/compile_case.hpp"
#include "property/expect_close.hpp"
#include "property/random_case.hpp"
#include "property/random_operands.hpp"
#include "property/seeds.hpp"

namespace plated::test {
namespace {

constexpr Semiring rings[] = {Semiring::real, Semiring::log, Semiring::max_plus};

testing::AssertionResult failure(const Case& c, const std::string& choice, const testing::AssertionResult& result) {
  return testing::AssertionFailure() << c.print() << "\n  " << choice << ": " << result.message();
}

/// Plans each graph with each of the given options and holds all of them against the oracle.
void expect_same_values(std::uint64_t runs, const std::vector<std::pair<std::string, PlanOptions>>& choices) {
  for_each_seed(runs, [&](std::uint64_t seed) -> testing::AssertionResult {
    const Case c = random_case(seed);
    const FactorGraph graph = c.build();
    Random random(seed);
    const Semiring semiring = random.pick(rings);
    const Operands operands(graph, random, {.semiring = semiring, .strided = random.chance(50), .zero_percent = 5});
    if (!compile_if_tractable(graph)) return testing::AssertionSuccess();
    const auto expected = oracle::unrolled(graph, operands.tensors(), semiring);
    for (const auto& [choice, options] : choices) {
      try {
        const std::vector<Tensor> results =
            compile(graph, options).run(operands.tensors(), {.semiring = semiring, .threads = 1});
        const testing::AssertionResult result = close(results, expected, semiring, tolerance(Dtype::float64));
        if (!result) return failure(c, choice + ", " + std::string(name(semiring)), result);
      } catch (const IntractableError&) {
        // Verdicts concern the graph without its dims of size 1; with them it may be refused.
        if (!options.without.contains("drop_unit_dims")) throw;
      }
    }
    return testing::AssertionSuccess();
  });
}

TEST(Choices, OptionalPassesChangeNoValue) {
  std::vector<std::pair<std::string, PlanOptions>> choices;
  PlanOptions none;
  ASSERT_FALSE(Plan::passes().empty());
  for (const std::string& pass : Plan::passes()) {
    choices.push_back({"without " + pass, {.without = {pass}}});
    none.without.insert(pass);
  }
  choices.push_back({"without any pass", none});
  expect_same_values(2000, choices);
}

TEST(Choices, SearchStrategiesChangeNoValue) {
  expect_same_values(2000, {{"optimal", {.search = Search::optimal}},
                            {"greedy", {.search = Search::greedy}},
                            {"min_fill", {.search = Search::min_fill}},
                            {"randomised", {.search = Search::randomised, .trials = 8, .seed = 7}},
                            {"no trials", {.search = Search::randomised, .trials = 0}}});
}

/// P(v), by names.
std::map<std::string, std::set<std::string>> plates_by_name(const FactorGraph& graph) {
  std::map<std::string, std::set<std::string>> result;
  const std::vector<std::vector<DimId>> plates = graph.variable_plates();
  for (DimId v = 0; v < graph.dims().size(); ++v) {
    if (graph.dims()[v].kind != DimKind::variable) continue;
    std::set<std::string>& names = result[graph.dims()[v].name];
    for (const DimId b : plates[v]) names.insert(graph.dims()[b].name);
  }
  return result;
}

TEST(Choices, AnEquationMeansWhatTheBuilderWasTold) {
  std::uint64_t seen = 0, compared = 0;
  for_each_seed(4000, [&](std::uint64_t seed) -> testing::AssertionResult {
    const Case c = random_case(seed, {.odd = false});
    const FactorGraph graph = c.build();
    std::optional<EinsumOptions> options = c.equation_options();
    ++seen;
    if (!options || !compile_if_tractable(graph)) return testing::AssertionSuccess();
    ++compared;
    Random random(seed);
    options->semiring = random.pick(rings);
    options->threads = 1;
    const Operands operands(graph, random, {.semiring = options->semiring, .strided = true, .zero_percent = 5});
    std::vector<std::vector<std::int64_t>> shapes;
    for (const Tensor& t : operands.tensors()) shapes.push_back(t.shape());
    const FactorGraph written = FactorGraph::from_equation(
        c.equation(), shapes,
        {.plates = options->plates, .batch = options->batch, .sizes = options->sizes, .spaced = options->spaced});
    if (plates_by_name(written) != plates_by_name(graph))
      return testing::AssertionFailure() << c.print() << "\n  P(v) differs";
    // The equation's own graph says in which order it leads outputs with batch dims that are not written.
    const std::vector<Tensor> results = einsum_all(c.equation(), operands.tensors(), *options);
    const auto expected = oracle::unrolled(written, operands.tensors(), options->semiring);
    const testing::AssertionResult result = close(results, expected, options->semiring, tolerance(Dtype::float64));
    if (!result) return failure(c, "einsum, " + std::string(name(options->semiring)), result);
    const std::vector<Tensor> compiled =
        compile(written).run(operands.tensors(), {.semiring = options->semiring, .threads = 1});
    for (std::size_t o = 0; o < results.size(); ++o) {
      if (results[o].values() != compiled[o].values() || results[o].shape() != compiled[o].shape()) {
        return testing::AssertionFailure() << c.print() << "\n  a compiled plan differs from einsum";
      }
    }
    return testing::AssertionSuccess();
  });
  EXPECT_GE(4 * compared, seen > 100 ? seen : 0) << "too few graphs have an equation";
}

TEST(Choices, RunIntoWritesAnyStridesAndEitherType) {
  for_each_seed(4000, [&](std::uint64_t seed) -> testing::AssertionResult {
    const Case c = random_case(seed);
    const FactorGraph graph = c.build();
    const std::optional<Plan> plan = compile_if_tractable(graph);
    if (!plan) return testing::AssertionSuccess();
    Random random(seed);
    const Semiring semiring = random.pick(rings);
    const Operands operands(graph, random, {.semiring = semiring, .strided = true, .zero_percent = 5});
    const auto expected = oracle::unrolled(graph, operands.tensors(), semiring);
    Workspace workspace(*plan);
    // Twice the same, so that a binding is reused, and another type in between.
    for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float32, Dtype::float64}) {
      const Operands outputs = Operands::outputs(graph, random, dtype);
      plan->run_into(outputs.tensors(), operands.tensors(), workspace, {.semiring = semiring, .threads = 1});
      const testing::AssertionResult result = close(outputs.tensors(), expected, semiring, tolerance(dtype));
      if (!result) return failure(c, std::string(name(dtype)) + " outputs, " + std::string(name(semiring)), result);
    }
    return testing::AssertionSuccess();
  });
}

}  // namespace
}  // namespace plated::test
