// Directed pictures: arrows in place of factors, downwards, around nodes, with heads at borders; observed and labelled.
#include <gtest/gtest.h>

#include <set>

#include "unit/draw/models.hpp"
#include "unit/draw/truth.hpp"

namespace plated::test {
namespace {

/// Parents and children of arrows, by name.
std::multiset<std::pair<std::string, std::string>> arrows(const Document& document) {
  const auto shapes = shapes_of(document);
  std::multiset<std::pair<std::string, std::string>> found;
  for (const auto& line : document.with_class("arrow")) {
    const auto points = walk(line["d"]);
    const Shape* from = shape_at(shapes, points.front());
    const Shape* to = shape_at(shapes, points.back());
    if (from != nullptr && to != nullptr) found.insert({from->name, to->name});
  }
  return found;
}

TEST(DrawDirected, DrawsDistributionsAsArrowsAndOtherFactorsAsSquares) {
  FactorGraph g;
  for (const char* name : {"rain", "sprinkler", "grass"}) g.variable(name, 2);
  g.factor("p_rain", {"rain"});
  g.factor("p_grass", {"rain", "sprinkler", "grass"});
  g.factor("price", {"sprinkler"});
  const Document document = read_svg(draw_svg(g, {.directed = true, .children = {"rain", "grass", ""}}));
  EXPECT_EQ(document.error, "");
  EXPECT_EQ(arrows(document),
            (std::multiset<std::pair<std::string, std::string>>{{"rain", "grass"}, {"sprinkler", "grass"}}));
  const auto squares = document.with_class("factor");
  ASSERT_EQ(squares.size(), 1u);
  EXPECT_EQ(squares[0]["data-name"], "price");
  EXPECT_EQ(document.with_class("edge").size(), 1u);
  expect_heads_on_borders(document);
}

TEST(DrawDirected, TakesTheGraphsOwnDistributionsWhereNoneAreNamed) {
  FactorGraph g;
  g.variable("a", 2);
  g.variable("b", 2);
  g.factor("f", {"a", "b"}, {.distribution_of = "b"});
  EXPECT_EQ(arrows(read_svg(draw_svg(g, {.directed = true}))).size(), 1u);
  EXPECT_EQ(read_svg(draw_svg(g)).with_class("factor").size(), 1u);
}

TEST(DrawDirected, KeepsTheSquareOfAFactorThatArrowsWouldMisrepresent) {
  FactorGraph g;
  g.plate("i", 3);
  g.variable("x", 2);
  g.variable("y", 2);
  g.factor("prior", {"x"});
  g.factor("again", {"x"});
  g.factor("wide", {"i", "y", "x"});
  // x has a distribution already, and `wide` has more slices than x.
  const Document document = read_svg(draw_svg(g, {.directed = true, .children = {"x", "x", "x"}}));
  std::set<std::string> squares;
  for (const auto& square : document.with_class("factor")) squares.insert(square["data-name"]);
  EXPECT_EQ(squares, (std::set<std::string>{"again", "wide"}));
}

TEST(DrawDirected, KeepsTheSquaresOfACertificate) {
  FactorGraph g = performance_model();
  g.factor("fvz", {"v", "z", "i", "j"});
  const Certificate certificate{"w", "y", "i", "j", {"fvw", "fvz", "fzy"}};
  const DrawOptions options{.directed = true, .children = {"x", "w", "v", "y", "z", ""}};
  EXPECT_EQ(read_svg(draw_svg(g, options)).with_class("factor").size(), 1u);
  EXPECT_EQ(read_svg(draw_svg(g, certificate, options)).with_class("factor").size(), 3u);
}

TEST(DrawDirected, RefusesChildrenThatDoNotFit) {
  const FactorGraph g = rbm();
  EXPECT_THROW((void)draw_svg(g, {.directed = true, .children = {"X", "Y"}}), OptionError);
  EXPECT_THROW((void)draw_svg(g, {.directed = true, .children = {"Z"}}), UnknownNameError);
  EXPECT_THROW((void)draw_svg(g, {.observed = {"Z"}}), UnknownNameError);
  EXPECT_THROW((void)draw_svg(g, {.observed = {"i"}}), UnknownNameError);
}

TEST(DrawDirected, PlatedModelsPointDownWhereTheyCan) {
  const Document document =
      read_svg(draw_svg(performance_model(), {.directed = true, .children = {"x", "w", "v", "y", "z"}}));
  EXPECT_EQ(document.with_class("factor").size(), 0u);
  EXPECT_EQ(document.with_class("plate").size(), 2u);
  const auto found = arrows(document);
  EXPECT_EQ(found.size(), 4u);
  for (const auto& [from, to] : found) {
    EXPECT_GE(shape_named(document, to).y, shape_named(document, from).y) << from << " to " << to;
  }
  expect_heads_on_borders(document);
  EXPECT_EQ(lines_under_shapes(document), 0);
}

TEST(DrawDirected, NetworksOfAnySizeAreReadable) {
  for (const int variables : {2, 10, 30, 60, 90}) {
    SCOPED_TRACE(variables);
    const Network network = random_network(variables, 17 + variables);
    const Document document = read_svg(draw_svg(network.graph, {.directed = true, .children = network.children}));
    ASSERT_EQ(document.error, "");
    expect_shapes_apart(document);
    expect_heads_on_borders(document);
    EXPECT_EQ(lines_under_shapes(document), 0);
    for (const auto& [from, to] : arrows(document)) {
      EXPECT_GT(shape_named(document, to).y, shape_named(document, from).y) << from << " to " << to;
    }
    const double width = document.elements[0].number("width"), height = document.elements[0].number("height");
    EXPECT_LT(width, 4 * height + 200);
    EXPECT_LT(height, 4 * width + 200);
    for (const auto& line : lines_of(document)) {
      for (const auto& [x, y] : walk(line["d"])) EXPECT_TRUE(x > 0 && x < width && y > 0 && y < height);
    }
  }
}

TEST(DrawDirected, ArrowsOfWideNetworksRunAroundNodes) {
  for (const int causes : {3, 7, 12}) {
    SCOPED_TRACE(causes);
    const Network network = symptom_network(causes, 60);
    const Document document = read_svg(draw_svg(network.graph, {.directed = true, .children = network.children}));
    expect_shapes_apart(document);
    expect_heads_on_borders(document);
    EXPECT_EQ(lines_under_shapes(document), 0);
    EXPECT_LT(document.elements[0].number("width"), 5 * document.elements[0].number("height"));
  }
}

TEST(DrawDirected, ACircleOfDistributionsIsDrawn) {
  FactorGraph g;
  for (const char* name : {"a", "b", "c"}) g.variable(name, 2);
  g.factor("f", {"a", "b"});
  g.factor("g", {"b", "c"});
  g.factor("h", {"c", "a"});
  const Document document = read_svg(draw_svg(g, {.directed = true, .children = {"b", "c", "a"}}));
  EXPECT_EQ(arrows(document).size(), 3u);
  expect_heads_on_borders(document);
}

TEST(DrawDirected, ObservedVariablesAreShaded) {
  std::map<std::string, std::string> fill;
  for (const auto& shape : read_svg(draw_svg(performance_model(), {.observed = {"v", "z"}})).with_class("variable"))
    fill[shape["data-name"]] = shape["fill"];
  EXPECT_EQ(fill["v"], fill["z"]);
  EXPECT_EQ(fill["x"], fill["w"]);
  EXPECT_EQ(fill["x"], fill["y"]);
  EXPECT_NE(fill["v"], fill["x"]);
}

TEST(DrawDirected, VariablesAreCalledByTheirLabels) {
  const DrawOptions options{.labels = {{"x", "wet grass & <rain>"}, {"nobody", "nothing"}}};
  const Document document = read_svg(draw_svg(performance_model(), options));
  EXPECT_EQ(document.error, "");
  std::set<std::string> names;
  for (const auto& name : document.with_class("name")) names.insert(name.text);
  EXPECT_EQ(names, (std::set<std::string>{"wet grass &amp; &lt;rain&gt;", "w", "v", "y", "z"}));
  EXPECT_EQ(shape_named(document, "x").name, "x");
}

TEST(DrawDirected, GivesTheSameTextEveryTime) {
  const Network network = random_network(40, 3);
  const DrawOptions options{.directed = true, .children = network.children};
  EXPECT_EQ(draw_svg(network.graph, options), draw_svg(network.graph, options));
}

}  // namespace
}  // namespace plated::test
