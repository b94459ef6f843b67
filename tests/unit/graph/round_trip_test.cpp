// equation() read back is the graph it came from.
#include <gtest/gtest.h>

#include <random>

#include "plated/factor_graph.hpp"
#include "random_graph.hpp"

namespace plated {
namespace {

FactorGraph read_back(const FactorGraph& g) {
  EquationOptions options;
  options.spaced = true;
  for (const Dim& dim : g.dims()) {
    options.sizes[dim.name] = dim.size;
    if (dim.kind == DimKind::plate) options.plates += dim.name + " ";
    if (dim.kind == DimKind::batch) options.batch += dim.name + " ";
  }
  std::vector<std::vector<std::int64_t>> shapes;
  for (const Factor& factor : g.factors()) {
    auto& shape = shapes.emplace_back();
    for (const DimId d : factor.dims) shape.push_back(g.dims()[d].size);
  }
  // A variable that nothing mentions cannot be in an equation.
  std::vector<bool> mentioned(g.dims().size(), false);
  for (const Factor& factor : g.factors()) {
    for (const DimId d : factor.dims) mentioned[d] = true;
  }
  for (const Output& output : g.outputs()) {
    for (const DimId d : output.dims) mentioned[d] = true;
  }
  for (DimId d = 0; d < g.dims().size(); ++d) {
    if (g.dims()[d].kind == DimKind::variable && !mentioned[d]) options.sizes.erase(g.dims()[d].name);
  }
  return FactorGraph::from_equation(g.equation(), shapes, options);
}

std::vector<std::string> names(const FactorGraph& g, const std::vector<DimId>& dims) {
  std::vector<std::string> result;
  for (const DimId d : dims) result.push_back(g.dims()[d].name);
  return result;
}

/// Equal but for the order of declarations.
void expect_same(const FactorGraph& a, const FactorGraph& b) {
  for (const Dim& dim : b.dims()) {
    ASSERT_TRUE(a.find(dim.name).has_value());
    EXPECT_EQ(a.dims()[*a.find(dim.name)].kind, dim.kind);
    EXPECT_EQ(a.dims()[*a.find(dim.name)].size, dim.size);
  }
  ASSERT_EQ(a.factors().size(), b.factors().size());
  for (std::size_t f = 0; f < a.factors().size(); ++f) {
    EXPECT_EQ(names(a, a.factors()[f].dims), names(b, b.factors()[f].dims));
    EXPECT_EQ(names(a, a.factors()[f].tied), names(b, b.factors()[f].tied));
  }
  ASSERT_EQ(a.outputs().size(), b.outputs().size());
  for (std::size_t o = 0; o < a.outputs().size(); ++o) {
    EXPECT_EQ(names(a, a.outputs()[o].dims), names(b, b.outputs()[o].dims));
  }
}

TEST(RoundTrip, RandomGraphsReadBackTheSame) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const FactorGraph g = test::random_graph(random, 0);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + g.equation());
    expect_same(g, read_back(g));
  }
}

TEST(RoundTrip, UnrolledGraphsReadBackTheSame) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const FactorGraph g = test::random_graph(random).unroll().graph;
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + g.equation());
    expect_same(g, read_back(g));
  }
}

TEST(RoundTrip, CompactNamesOfAnyKindReadBack) {
  const std::vector<std::vector<std::int64_t>> shapes{{2, 3}, {}, {3, 4}};
  const FactorGraph g = FactorGraph::from_equation("α+,,+7->7α,", shapes);
  expect_same(g, read_back(g));
}

}  // namespace
}  // namespace plated
