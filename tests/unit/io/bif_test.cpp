// BIF files: rows, defaults, whole tables, quotes, comments, names that no equation can spell.
#include <gtest/gtest.h>

#include "plated/error.hpp"
#include "plated/model_file.hpp"
#include "same_model.hpp"

namespace plated {
namespace {

const std::string variables_block = R"(network "a net" { property "author me"; }
variable a { type discrete [ 2 ] { yes, no }; property position = (1, 2); }
variable b { type discrete[3] { lo mid hi }; }
)";

Model parsed(const std::string& tables) { return parse_model(variables_block + tables, "net.bif"); }

TEST(Bif, ReadsRowsByTheParentsStates) {
  const Model model = parsed(
      "probability ( a ) { table 0.25, 0.75; }\nprobability ( b | a ) {\n (no) .1 .2 .7;\n (yes) 0.5, 0.25, 0.25;\n}");
  EXPECT_EQ(model.name, "a net");
  EXPECT_EQ(model.graph.equation(), "a, a b ->");
  EXPECT_EQ(model.factors[1].values(), (std::vector<double>{0.5, 0.25, 0.25, 0.1, 0.2, 0.7}));
  EXPECT_TRUE(model.directed);
  EXPECT_EQ(model.states.at("b"), (std::vector<std::string>{"lo", "mid", "hi"}));
}

TEST(Bif, DefaultFillsTheOtherRows) {
  const Model model =
      parsed("probability ( a ) { table 0.25, 0.75; } probability ( b | a ) { default 1 0 0; (no) 0 0 1; }");
  EXPECT_EQ(model.factors[1].values(), (std::vector<double>{1, 0, 0, 0, 0, 1}));
}

TEST(Bif, AWholeTableRunsThroughTheChildSlowest) {
  const Model model = parsed("probability ( b, a ) { table 0.1, 0.2, 0.3, 0.3, 0.6, 0.5; }");
  EXPECT_EQ(model.factors[0].values(), (std::vector<double>{0.1, 0.3, 0.6, 0.2, 0.3, 0.5}));
  EXPECT_EQ(model.children[0], "b");
  EXPECT_FALSE(model.directed);  // nothing is said of a
  ASSERT_EQ(model.notes.size(), 1U);
  EXPECT_EQ(model.notes[0], "variable 'a' has no probability: all its states weigh one");
}

TEST(Bif, CommentsEndWords) {
  const Model model = parsed("/* a */ probability(a)//head\n{ table 0.5/* half */0.5// rest\n;}");
  EXPECT_EQ(model.factors[0].values(), (std::vector<double>{0.5, 0.5}));
}

TEST(Bif, NamesThatCannotBeSpelledGetOthersAndKeepTheirLabels) {
  const std::string text =
      "network n {} variable \"wet grass\" { type discrete [1] { \"a, b\" }; } variable wet_grass { type discrete [1] "
      "{ - }; }\n"
      "variable wet-grass { type discrete [1] { <5 }; } variable größe { type discrete [1] { x }; }";
  const Model model = parse_model(text, "net.bif");
  EXPECT_EQ(variables(model), (std::vector<std::string>{"wet_grass_2", "wet_grass", "wet_grass_3", "größe"}));
  EXPECT_EQ(label(model, "wet_grass_2"), "wet grass");
  EXPECT_EQ(label(model, "wet_grass"), "wet_grass");
  EXPECT_EQ(state_label(model, "wet_grass_2", 0), "a, b");
  EXPECT_EQ(state_label(model, "wet_grass_3", 0), "<5");
}

TEST(Bif, RoundTripsWithQuotes) {
  const std::string text =
      "network n {} variable \"wet grass\" { type discrete [2] { \"a, b\" c/d }; } variable y { type discrete [2] { 0 "
      "1 }; }\n"
      "probability (\"wet grass\") { table 0.1 0.9; } probability (y | \"wet grass\") { (c/d) 0.3 0.7; (\"a, b\") 1 0; "
      "}";
  const Model model = parse_model(text, "net.bif");
  const ModelText written = model_text(model, Format::bif);
  EXPECT_TRUE(written.losses.empty());
  test::expect_same_model(model, parse_model(written.text, "net.bif"));
}

TEST(Bif, ALongDefaultCountsAgainstALimit) {
  std::string text = "network n {}\n";
  std::string parents;
  for (int k = 0; k < 50; ++k) {
    text += "variable p" + std::to_string(k) + " { type discrete [2] { a b }; }\n";
    if (k > 0) parents += " p" + std::to_string(k);
  }
  text += "probability ( p0 |" + parents + " ) { default 0.5 0.5; }";
  try {
    (void)parse_model(text, "net.bif");
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_EQ(error.line(), 52);
    EXPECT_EQ(
        std::string(error.what()),
        "net.bif:52: the default of the probability of 'p0' stands for 1125899906842624 numbers, and a file may have "
        "67108864 more");
  }
}

}  // namespace
}  // namespace plated
