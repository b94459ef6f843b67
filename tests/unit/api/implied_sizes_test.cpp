// Sizes that no operand tells are read off evidence and lengths.
#include <gtest/gtest.h>

#include "plated/einsum.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"

namespace plated {
namespace {

using Sizes = std::map<std::string, std::int64_t>;

std::vector<Tensor> zeros(const std::vector<Tensor::Shape>& shapes) {
  std::vector<Tensor> operands;
  for (const Tensor::Shape& shape : shapes) operands.emplace_back(Dtype::float64, shape);
  return operands;
}

TEST(ImpliedSizes, ComeFromEvidenceOfAVariableInThePlate) {
  const auto operands = zeros({{2}, {2, 3}});
  EinsumOptions options{.plates = "i", .evidence = {{"y", Integers({7}, 0)}}};
  EXPECT_EQ(implied_sizes("x,(i)xy->", operands, options), (Sizes{{"i", 7}}));
  options.sizes = {{"i", 4}};
  EXPECT_EQ(implied_sizes("x,(i)xy->", operands, options), options.sizes);  // what is given stays
}

TEST(ImpliedSizes, AreThoseOfAnswersAxes) {
  // Batch dims, plates, chains; batch dims may be left out.
  const auto operands = zeros({{2}, {2, 2}, {2, 3}});
  EinsumOptions options{.plates = "i", .batch = "n", .chains = {{"t", {"a->b"}}}};
  const std::string equation = "(ni)a,(nit)ab,(nit)by->";
  options.evidence = {{"y", Integers({5, 6, 7}, 0)}};
  EXPECT_EQ(implied_sizes(equation, operands, options), (Sizes{{"i", 6}, {"n", 5}, {"t", 7}}));
  options.evidence = {{"y", Integers({6, 7}, 0)}};
  EXPECT_EQ(implied_sizes(equation, operands, options), (Sizes{{"i", 6}, {"t", 7}}));
}

TEST(ImpliedSizes, OfAChainAreTheLongestRowWhereNothingElseTells) {
  const auto operands = zeros({{2}, {2, 2}});
  EinsumOptions options{.batch = "n", .chains = {{"t", {"a->b"}}}};
  options.lengths = {{"t", Integers({3}, {4, 9, 2})}};
  EXPECT_EQ(implied_sizes("(n)a,(nt)ab->", operands, options), (Sizes{{"n", 3}, {"t", 9}}));
  EXPECT_EQ(implied_sizes("(n)a,tab->", zeros({{2}, {12, 2, 2}}), options), (Sizes{{"n", 3}}));
}

TEST(ImpliedSizes, AreThoseThatVerbsOnEquationsUse) {
  const std::vector<Tensor> operands{Tensor::of<double>({2}, {0.25, 0.75}),
                                     Tensor::of<double>({2, 2}, {0.5, 0.5, 0.1, 0.9})};
  const EinsumOptions implied{.plates = "i", .semiring = Semiring::real, .evidence = {{"y", Integers({3}, {0, 1, 1})}}};
  EinsumOptions given = implied;
  given.sizes = {{"i", 3}};
  EXPECT_EQ(einsum("x,(i)xy->", operands, implied).item(), einsum("x,(i)xy->", operands, given).item());
  EXPECT_NEAR(einsum("x,(i)xy->", operands, implied).item(), 0.25 * 0.125 + 0.75 * 0.1 * 0.81, 1e-15);
  EXPECT_EQ(marginals("x,(i)xy->", operands, implied).variables.at("x"),
            marginals("x,(i)xy->", operands, given).variables.at("x"));
  EXPECT_EQ(map("x,(i)xy->", operands, implied).assignment.at("x"),
            map("x,(i)xy->", operands, given).assignment.at("x"));
  EXPECT_EQ(compile("x,(i)xy->", operands, implied)
                .graph()
                .dims()[*compile("x,(i)xy->", operands, implied).graph().find("i")]
                .size,
            3);
}

TEST(ImpliedSizes, AreThoseOfRunsOfPlans) {
  const std::vector<Tensor> operands{Tensor::of<double>({2}, {0.25, 0.75}),
                                     Tensor::of<double>({2, 2}, {0.5, 0.5, 0.1, 0.9})};
  FactorGraph graph;
  graph.plate("i", 1);
  graph.variable("x", 2);
  graph.variable("y", 2);
  graph.factor("prior", {"x"});
  graph.factor("likelihood", {"x", "y"}, {.tied = {"i"}});
  const Plan plan = compile(graph, {.observable = {"y"}});
  const RunOptions how{.semiring = Semiring::real, .evidence = {{"y", Integers({3}, {0, 1, 1})}}};
  EXPECT_NEAR(plan.run(operands, how)[0].item(), 0.25 * 0.125 + 0.75 * 0.1 * 0.81, 1e-15);
}

TEST(ImpliedSizes, OfAPlansGraph) {
  FactorGraph graph;
  graph.plate("i", 1);
  graph.plate("j", 4);
  graph.variable("x", 2);
  graph.factor("f", {"x"}, {.tied = {"i"}});
  graph.factor("g", {"j"});
  EXPECT_EQ(implied_sizes(graph, {{"x", Integers({9}, 0)}}, {}), (Sizes{{"i", 9}}));
  EXPECT_EQ(implied_sizes(graph, {{"x", Integers({}, 0)}}, {}), Sizes{});
  EXPECT_EQ(implied_sizes(graph, {{"nobody", Integers({9}, 0)}}, {}), Sizes{});
  EXPECT_EQ(implied_sizes(graph, {}, {{"j", Integers({}, {3})}}), Sizes{});
}

}  // namespace
}  // namespace plated
