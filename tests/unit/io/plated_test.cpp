// The plated format: plates, chains, tied dims, arrays in files, evidence.
#include <gtest/gtest.h>

#include <limits>

#include "plated/error.hpp"
#include "plated/json.hpp"
#include "plated/model_file.hpp"
#include "plated/npy.hpp"
#include "same_model.hpp"
#include "scratch.hpp"
#include "unit/graph/message_of.hpp"

namespace plated {
namespace {

using test::message_of;
constexpr double inf = std::numeric_limits<double>::infinity();

const std::string chained = R"({
  "format": "plated", "version": 1, "space": "log", "comment": "an HMM in a plate",
  "plates": {"n": 2}, "chains": {"t": {"size": 3, "links": [["a", "b"]]}}, "batch": {"k": 1},
  "variables": {"a": 2, "b": {"states": ["lo", "hi"], "label": "the level"}, "y": {"size": 2, "plates": ["n", "t"], "observed": true}},
  "factors": [
    {"name": "start", "dims": ["a"], "tied": ["n"], "values": [0, "-inf"], "distribution_of": "a"},
    {"dims": ["a", "b"], "tied": ["t", "n"], "values": [-1, -2, -3, -4], "dtype": "float32"},
    {"dims": ["k", "b", "y"], "tied": ["n", "t"], "values": [[["-inf", 0], [0, "-inf"]]]}
  ],
  "outputs": [[], ["n", "b$"]],
  "evidence": {"y": [[0, null, 1], [1, 1, -1]]},
  "lengths": {"t": [3, 2]}
})";

TEST(Plated, ReadsPlatesChainsAndTiedDims) {
  const Model model = parse_model(chained, "m.json");
  const FactorGraph& graph = model.graph;
  EXPECT_EQ(graph.chains()[0].links.size(), 1U);
  EXPECT_EQ(model.space, Space::log);
  EXPECT_EQ(model.factors[0].values(), (std::vector<double>{0, -inf}));
  EXPECT_EQ(model.factors[1].dtype(), Dtype::float32);
  EXPECT_EQ(model.factors[1].shape(), (Tensor::Shape{2, 2}));
  EXPECT_EQ(model.factors[2].values(), (std::vector<double>{-inf, 0, 0, -inf}));
  EXPECT_EQ(model.children[0], "^a");
  EXPECT_TRUE(graph.factors()[0].distribution_of.has_value());
  EXPECT_EQ(graph.outputs().size(), 2U);
  EXPECT_EQ(model.evidence.at("y"), Integers({2, 3}, {0, -1, 1, 1, 1, -1}));
  EXPECT_EQ(model.lengths.at("t"), Integers({2}, {3, 2}));
  EXPECT_EQ(model.states.at("b"), (std::vector<std::string>{"lo", "hi"}));
  EXPECT_EQ(label(model, "b"), "the level");
  EXPECT_TRUE(model.observed.contains("y"));
}

TEST(Plated, RoundTrips) {
  const Model model = parse_model(chained, "m.json");
  const ModelText written = model_text(model, Format::plated);
  EXPECT_TRUE(written.losses.empty());
  const Model again = parse_model(written.text, "again.json");
  test::expect_same_model(model, again);
  EXPECT_EQ(model_text(again, Format::plated).text, written.text);
}

TEST(Plated, AChainDeclaredBeforeAPlateKeepsItsEvidence) {
  Model model;
  model.graph.chain("t", 2);
  model.graph.plate("i", 3);
  model.graph.variable("a", 2);
  model.graph.variable("b", 2);
  model.graph.link("t", "a", "b");
  model.graph.factor("f", {"t", "i", "a", "b"});
  model.graph.output({});
  model.factors = {Tensor(Dtype::float64, {2, 3, 2, 2})};
  model.children = {""};
  model.evidence.emplace("a", Integers({2, 3}, {0, 1, -1, 1, 0, -1}));
  model.observed = {"a"};
  const Model again = parse_model(model_text(model, Format::plated).text, "m.json");
  EXPECT_EQ(again.evidence.at("a"), Integers({3, 2}, {0, 1, 1, 0, -1, -1}));
}

TEST(Plated, ShippedModelsRoundTrip) {
  for (const char* name : {"anesthesia.json", "earthquakes.json", "sprinkler.bif", "ring.uai"}) {
    SCOPED_TRACE(name);
    const Model model = read_model(std::filesystem::path(PLATED_MODELS) / name);
    EXPECT_TRUE(model.notes.empty());
    test::expect_same_model(model, parse_model(model_text(model, Format::plated).text, "again.json"));
  }
}

