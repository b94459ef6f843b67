// Pictures of schedules: every step with its text, boxes apart, arrows from inputs to results.
#include "draw/flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "draw/plan_picture.hpp"
#include "draw/text.hpp"
#include "planner/planner.hpp"
#include "unit/draw/models.hpp"
#include "unit/draw/read_svg.hpp"

namespace plated::test {
namespace {

using draw::Flow;
using draw::FlowNode;

planner::Schedule schedule_of(FactorGraph graph) {
  graph.output({});
  return planner::plan(graph, {});
}

struct Bounds {
  double left, top, right, bottom;
};

std::vector<Bounds> plan_boxes(const Document& document) {
  std::vector<Bounds> list;
  for (const char* css : {"plan-factor", "plan-step", "plan-output", "plan-gap"}) {
    for (const auto& e : document.with_class(css)) {
      const double x = e.number("x"), y = e.number("y");
      list.push_back({x, y, x + e.number("width"), y + e.number("height")});
    }
  }
  return list;
}

void expect_readable(const Document& document) {
  ASSERT_EQ(document.error, "");
  const auto boxes = plan_boxes(document);
  for (std::size_t a = 0; a < boxes.size(); ++a) {
    for (std::size_t b = a + 1; b < boxes.size(); ++b) {
      EXPECT_TRUE(boxes[a].right < boxes[b].left || boxes[b].right < boxes[a].left || boxes[a].bottom < boxes[b].top ||
                  boxes[b].bottom < boxes[a].top);
    }
  }
  // Words lie in a box.
  for (const char* css : {"plan-heading", "plan-line"}) {
    for (const auto& line : document.with_class(css)) {
      const double x = line.number("x"), y = line.number("y");
      const double width = draw::text_width(line.text, line.number("font-size"));
      EXPECT_TRUE(std::any_of(boxes.begin(), boxes.end(), [&](const Bounds& box) {
        return box.left < x && x + std::min(width, 250.0) < box.right && box.top < y - 10 && y + 2 < box.bottom;
      })) << line.text;
    }
  }
  // Arrows run from the lower border of a box to the upper border of one below, and under none.
  for (const auto& flow : document.with_class("flow")) {
    const auto points = walk(flow["d"]);
    EXPECT_TRUE(std::any_of(boxes.begin(), boxes.end(), [&](const Bounds& box) {
      return std::abs(points.front().y - box.bottom) < 0.2 && box.left < points.front().x &&
             points.front().x < box.right;
    }));
    EXPECT_TRUE(std::any_of(boxes.begin(), boxes.end(), [&](const Bounds& box) {
      return std::abs(points.back().y - box.top) < 0.2 && box.left < points.back().x && points.back().x < box.right;
    }));
    for (const auto& box : boxes) {
      EXPECT_FALSE(std::any_of(points.begin(), points.end(), [&](Spot p) {
        return box.left + 1 < p.x && p.x < box.right - 1 && box.top + 1 < p.y && p.y < box.bottom - 1;
      }));
    }
  }
}

TEST(DrawFlow, SaysWhatEachStepDoesInTheWordsOfThePaper) {
  const auto schedule = schedule_of(performance_model());
  const Flow flow = draw::flow_of(schedule, {});
  std::string words;
  int steps = 0, factors = 0, outputs = 0;
  for (const auto& node : flow.nodes) {
    words.append(node.heading).append("\n");
    for (const auto& line : node.lines) words.append(line).append("\n");
    steps += node.kind == FlowNode::Kind::step;
    outputs += node.kind == FlowNode::Kind::output;
    factors += node.kind == FlowNode::Kind::factor;
  }
  EXPECT_EQ(static_cast<std::size_t>(steps + outputs), schedule.steps.size());
  EXPECT_EQ(outputs, 1);
  EXPECT_EQ(factors, 5);
  for (const char* phrase : {"1 · leaf {i, j}", "Product{j}\nSumProduct{v}\n= m1[w, i] · 32 × 32 = 1,024",
                             "SumProduct{x}\n= output0[] · 1 number", "fzy[y, z, i, j]"})
    EXPECT_NE(words.find(phrase), std::string::npos) << phrase << " in\n" << words;
}

TEST(DrawFlow, EveryInputOfAStepLeadsToIt) {
  const auto schedule = schedule_of(performance_model());
  const Flow flow = draw::flow_of(schedule, {});
  std::size_t inputs = 0;
  for (const auto& step : schedule.steps) inputs += step.inputs.size();
  EXPECT_EQ(flow.arrows.size(), inputs);
  for (const auto& [from, to] : flow.arrows) EXPECT_NE(flow.nodes[to].kind, FlowNode::Kind::factor);
}

TEST(DrawFlow, PicturesOfPlansAreReadable) {
  for (const FactorGraph& graph : {performance_model(), lattice(3, 3), lattice(6, 5), random_network(30, 4).graph}) {
    const auto schedule = schedule_of(graph);
    const Document document = read_svg(draw::plan_svg({{.schedule = &schedule}}, {.title = "a <plan> & more"}));
    expect_readable(document);
    const auto shown = document.with_class("plan-step").size() + document.with_class("plan-output").size();
    EXPECT_EQ(shown, schedule.steps.size());
  }
}

TEST(DrawFlow, LongPlansShowTheirFirstAndLastSteps) {
  const auto schedule = schedule_of(lattice(30, 8));
  ASSERT_GT(schedule.steps.size(), 200u);
  const Document document = read_svg(draw::plan_svg({{.schedule = &schedule}}, {}));
  EXPECT_EQ(document.with_class("plan-step").size() + document.with_class("plan-output").size(), 80u);
  ASSERT_EQ(document.with_class("plan-gap").size(), 1u);
  const std::string between = std::to_string(schedule.steps.size() - 80) + " steps more";
  bool said = false;
  for (const auto& line : document.with_class("plan-line")) said |= line.text.rfind(between, 0) == 0;
  EXPECT_TRUE(said);
  EXPECT_EQ(document.with_class("plan-heading").back().text, std::to_string(schedule.steps.size()));
  expect_readable(document);
}

TEST(DrawFlow, NamesAreLabelsAndEscaped) {
  const auto schedule = schedule_of(performance_model());
  const Document document = read_svg(draw::plan_svg({{.schedule = &schedule}}, {.labels = {{"x", "<x>"}}}));
  EXPECT_EQ(document.error, "");
  bool found = false;
  for (const auto& line : document.with_class("plan-line")) found |= line.text == "fx[&lt;x&gt;]";
  EXPECT_TRUE(found);
}

TEST(DrawText, WritesThousandsApart) {
  EXPECT_EQ(draw::with_commas(0), "0");
  EXPECT_EQ(draw::with_commas(999), "999");
  EXPECT_EQ(draw::with_commas(1000), "1,000");
  EXPECT_EQ(draw::with_commas(-123456), "-123,456");
  EXPECT_EQ(draw::with_commas(12345678), "12,345,678");
}

}  // namespace
}  // namespace plated::test
