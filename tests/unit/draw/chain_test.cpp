// Pictures of chains: dashed boxes, arrows along links, dotted ends.
#include <gtest/gtest.h>

#include "unit/draw/models.hpp"
#include "unit/draw/truth.hpp"

namespace plated::test {
namespace {

TEST(DrawChain, LinksAreArrowsFromTargetToSource) {
  const Document document = read_svg(draw_svg(hidden_markov_model()));
  ASSERT_EQ(document.error, "");
  const auto links = document.with_class("link");
  ASSERT_EQ(links.size(), 1u);
  const auto shapes = shapes_of(document);
  const auto points = walk(links[0]["d"]);
  EXPECT_EQ(shape_at(shapes, points.front())->name, "b");
  EXPECT_EQ(shape_at(shapes, points.back())->name, "a");
  EXPECT_NE(links[0]["stroke-dasharray"], "");
  expect_heads_on_borders(document);
  const auto labels = document.with_class("link-label");
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_EQ(labels[0].text, "next t");
  bool explained = false;
  for (const auto& caption : document.with_class("caption"))
    explained |= caption.text.find("b is a of the next t") != std::string::npos;
  EXPECT_TRUE(explained);
}

TEST(DrawChain, BoxesOfChainsAreDashedAndThoseOfPlatesAreNot) {
  const Document document = read_svg(draw_svg(hidden_markov_model()));
  const auto boxes = document.with_class("plate");
  ASSERT_EQ(boxes.size(), 2u);
  for (const auto& box : boxes) EXPECT_EQ(box["stroke-dasharray"] != "", box["data-name"] == "t");
  for (const auto& label : document.with_class("plate-label"))
    EXPECT_TRUE(label.text == "t = 100 →" || label.text == "s = 7") << label.text;
}

TEST(DrawChain, EndsAreDottedAndJoinedToTheirVariable) {
  const Document document = read_svg(draw_svg(hidden_markov_model()));
  const auto shapes = shapes_of(document);
  const auto ends = document.with_class("end");
  ASSERT_EQ(ends.size(), 1u);
  const auto points = walk(ends[0]["d"]);
  EXPECT_EQ(shape_at(shapes, points.front())->name, "^a");
  EXPECT_EQ(shape_at(shapes, points.back())->name, "a");
  for (const auto& variable : document.with_class("variable"))
    EXPECT_EQ(variable["stroke-dasharray"] != "", variable["data-name"] == "^a");
}

TEST(DrawChain, AnEndIsCalledAndShadedAfterItsVariable) {
  const Document document = read_svg(draw_svg(hidden_markov_model(), {.observed = {"a"}, .labels = {{"a", "before"}}}));
  std::map<std::string, std::string> fill;
  for (const auto& variable : document.with_class("variable")) fill[variable["data-name"]] = variable["fill"];
  EXPECT_EQ(fill["a"], fill["^a"]);
  EXPECT_NE(fill["a"], fill["b"]);
  bool found = false;
  for (const auto& name : document.with_class("name")) found |= name.text == "^before";
  EXPECT_TRUE(found);
}

TEST(DrawChain, ArcsStayInTheirBoxAndOffOtherNodes) {
  for (const bool directed : {false, true}) {
    for (const FactorGraph& graph : {hidden_markov_model(), second_order_chain(), factorial_chain()}) {
      SCOPED_TRACE(graph.print());
      const Document document = read_svg(draw_svg(graph, {.directed = directed}));
      expect_shapes_apart(document);
      expect_heads_on_borders(document);
      expect_labels_clear(document);
      EXPECT_EQ(lines_under_shapes(document), 0);
      EXPECT_TRUE(document.with_class("ground").empty());
      Element box;
      for (const auto& element : document.with_class("plate")) {
        if (element["data-name"] == "t") box = element;
      }
      for (const auto& link : document.with_class("link")) {
        for (const auto& [x, y] : walk(link["d"])) {
          EXPECT_TRUE(box.number("x") < x && x < box.number("x") + box.number("width"));
          EXPECT_TRUE(box.number("y") < y && y < box.number("y") + box.number("height"));
        }
      }
    }
  }
}

}  // namespace
}  // namespace plated::test