std::string with_values(const std::string& values) {
  return R"({"format": "plated", "version": 1, "space": "real", "plates": {"i": 2}, "variables": {"x": 3},
  "factors": [{"name": "f", "dims": ["i", "x"], "values": )" +
         values + "}]}";
}

std::string with_factors(const std::string& first, const std::string& second) {
  return R"({"format": "plated", "version": 1, "space": "real", "variables": {"x": 2}, "factors": [
  {)" + first +
         R"("dims": ["x"], "values": [1, 2]},
  {)" + second +
         R"("dims": ["x"], "values": [3, 4]}], "outputs": []})";
}

TEST(Plated, RefusesTwoFactorsOfOneName) {
  const std::string twice = with_factors(R"("name": "f", )", R"("name": "f", )");
  EXPECT_SAYS(message_of<FormatError>([&] { (void)parse_model(twice, "m.json"); }),
              "m.json:3: factors 0 and 1 are both named 'f'");
}

TEST(Plated, FactorsWithoutANameAvoidThoseThatTheFileGives) {
  const Model model = parse_model(with_factors("", R"("name": "f0", )"), "m.json");
  EXPECT_EQ(model.graph.factors()[0].name, "f1");
  EXPECT_EQ(model.graph.factors()[1].name, "f0");
}

TEST(Plated, ReadsArraysBesideTheModel) {
  const test::Scratch scratch;
  const Tensor numbers = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  write_npy(scratch.folder() / "f.npy", numbers);
  const Model model = read_model(scratch.put("m.json", with_values(R"({"file": "f.npy"})")));
  test::expect_same_numbers(model.factors[0], numbers);
  EXPECT_EQ(model.name, "m");
}

TEST(Plated, ArraysStayInsideTheFolderUnlessAllowed) {
  const test::Scratch scratch;
  write_npy(scratch.folder() / "f.npy", Tensor::of<double>({2, 3}, {1, 2, 3, 4, 5, 6}));
  std::filesystem::create_directory(scratch.folder() / "inner");
  for (const std::string& file :
       {std::string("../f.npy"), (scratch.folder() / "f.npy").string(), std::string("a/../../f.npy")}) {
    const auto path = scratch.put("inner/m.json", with_values(R"({"file": ")" + file + "\"}"));
    EXPECT_SAYS(message_of<FormatError>([&] { (void)read_model(path); }), "m.json:2: '" + file.substr(0, 5));
  }
  const auto path = scratch.put("inner/m.json", with_values(R"({"file": "../f.npy"})"));
  EXPECT_EQ(read_model(path, {.outside_folder = true}).factors[0].at({1, 2}), 6);
}

TEST(Plated, ChecksArraysInFilesUnlessTold) {
  const test::Scratch scratch;
  write_npy(scratch.folder() / "f.npy", Tensor::of<double>({2, 3}, {1, 2, 3, 4, -5, 6}));
  const auto path = scratch.put("m.json", with_values(R"({"file": "f.npy"})"));
  EXPECT_SAYS(message_of<FormatError>([&] { (void)read_model(path); }),
              "m.json:2: a number in the file of factor 'f' is below zero, and weights are not");
  EXPECT_EQ(read_model(path, {.check_arrays = false}).factors[0].at({1, 1}), -5);
}

TEST(Plated, WritesLargeFactorsBesideTheModel) {
  const test::Scratch scratch;
  const Model model = parse_model(with_values("[[1, 2, 3], [4, 5, 6]]"), "m.json");
  EXPECT_TRUE(write_model(model, scratch.folder() / "big.json", {.most_inline = 5}).empty());
  EXPECT_EQ(scratch.files(), 2);
  const Model again = read_model(scratch.folder() / "big.json");
  test::expect_same_numbers(model.factors[0], again.factors[0]);
}

TEST(Plated, TheExampleOfTheDocumentationIsRead) {
  const test::Scratch scratch;
  write_npy(scratch.folder() / "gauges.npy", Tensor(Dtype::float64, {3, 2, 2}));
  std::ifstream page(PLATED_FORMATS_PAGE);
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  const std::size_t begin = text.find("```json\n") + 8;
  ASSERT_LT(begin, text.size());
  const Model model = read_model(scratch.put("m.json", text.substr(begin, text.find("```", begin) - begin)));
  EXPECT_EQ(model.name, "weather stations");
  EXPECT_EQ(model.evidence.at("gauge").at({0, 2}), 1);
}

TEST(Plated, EvidenceFilesGoByNames) {
  Model model = parse_model(chained, "m.json");
  parse_evidence(model, R"({"the level": [["hi", "lo", null], [0, 1, null]]})", "e.json");
  EXPECT_EQ(model.evidence.at("b"), Integers({2, 3}, {1, 0, -1, 0, 1, -1}));
  EXPECT_EQ(model.evidence.size(), 1U);
}

std::string with_rows(const std::string& evidence) {
  return R"({"format": "plated", "version": 1, "space": "real", "plates": {"i": 3, "j": 2},
  "variables": {"t": {"size": 2, "plates": ["i"]}, "v": {"states": ["no", "yes"], "plates": ["i", "j"]}},
  "factors": [{"name": "p", "dims": ["t"], "tied": ["i"], "distribution_of": "t", "values": [0.5, 0.5]},
              {"name": "v", "dims": ["t", "v"], "tied": ["i", "j"], "distribution_of": "v", "values": [[0.8, 0.2], [0.4, 0.6]]}],
  "evidence": {"v": )" +
         evidence + "}}";
}

