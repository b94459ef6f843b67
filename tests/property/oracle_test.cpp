// The oracle itself, on graphs small enough to add up by hand.
#include <gtest/gtest.h>

#include "oracle/oracle.hpp"

namespace plated::test {
namespace {

std::vector<std::vector<double>> values(const FactorGraph& graph, const std::vector<Tensor>& operands,
                                        Semiring semiring) {
  std::vector<std::vector<double>> result;
  for (const auto& output : oracle::unrolled(graph, operands, semiring)) {
    result.emplace_back();
    for (const oracle::Entry& entry : output) result.back().push_back(static_cast<double>(entry.value));
  }
  return result;
}

std::vector<std::vector<double>> real(std::string_view equation, const std::vector<Tensor>& operands,
                                      const char* plates = "", const char* batch = "",
                                      std::map<std::string, std::int64_t> sizes = {}) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (const Tensor& t : operands) shapes.push_back(t.shape());
  const FactorGraph graph =
      FactorGraph::from_equation(equation, shapes, {.plates = plates, .batch = batch, .sizes = std::move(sizes)});
  return values(graph, operands, Semiring::real);
}

using Lists = std::vector<std::vector<double>>;
const Tensor square = Tensor::of<double>({2, 2}, {1, 2, 3, 4});

TEST(Oracle, SumsAndMultiplies) {
  EXPECT_EQ(real("xy->", {square}), Lists{{10}});
  EXPECT_EQ(real("xy->y", {square}), (Lists{{4, 6}}));
  EXPECT_EQ(real("ix->", {square}, "i"), Lists{{21}});                                      // (1 + 2) · (3 + 4)
  EXPECT_EQ(real("xx->", {square}), Lists{{5}});                                            // a diagonal
  EXPECT_EQ(real("x,ix->", {Tensor::of<double>({2}, {1, 10}), square}, "i"), Lists{{83}});  // 1·1·3 + 10·2·4
}

TEST(Oracle, KeepsASlicesVariableAndMultipliesTheOthers) {
  EXPECT_EQ(real("ix->ix", {square}, "i"), (Lists{{7, 14, 9, 12}}));
  EXPECT_EQ(real("ix->i", {square}, "i"), (Lists{{21, 21}}));  // a broadcast of the total
  EXPECT_EQ(real("ix->x", {square}, "i"), (Lists{{3, 8}}));    // x is global
}

TEST(Oracle, KeepsBatchDimsApart) {
  EXPECT_EQ(real("nx->", {square}, "", "n"), (Lists{{3, 7}}));
  EXPECT_EQ(real("nx->x", {square}, "", "n"), (Lists{{1, 2, 3, 4}}));
}

TEST(Oracle, RepeatsTiedFactors) {
  EXPECT_EQ(real("(i)x->", {Tensor::of<double>({2}, {2, 3})}, "i", "", {{"i", 3}}), Lists{{125}});
}

TEST(Oracle, KnowsEmptySumsAndProducts) {
  EXPECT_EQ(real("ix->", {Tensor(Dtype::float64, {0, 2})}, "i"), Lists{{1}});
  EXPECT_EQ(real("ix->", {Tensor(Dtype::float64, {2, 0})}, "i"), Lists{{0}});
  EXPECT_EQ(real("ix->", {Tensor(Dtype::float64, {0, 0})}, "i"), Lists{{1}});
  FactorGraph untouched;
  untouched.plate("i", 3);
  untouched.variable("x", 2, {"i"});
  untouched.output({});
  EXPECT_EQ(values(untouched, {}, Semiring::real), Lists{{8}});
}

TEST(Oracle, KnowsTheOtherSemirings) {
  const FactorGraph graph = [] {
    FactorGraph g;
    g.plate("i", 2);
    g.variable("x", 2, {"i"});
    g.factor("f", {"i", "x"});
    g.output({});
    return g;
  }();
  EXPECT_EQ(values(graph, {square}, Semiring::max_plus), Lists{{6}});
  EXPECT_EQ(values(graph, {square}, Semiring::min_plus), Lists{{4}});
  EXPECT_EQ(values(graph, {square}, Semiring::max_product), Lists{{8}});
  EXPECT_EQ(values(graph, {Tensor::of<double>({2, 2}, {0, 5, 0, 0})}, Semiring::boolean), Lists{{0}});
  EXPECT_EQ(values(graph, {Tensor::of<double>({2, 2}, {0, 5, 2, 0})}, Semiring::boolean), Lists{{1}});
  const Tensor logs = Tensor::of<double>({2, 2}, {0, std::log(2), std::log(3), std::log(4)});
  EXPECT_NEAR(values(graph, {logs}, Semiring::log)[0][0], std::log(21), 1e-15);
}

}  // namespace
}  // namespace plated::test
