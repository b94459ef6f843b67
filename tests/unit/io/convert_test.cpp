// Conversions: losses are reported, and models that a format cannot hold are refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "plated/error.hpp"
#include "plated/model_file.hpp"
#include "same_model.hpp"
#include "scratch.hpp"
#include "unit/graph/message_of.hpp"

namespace plated {
namespace {

using test::message_of;
using Strings = std::vector<std::string>;

Model shipped(const std::string& name) { return read_model(std::filesystem::path(PLATED_MODELS) / name); }

TEST(InSpace, TakesLogarithmsAndWeights) {
  Model model = shipped("sprinkler.bif");
  const Model logs = in_space(model, Space::log);
  EXPECT_EQ(logs.factors[3].at({1, 1, 0}), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(logs.factors[1].at({0, 0}), std::log(0.1));
  EXPECT_EQ(in_space(logs, Space::real).factors[3].at({1, 1, 0}), 0);
  model.factors[0] = Tensor::of<double>({2}, {1, -1});
  EXPECT_SAYS(message_of<ValueError>([&] { (void)in_space(model, Space::log); }), "'cloudy' is below zero");
  Model large = logs;
  large.factors[0] = Tensor::of<double>({2}, {1000, 0});
  EXPECT_SAYS(message_of<ValueError>([&] { (void)in_space(large, Space::real); }), "too large");
}

TEST(Unroll, SlicesNumbersStatesAndEvidence) {
  const Model model = shipped("anesthesia.json");
  const Model flat = unroll(model);
  EXPECT_EQ(variables(flat).size(), 45U + 45U * 7U);
  EXPECT_EQ(flat.factors.size(), 45U + 45U * 7U);
  EXPECT_EQ(flat.evidence.size(), 45U * 7U);
  EXPECT_TRUE(flat.directed);
  EXPECT_EQ(flat.states.at("truth[patient=3]"), model.states.at("truth"));
  EXPECT_EQ(flat.evidence.at("grade[patient=44,sitting=6]")[0], model.evidence.at("grade").at({44, 6}));
  const std::size_t f = 45 + 7 * 2 + 4;  // patient 2, sitting 4
  EXPECT_EQ(flat.graph.factors()[f].name, "confusion[patient=2,sitting=4]");
  EXPECT_EQ(flat.children[f], "grade[patient=2,sitting=4]");
  EXPECT_EQ(flat.factors[f].at({1, 2}), model.factors[1].at({4, 1, 2}));
}

TEST(Unroll, NumbersTheStatesOfAChain) {
  Model model = shipped("earthquakes.json");
  observe(model, "level[3]=violent");
  observe(model, "before[4]=violent");
  const Model flat = unroll(model);
  EXPECT_EQ(flat.evidence.at("before[year=4]")[0], 2);  // slice 3's level is slice 4's before
  EXPECT_EQ(flat.evidence.size(), 108U);
  EXPECT_EQ(flat.states.at("before[year=107]"), model.states.at("level"));
  EXPECT_TRUE(flat.directed);
  Integers before = model.evidence.at("before").integers();
  before.values[4] = 0;
  model.evidence.at("before") = before;
  EXPECT_SAYS(message_of<ImpossibleError>([&] { (void)unroll(model); }), "'before[year=4]' is observed in two states");
}

TEST(Convert, UaiLosesNamesAndSaysSo) {
  const ModelText written = model_text(shipped("sprinkler.bif"), Format::uai);
  EXPECT_EQ(written.losses, (Strings{"names of variables: they become v0, v1, … in the same order",
                                     "names of states: they become 0, 1, … in the same order"}));
  EXPECT_TRUE(written.text.starts_with("BAYES\n4\n2 2 2 2\n4\n1 0\n2 0 1\n2 0 2\n3 1 2 3\n"));
}

TEST(Convert, PlatesAreRefusedUntilUnrolled) {
  const Model model = shipped("anesthesia.json");
  EXPECT_SAYS(message_of<OptionError>([&] { (void)model_text(model, Format::uai); }),
              "the model has the plate 'patient', which uai files cannot hold: unroll it first");
  const test::Scratch scratch;
  const Model flat = unroll(model);
  EXPECT_EQ(write_model(flat, scratch.folder() / "m.uai").size(), 2U);
  Model again = read_model(scratch.folder() / "m.uai");
  read_evidence(again, scratch.folder() / "m.uai.evid");
  EXPECT_EQ(again.evidence.size(), flat.evidence.size());
  ASSERT_EQ(again.factors.size(), flat.factors.size());
  for (std::size_t f = 0; f < flat.factors.size(); ++f) test::expect_same_numbers(flat.factors[f], again.factors[f]);
  test::expect_same_model(flat, parse_model(model_text(flat, Format::plated).text, "m.json"));
  const ModelText bif = model_text(flat, Format::bif);
  EXPECT_EQ(bif.losses, (Strings{"the evidence"}));
  EXPECT_EQ(parse_model(bif.text, "m.bif").labels.size(), 0U);  // brackets can be spelled
}

TEST(Convert, UndirectedModelsAreNoBif) {
  EXPECT_SAYS(message_of<OptionError>([] { (void)model_text(shipped("ring.uai"), Format::bif); }), "is not directed");
}

TEST(Convert, RepeatedDimsBecomeDiagonals) {
  Model model;
  model.graph.variable("x", 2);
  model.graph.factor("f", {"x", "x"});
  model.graph.output({"x"});
  model.factors = {Tensor::of<double>({2, 2}, {1, 2, 3, 4})};
  model.children = {""};
  const ModelText written = model_text(model, Format::uai);
  EXPECT_EQ(written.text, "MARKOV\n1\n2\n1\n1 0\n\n2\n1 4\n");
  EXPECT_EQ(written.losses[0], "what the model is asked for: its outputs");
}

TEST(Convert, WeightsBelowTheSmallestDoubleAreSaidToBeLost) {
  Model model;
  model.graph.variable("v0", 3);
  model.graph.factor("f0", {"v0"});
  model.graph.output({});
  model.space = Space::log;
  model.factors = {Tensor::of<double>({3}, {-1000, 0, -std::numeric_limits<double>::infinity()})};
  model.children = {""};
  EXPECT_EQ(model_text(model, Format::uai).losses,
            (Strings{"1 entries of factor 'f0', whose weights are below the smallest double: they become 0"}));
}

}  // namespace
}  // namespace plated
