// Tests layered layouts: arrows down, nodes apart, cycles and unconnected parts, few crossings.
#include "draw/layered.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "draw/layers.hpp"

namespace plated::draw {
namespace {

LayerGraph boxes(int count, std::vector<std::pair<int, int>> arrows) {
  return {std::vector<Pixel>(count, Pixel{30, 15}), std::move(arrows)};
}

void expect_apart(const LayerGraph& graph, const LayerLayout& layout) {
  for (std::size_t a = 0; a < graph.half.size(); ++a) {
    const Rect here = around(layout.centre[a], graph.half[a]);
    EXPECT_GE(here.left, -1e-6);
    EXPECT_GE(here.top, -1e-6);
    EXPECT_LE(here.right, layout.width + 1e-6);
    EXPECT_LE(here.bottom, layout.height + 1e-6);
    for (std::size_t b = a + 1; b < graph.half.size(); ++b)
      EXPECT_FALSE(here.meets(around(layout.centre[b], graph.half[b]))) << a << " and " << b;
  }
}

TEST(Layered, PutsChildrenBelowTheirParents) {
  const LayerGraph graph = boxes(6, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 3}, {4, 3}, {3, 5}});
  const LayerLayout layout = lay_in_layers(graph, {});
  for (const auto& [from, to] : graph.arrows) EXPECT_GT(layout.centre[to].y, layout.centre[from].y + 30);
  expect_apart(graph, layout);
}

TEST(Layered, PutsAParentRightAboveItsOnlyChild) {
  // A chain of four, and a parent of the last.
  const LayerLayout layout = lay_in_layers(boxes(5, {{0, 1}, {1, 2}, {2, 3}, {4, 3}}), {});
  EXPECT_DOUBLE_EQ(layout.centre[4].y, layout.centre[2].y);
}

TEST(Layered, BendsLongArrowsOncePerLayerTheyPass) {
  const LayerLayout layout = lay_in_layers(boxes(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}), {});
  EXPECT_TRUE(layout.via[0].empty());
  EXPECT_EQ(layout.via[3].size(), 4u);  // above and below each of two layers
  EXPECT_LT(layout.via[3].front().y, layout.via[3].back().y);
}

TEST(Layered, AChainIsStraight) {
  const LayerLayout layout = lay_in_layers(boxes(4, {{0, 1}, {1, 2}, {2, 3}}), {});
  for (const auto& centre : layout.centre) EXPECT_NEAR(centre.x, layout.centre[0].x, 0.01);
}

TEST(Layered, ATreeHasNoCrossings) {
  LayerGraph graph = boxes(31, {});
  // Children in an order that crosses where nothing is done about it.
  for (int n = 1; n < 31; ++n) graph.arrows.push_back({(n - 1) / 2, n % 2 == 0 ? n : n});
  std::swap(graph.arrows[3], graph.arrows[29]);
  std::swap(graph.arrows[10], graph.arrows[20]);
  Layers layers = make_layers(graph, rank_nodes(graph, {}));
  EXPECT_EQ(order_layers(layers), 0);
}

TEST(Layered, CountsCrossingsThatNoOrderAvoids) {
  // Three above, all joined to three below: K3,3 in two layers has at least 9.
  LayerGraph graph = boxes(6, {});
  for (int a = 0; a < 3; ++a) {
    for (int b = 3; b < 6; ++b) graph.arrows.push_back({a, b});
  }
  Layers layers = make_layers(graph, rank_nodes(graph, {}));
  EXPECT_EQ(order_layers(layers), 9);
}

TEST(Layered, BreaksLayersThatAreTooWide) {
  LayerGraph graph = boxes(41, {});
  for (int n = 1; n <= 40; ++n) graph.arrows.push_back({0, n});
  const LayerLayout wide = lay_in_layers(graph, {});
  const LayerLayout narrow = lay_in_layers(graph, {.widest = 800});
  EXPECT_GT(wide.width, 3000);
  EXPECT_LT(narrow.width, 1600);  // arrows between the nodes take their room, too
  expect_apart(graph, narrow);
  const LayerLayout good = lay_in_good_layers(graph, {});
  EXPECT_LE(good.cost, wide.cost);
}

TEST(Layered, TurnsAnArrowOfEachCircleRound) {
  const auto arrows = without_cycles(3, {{0, 1}, {1, 2}, {2, 0}, {1, 1}});
  EXPECT_EQ(arrows[0], (std::pair{0, 1}));
  EXPECT_EQ(arrows[1], (std::pair{1, 2}));
  EXPECT_EQ(arrows[2], (std::pair{0, 2}));
  const LayerGraph graph = boxes(3, {{0, 1}, {1, 2}, {2, 0}, {1, 1}});
  const LayerLayout layout = lay_in_layers(graph, {});
  expect_apart(graph, layout);
  // The turned arrow's bends are listed from its own beginning.
  ASSERT_EQ(layout.via[2].size(), 2u);
  EXPECT_GT(layout.via[2][0].y, layout.via[2][1].y);
}

TEST(Layered, PacksUnconnectedPartsSideBySide) {
  LayerGraph graph = boxes(30, {{0, 1}, {2, 3}});
  const LayerLayout layout = lay_in_layers(graph, {});
  expect_apart(graph, layout);
  EXPECT_LT(layout.width, 3 * layout.height);
  EXPECT_LT(layout.height, 3 * layout.width);
}

TEST(Layered, LaysOutNothing) {
  const LayerLayout layout = lay_in_good_layers({}, {});
  EXPECT_TRUE(layout.centre.empty());
}

}  // namespace
}  // namespace plated::draw
