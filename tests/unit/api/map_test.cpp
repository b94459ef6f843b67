// map: score, names, shapes, ties, and refusals.
#include "plated/map.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "plated/error.hpp"
#include "unit/api/shuffled_model.hpp"

namespace plated {
namespace {

using Shape = std::vector<std::int64_t>;
const double none = -std::numeric_limits<double>::infinity();

TEST(Map, NamesAssignmentsWithAxesBatchAndPlatesInDeclarationOrder) {
  const FactorGraph graph = shuffled_graph({"x"});
  std::vector<double> g(static_cast<std::size_t>(3 * 5 * 2 * 4), 0.0);
  // In slice i = 2, j = 3 state 1 of y is the best, whatever x.
  g[(1 * 5 + 2) * 8 + 0 * 4 + 3] = g[(1 * 5 + 2) * 8 + 1 * 4 + 3] = 1;
  const std::vector<Tensor> operands{Tensor(Dtype::float64, {2, 6}), Tensor::of({3, 5, 2, 4}, g)};
  const MapResult best = map(compile(graph), operands);
  EXPECT_EQ(best.score.shape(), Shape{6});
  EXPECT_EQ(best.score.values(), std::vector<double>(6, 1.0));
  ASSERT_EQ(best.assignment.size(), 2U);
  EXPECT_EQ(best.assignment.at("x").shape, Shape{6});
  const Integers& y = best.assignment.at("y");
  ASSERT_EQ(y.shape, (Shape{6, 4, 5}));
  for (std::int64_t n = 0; n < 6; ++n) {
    for (std::int64_t j = 0; j < 4; ++j) {
      for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(y.at({n, j, i}), i == 2 && j == 3 ? 1 : 0);
    }
  }
}

TEST(Map, ScoresWhatTheSemiringGivesBitForBit) {
  const Tensor f = Tensor::of<double>({3}, {0.1, 0.7, 0.2}),
               g = Tensor::of<double>({2, 3}, {0.3, 0.1, 0.9, 0.4, 0.6, 0.5});
  for (const Semiring semiring : {Semiring::max_plus, Semiring::min_plus, Semiring::max_product}) {
    const EinsumOptions options{.plates = "i", .semiring = semiring};
    EXPECT_EQ(map("x,ix->", {f, g}, options).score.item(), einsum("x,ix->", {f, g}, options).item());
  }
  // Sums are read as what maximises their terms.
  const EinsumOptions log{.plates = "i"}, best{.plates = "i", .semiring = Semiring::max_plus};
  EXPECT_EQ(map("x,ix->", {f, g}, log).score.item(), einsum("x,ix->", {f, g}, best).item());
  EXPECT_EQ(map("x,ix->", {f, g}, log).assignment.at("x").values, Shape{2});  // 0.2 + 0.9 + 0.5
  const EinsumOptions real{.plates = "i", .semiring = Semiring::real};
  EXPECT_EQ(map("x,ix->", {f, g}, real).assignment.at("x").values, Shape{2});  // 0.2 · 0.9 · 0.5
  const EinsumOptions least{.plates = "i", .semiring = Semiring::min_plus};
  EXPECT_EQ(map("x,ix->", {f, g}, least).assignment.at("x").values, Shape{0});  // 0.1 + 0.3 + 0.4
}

TEST(Map, TakesTheLowestTupleOfEqualOnes) {
  const Tensor f = Tensor::of<double>({2, 2}, {0, 1, 1, 0});
  const auto best = map("xy->", {f}).assignment;
  EXPECT_EQ(best.at("x").values, Shape{0});
  EXPECT_EQ(best.at("y").values, Shape{1});
  EXPECT_EQ(map("ixy->", {Tensor(Dtype::float32, {3, 4, 4})}, {.plates = "i"}).assignment.at("y").values, Shape(3, 0));
}

TEST(Map, RefusesWhatIsImpossible) {
  EXPECT_THROW((void)map("x->", {Tensor::of<double>({2}, {none, none})}), ImpossibleError);
  EXPECT_THROW((void)map("x->", {Tensor::of<double>({2}, {0, 0})}, {.semiring = Semiring::real}), ImpossibleError);
  EXPECT_THROW((void)map("x->", {Tensor::of<double>({2}, {-none, -none})}, {.semiring = Semiring::min_plus}),
               ImpossibleError);
}

TEST(Map, RefusesWrongOperandsAndTheBooleanSemiring) {
  const Tensor f(Dtype::float64, {2});
  EXPECT_THROW((void)map("x->", {f}, {.semiring = Semiring::boolean}), OptionError);
  EXPECT_THROW((void)map("x,x->", {f}), OperandCountError);
  EXPECT_THROW((void)map("x->", {Tensor::view(static_cast<double*>(nullptr), {2})}), NullDataError);
  EXPECT_THROW((void)map("x->", {Tensor::of<double>({2}, {0, -1})}, {.semiring = Semiring::real}), ValueError);
  FactorGraph graph;
  graph.variable("x", 2);
  graph.factor("f", {"x"});
  const Plan plan = compile(graph);
  const std::vector<Tensor> two{f, f}, wide{Tensor(Dtype::float64, {3})};
  EXPECT_THROW((void)map(plan, two), OperandCountError);
  EXPECT_THROW((void)map(plan, wide), SizeError);
}

TEST(Map, KeepsItsMemoryLimit) {
  const Tensor large(Dtype::float64, {60, 60});
  EinsumOptions options;
  options.memory_limit = 64;
  EXPECT_THROW((void)map("ab,bc,cd->", {large, large, large}, options), MemoryLimitError);
  options.memory_limit = 1 << 24;
  EXPECT_EQ(map("ab,bc,cd->", {large, large, large}, options).score.item(), 0);
}

}  // namespace
}  // namespace plated
