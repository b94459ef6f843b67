// The text of a picture: well-formed, escaped, standalone and the same every time.
#include <gtest/gtest.h>

#include "unit/draw/models.hpp"
#include "unit/draw/read_svg.hpp"

namespace plated::test {
namespace {

TEST(ReadSvg, FindsWhatIsNotWellFormed) {
  EXPECT_EQ(read_svg("<svg><g></g></svg>").error, "");
  EXPECT_NE(read_svg("<svg><g></svg>").error, "");
  EXPECT_NE(read_svg("<svg>").error, "");
  EXPECT_NE(read_svg("<svg>a & b</svg>").error, "");
  EXPECT_NE(read_svg("<svg x=\"1\" x=\"2\"></svg>").error, "");
}

TEST(DrawSvg, EscapesNames) {
  FactorGraph g;
  g.variable("x", 2);
  g.factor("a<b & \"c\" > 'd'", {"x"});
  const std::string svg = draw_svg(g, {.title = "<title> & more"});
  const Document document = read_svg(svg);
  EXPECT_EQ(document.error, "");
  ASSERT_EQ(document.with_class("factor-label").size(), 1u);
  EXPECT_EQ(document.with_class("factor-label")[0].text, "a&lt;b &amp; &quot;c&quot; &gt; &apos;d&apos;");
  EXPECT_EQ(document.with_class("title")[0].text, "&lt;title&gt; &amp; more");
}

TEST(DrawSvg, GivesTheSameTextEveryTime) {
  EXPECT_EQ(draw_svg(performance_model()), draw_svg(performance_model()));
  EXPECT_EQ(draw_svg(all_pairs(5)), draw_svg(all_pairs(5)));
}

TEST(DrawSvg, NeedsNothingFromOutside) {
  const std::string svg = draw_svg(performance_model());
  for (const char* word : {"<script", "<image", "href", "@import", "url("})
    EXPECT_EQ(svg.find(word), std::string::npos);
}

TEST(DrawSvg, KeepsEverythingInsideItsViewBox) {
  const Document document = read_svg(draw_svg(all_pairs(4)));
  const double width = document.elements[0].number("width"), height = document.elements[0].number("height");
  EXPECT_EQ(
      document.elements[0]["viewBox"],
      std::string("0 0 ").append(document.elements[0]["width"]).append(" ").append(document.elements[0]["height"]));
  for (const auto& shape : shapes_of(document)) {
    EXPECT_GE(shape.x - shape.half_width, 0);
    EXPECT_GE(shape.y - shape.half_height, 0);
    EXPECT_LE(shape.x + shape.half_width, width);
    EXPECT_LE(shape.y + shape.half_height, height);
  }
  for (const auto& box : document.with_class("plate")) {
    EXPECT_GE(box.number("x"), 0);
    EXPECT_LE(box.number("x") + box.number("width"), width);
    EXPECT_LE(box.number("y") + box.number("height"), height);
  }
}

TEST(DrawSvg, DrawsTheEmptyGraph) {
  const Document document = read_svg(draw_svg(FactorGraph{}));
  EXPECT_EQ(document.error, "");
  EXPECT_TRUE(shapes_of(document).empty());
}

}  // namespace
}  // namespace plated::test
