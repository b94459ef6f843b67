// UAI files: both kinds of models, both forms of evidence, answers.
#include <gtest/gtest.h>

#include <cmath>

#include "plated/error.hpp"
#include "plated/model_file.hpp"
#include "plated/uai_answer.hpp"
#include "same_model.hpp"

namespace plated {
namespace {

constexpr const char* markov =
    "MARKOV\n3\n2 2 3\n2\n2 0 1\n2 1 2\n4\n 4.000 2.400\n 1.000 0.000\n6\n2.25 3.25 3.75 0 0 10\n";
constexpr const char* bayes = "BAYES\n2\n2 3\n2\n1 0\n2 0 1\n2\n0.4 0.6\n6\n0.2 0.3 0.5 0.1 0.1 0.8\n";

TEST(Uai, ReadsAMarkovNetwork) {
  const Model model = parse_model(markov, "m.uai");
  EXPECT_EQ(model.graph.equation(), "v0 v1, v1 v2 ->");
  EXPECT_EQ(model.factors[1].shape(), (Tensor::Shape{2, 3}));
  EXPECT_EQ(model.factors[1].at({0, 2}), 3.75);  // the last variable runs fastest
  EXPECT_EQ(model.space, Space::real);
  EXPECT_FALSE(model.directed);
  EXPECT_FALSE(model.graph.factors()[0].distribution_of.has_value());
}

TEST(Uai, ReadsABayesNetworkWithChildrenLast) {
  const Model model = parse_model(bayes, "b.uai");
  EXPECT_TRUE(model.directed);
  EXPECT_EQ(model.children, (std::vector<std::string>{"v0", "v1"}));
  EXPECT_EQ(model.graph.factors()[1].distribution_of, model.graph.find("v1"));
  EXPECT_TRUE(model.graph.factors()[1].trusted);
}

TEST(Uai, TablesThatDoNotSumToOneAreNoDistributions) {
  std::string text = bayes;
  text.replace(text.find("0.5 0.1"), 3, "0.6");
  const Model model = parse_model(text, "b.uai");
  EXPECT_FALSE(model.graph.factors()[1].distribution_of.has_value());
  EXPECT_EQ(model.children[1], "v1");
  ASSERT_EQ(model.notes.size(), 1U);
  EXPECT_EQ(model.notes[0],
            "factor 'f1' does not sum to one over 'v1': it is taken as it is, and not as a distribution");
}

TEST(Uai, ReadsCommentsSignsExponentsAndTinyNumbers) {
  const Model model = parse_model(
      "c a comment\n#another\nMARKOV 1 5 1 1 0 c not a comment at all? it is\n5 +1 1e3 .5 1e-999 0.0e0\n", "m.uai");
  EXPECT_EQ(model.factors[0].values(), (std::vector<double>{1, 1000, 0.5, 0, 0}));
}

TEST(Uai, ReadsFactorsWithoutVariables) {
  EXPECT_EQ(parse_model("MARKOV 0 1 0 1 2.5", "m.uai").factors[0].item(), 2.5);
}

TEST(Uai, NotesWhatStandsBehindTheTables) {
  const Model model = parse_model(std::string(markov) + "0\n", "m.uai");
  ASSERT_EQ(model.notes.size(), 1U);
  EXPECT_NE(model.notes[0].find("continues after its tables"), std::string::npos);
}

TEST(Uai, RoundTrips) {
  for (const char* text : {markov, bayes}) {
    const Model model = parse_model(text, "m.uai");
    const ModelText written = model_text(model, Format::uai);
    EXPECT_TRUE(written.losses.empty());
    test::expect_same_model(model, parse_model(written.text, "m.uai"));
  }
}

std::vector<std::int64_t> observed(const std::string& text) {
  Model model = parse_model(markov, "m.uai");
  parse_evidence(model, text, "m.uai.evid");
  std::vector<std::int64_t> states(3, -1);
  for (std::size_t v = 0; v < 3; ++v) {
    const auto found = model.evidence.find("v" + std::to_string(v));
    if (found != model.evidence.end()) states[v] = found->second.values()[0];
  }
  return states;
}

TEST(UaiEvidence, BothFormsAreToldApartByTheNumberOfWords) {
  using States = std::vector<std::int64_t>;
  EXPECT_EQ(observed("2 1 0 2 1"), (States{-1, 0, 1}));
  EXPECT_EQ(observed("1\n2 1 0 2 1\n"), (States{-1, 0, 1}));  // one sample, as before 2014
  EXPECT_EQ(observed("1 2 2"), (States{-1, -1, 2}));
  EXPECT_EQ(observed("1\n1 2 2"), (States{-1, -1, 2}));
  EXPECT_EQ(observed("0"), (States{-1, -1, -1}));
  EXPECT_EQ(observed("1\n0\n"), (States{-1, -1, -1}));
}

TEST(UaiEvidence, ReplacesWhatWasThere) {
  Model model = parse_model(markov, "m.uai");
  observe(model, "v0=1");
  parse_evidence(model, "1 2 2", "e");
  EXPECT_EQ(model.evidence, (Evidence{{"v2", Integers({}, {2})}}));
  EXPECT_EQ(model.observed.size(), 1U);
  EXPECT_EQ(uai_evidence_text(model), "1 2 2\n");
}

TEST(UaiAnswer, IsInDecimalLogarithms) {
  EXPECT_EQ(uai_pr(std::log(1000.0)), "PR\n2.9999999999999996\n");
  EXPECT_EQ(uai_pr(-INFINITY), "PR\n-inf\n");
  EXPECT_EQ(uai_mar({{0.1, 0.9}, {0.25, 0.25, 0.5}}), "MAR\n2 2 0.1 0.9 3 0.25 0.25 0.5\n");
  EXPECT_EQ(uai_map({0, 1, 0}), "MAP\n3 0 1 0\n");
}

}  // namespace
}  // namespace plated
