// Contents of pictures: names, sizes, edges, tied factors, batch dims, outputs and the forbidden minor.
#include <gtest/gtest.h>

#include <set>

#include "unit/draw/models.hpp"
#include "unit/draw/read_svg.hpp"

namespace plated::test {
namespace {

constexpr const char* red = "#c8102e";

std::set<std::string> texts(const Document& document, const std::string& css) {
  std::set<std::string> found;
  for (const auto& element : document.with_class(css)) found.insert(element.text);
  return found;
}

std::set<std::string> red_names(const Document& document, const std::string& css) {
  std::set<std::string> found;
  for (const auto& element : document.with_class(css)) {
    if (element["stroke"] == red) found.insert(element["data-name"]);
  }
  return found;
}

TEST(Draw, NamesVariablesFactorsAndPlatesWithTheirSizes) {
  const Document document = read_svg(draw_svg(performance_model()));
  EXPECT_EQ(texts(document, "name"), (std::set<std::string>{"x", "w", "v", "y", "z"}));
  EXPECT_EQ(texts(document, "factor-label"), (std::set<std::string>{"fx", "fwx", "fvw", "fyx", "fzy"}));
  EXPECT_EQ(texts(document, "plate-label"), (std::set<std::string>{"i = 32", "j = 32"}));
  EXPECT_EQ(document.with_class("edge").size(), 9u);
}

TEST(Draw, LeavesOutWhatIsSwitchedOff) {
  FactorGraph g = performance_model();
  g.output({"x"});
  const Document document = read_svg(draw_svg(g, {.factor_names = false, .sizes = false, .caption = false}));
  EXPECT_TRUE(texts(document, "factor-label").empty());
  EXPECT_TRUE(texts(document, "caption").empty());
  EXPECT_EQ(texts(document, "plate-label"), (std::set<std::string>{"i", "j"}));
}

TEST(Draw, ShowsTiedFactorsBatchDimsAndOutputs) {
  FactorGraph g;
  g.batch("n", 8);
  g.plate("t", 20);
  g.variable("theta", 3);
  g.variable("z", 4);
  g.factor("mix", {"theta", "z"}, {.tied = {"t"}});
  g.factor("emit", {"n", "t", "z"});
  g.output({"t", "z"});
  const Document document = read_svg(draw_svg(g));
  EXPECT_EQ(texts(document, "factor-label"), (std::set<std::string>{"mix (t)", "emit [n]"}));
  EXPECT_EQ(texts(document, "caption").begin()->rfind("batch n = 8", 0), 0u);
  ASSERT_EQ(document.with_class("ring").size(), 1u);
  EXPECT_EQ(document.with_class("ring")[0]["data-name"], "z");
  for (const auto& factor : document.with_class("factor")) {
    EXPECT_EQ(factor["fill"] == "#ffffff", factor["data-name"] == "mix");
  }
}

TEST(Draw, PaintsTheForbiddenMinorRed) {
  FactorGraph g = performance_model();
  g.factor("fvz", {"v", "z", "i", "j"});
  const Certificate certificate{"w", "y", "i", "j", {"fvw", "fvz", "fzy"}};
  const Document document = read_svg(draw_svg(g, certificate));
  EXPECT_EQ(red_names(document, "variable"), (std::set<std::string>{"w", "v", "z", "y"}));
  EXPECT_EQ(red_names(document, "factor"), (std::set<std::string>{"fvw", "fvz", "fzy"}));
  EXPECT_EQ(red_names(document, "plate"), (std::set<std::string>{"i", "j"}));
  int red_edges = 0;
  for (const auto& edge : document.with_class("edge")) red_edges += edge["stroke"] == red;
  EXPECT_EQ(red_edges, 6);
  EXPECT_TRUE(red_names(read_svg(draw_svg(g)), "variable").empty());
}

TEST(Draw, RefusesACertificateOfAnotherGraph) {
  EXPECT_THROW((void)draw_svg(rbm(), Certificate{"X", "Q", "i", "j", {"F"}}), UnknownNameError);
  EXPECT_THROW((void)draw_svg(rbm(), Certificate{"X", "Y", "i", "k", {"F"}}), UnknownNameError);
  EXPECT_THROW((void)draw_svg(rbm(), Certificate{"X", "Y", "i", "j", {"G"}}), UnknownNameError);
}

TEST(Draw, RefusesAGraphThatDoesNotHold) {
  FactorGraph g;
  g.plate("i", 2);
  g.variable("x", 2, {"i"});
  g.factor("f", {"x"});
  EXPECT_THROW((void)draw_svg(g), PlateError);
}

}  // namespace
}  // namespace plated::test