TEST(Plated, HasEvidenceInRows) {
  const Model model = parse_model(
      with_rows(R"({"states": ["yes", 0, null, 1], "slices": {"i": [2, 0, 1, 2], "j": [1, 0, 0, 1]}})"), "m.json");
  EXPECT_EQ(model.lists.at("v").states, Integers({4}, {1, 0, -1, 1}));
  EXPECT_EQ(model.lists.at("v").slices.at("i"), Integers({4}, {2, 0, 1, 2}));
  EXPECT_TRUE(model.evidence.empty());
  EXPECT_TRUE(model.observed.contains("v"));
  const ModelText written = model_text(model, Format::plated);
  test::expect_same_model(parse_model(written.text, "again.json"), model);
  Model other = parse_model(with_rows("[[0, 0], [1, 1], [null, 0]]"), "m.json");
  parse_evidence(other, R"({"v": {"states": [1], "slices": {"i": [0], "j": [1]}}})", "e.json");
  EXPECT_TRUE(other.evidence.empty());
  EXPECT_EQ(other.lists.at("v").states, Integers({1}, {1}));
  parse_evidence(other, R"({"t": [0, 0, 1]})", "e.json");
  EXPECT_TRUE(other.lists.empty());
  EXPECT_FALSE(other.observed.contains("v"));
}

TEST(Plated, RefusesRowsThatMakeNoSense) {
  const auto refused = [](const std::string& evidence) {
    return message_of<FormatError>([&] { (void)parse_model(with_rows(evidence), "m.json"); });
  };
  EXPECT_SAYS(refused(R"({"states": [1], "slices": {"i": [3], "j": [0]}})"),
              "m.json:5: row 0 of the data of 'v' is about slice 3 of 'i', which has 3");
  EXPECT_SAYS(refused(R"({"states": [2], "slices": {"i": [0], "j": [0]}})"), "'v' has no state 2");
  EXPECT_SAYS(refused(R"({"states": [1], "slices": {"i": [0]}})"), "do not say which slice of 'j'");
  EXPECT_SAYS(refused(R"({"states": [1, 0], "slices": {"i": [0], "j": [0, 1]}})"),
              "have (2) states, and (1) slices of 'i'");
  EXPECT_SAYS(refused(R"({"states": [[1]], "slices": {"i": [0], "j": [0]}})"), "lists of one axis");
  EXPECT_SAYS(refused(R"({"states": [1], "slices": [0]})"), "'slices' should be an object from plates");
  EXPECT_SAYS(refused(R"({"states": [1], "slices": {"i": [-1], "j": [0]}})"), "a slice of 'i'");
  EXPECT_SAYS(refused(R"({"states": [1]})"), "slices");
}

TEST(Observe, TakesNamesStatesAndIndices) {
  Model model = parse_model(chained, "m.json");
  EXPECT_EQ(observe(model, "the level[1,2]=hi"), "b[1,2]");
  EXPECT_EQ(observe(model, "b[0,0]=0"), "b[0,0]");
  EXPECT_EQ(model.evidence.at("b"), Integers({2, 3}, {0, -1, -1, -1, -1, 1}));
  EXPECT_SAYS(message_of<UnknownNameError>([&] { observe(model, "z=1"); }), "no variable 'z'");
  EXPECT_SAYS(message_of<UnknownNameError>([&] { observe(model, "b[0,0]=mid"); }), "'b' has no state 'mid'");
  EXPECT_SAYS(message_of<SizeError>([&] { observe(model, "b=hi"); }), "'b' lives in 2 plates");
  EXPECT_SAYS(message_of<SizeError>([&] { observe(model, "b[2,0]=hi"); }), "plate 'n' has no slice 2, only 2");
  EXPECT_SAYS(message_of<ParseError>([&] { observe(model, "b"); }), "'variable=state'");
}

TEST(Observe, ARefusalChangesNothing) {
  Model model = parse_model(with_values("[1,2,3,4,5,6]"), "m.json");
  EXPECT_THROW(observe(model, "x=1"), SizeError);
  EXPECT_THROW(observe(model, "x[7]=1"), SizeError);
  EXPECT_TRUE(model.evidence.empty());
}

TEST(Observe, FindsUnrolledNamesAndStatesWithSigns) {
  Model model = parse_model("network n {} variable a { type discrete [2] { <=5 >5 }; }", "n.bif");
  EXPECT_EQ(observe(model, "a=<=5"), "a");
  EXPECT_EQ(model.evidence.at("a")[0], 0);
  Model unrolled = unroll(parse_model(with_values("[1,2,3,4,5,6]"), "m.json"));
  observe(unrolled, "x[i=1]=2");
  EXPECT_EQ(unrolled.evidence.at("x[i=1]")[0], 2);
}

TEST(JsonString, EscapesWhatJsonDoes) {
  EXPECT_EQ(json_string("plain, wet grass é"), "\"plain, wet grass é\"");
  EXPECT_EQ(json_string("a \"b\" \\ /"), R"("a \"b\" \\ /")");
  EXPECT_EQ(json_string(std::string_view("\0\n\x1f\x7f", 4)), R"("\u0000\u000a\u001f\u007f")");
}

}  // namespace
}  // namespace plated
