// Malformed, truncated and empty files: each gives one FormatError with file, line and reason in one line.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "plated/error.hpp"
#include "plated/model_file.hpp"

namespace plated {
namespace {

struct Hostile {
  const char* name;
  std::string text;
  std::int64_t line;
  const char* reason;  // part of the message
};

void PrintTo(const Hostile& hostile, std::ostream* out) { *out << hostile.name; }

class HostileModel : public testing::TestWithParam<Hostile> {};

std::string file_of(const Hostile& hostile) {
  const std::string name = hostile.name;
  return "bad." + name.substr(0, name.find('_'));
}

void expect_refused(const Hostile& hostile, const auto& action) {
  const std::string file = file_of(hostile);
  try {
    action(file);
    FAIL() << "was not refused";
  } catch (const FormatError& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.file(), file);
    EXPECT_EQ(error.line(), hostile.line) << message;
    EXPECT_TRUE(message.starts_with(file + ":" + std::to_string(hostile.line) + ": ")) << message;
    EXPECT_NE(message.find(hostile.reason), std::string::npos) << message;
    EXPECT_EQ(message.find_first_of("\n\r"), std::string::npos) << message;
    EXPECT_LT(message.size(), 300U) << message;
  }
}

TEST_P(HostileModel, IsRefusedInOneLine) {
  expect_refused(GetParam(), [&](const std::string& file) { (void)parse_model(GetParam().text, file); });
}

std::string repeated(const std::string& piece, int times) {
  std::string text;
  for (int k = 0; k < times; ++k) text += piece;
  return text;
}

const std::string net =
    "network n {}\nvariable a { type discrete [2] { y n }; }\nvariable b { type discrete [2] { y n }; }\n";

std::string plated(const std::string& rest) {
  return "{\"format\": \"plated\", \"version\": 1, \"space\": \"real\",\n" + rest + "}";
}

std::string one_factor(const std::string& factor) {
  return plated("\"plates\": {\"i\": 2}, \"variables\": {\"x\": 2},\n\"factors\": [" + factor + "]");
}

INSTANTIATE_TEST_SUITE_P(
    Uai, HostileModel,
    testing::Values(Hostile{"uai_nothing", "", 1, "begins with MARKOV or BAYES"},
                    Hostile{"uai_another_word", "LIMID 2", 1, "not with 'LIMID'"},
                    Hostile{"uai_only_the_word", "MARKOV", 1, "the file ends where a number of variables should be"},
                    Hostile{"uai_gigantic_variables", "MARKOV\n1000000000000000000\n2 2\n1\n1 0", 2,
                            "only 10 bytes of the file are left"},
                    Hostile{"uai_beyond_64_bits", "MARKOV\n99999999999999999999999", 2, "is not a number of variables"},
                    Hostile{"uai_negative_variables", "MARKOV\n-3\n", 2, "'-3' is not a number of variables"},
                    Hostile{"uai_no_states", "MARKOV 1\n0", 2, "'0' is not a number of states"},
                    Hostile{"uai_negative_states", "MARKOV 1\n-2\n", 2, "'-2' is not a number of states"},
                    Hostile{"uai_gigantic_factors", "MARKOV 1 2\n987654321987654321", 2, "bytes of the file are left"},
                    Hostile{"uai_gigantic_scope", "MARKOV 1 2 1\n4000000000", 2, "bytes of the file are left"},
                    Hostile{"uai_unknown_variable", "MARKOV 2 2 2 1\n2 0 2\n4 1 1 1 1", 2, "there is no variable 2"},
                    Hostile{"uai_variable_twice", "MARKOV 2 2 2 1\n2 0 0\n4 1 1 1 1", 2, "the variable 0 twice"},
                    Hostile{"uai_wrong_count", "MARKOV 2 2 2 1 2 0 1\n\n5 1 1 1 1 1", 3,
                            "factor 0 has 5 entries, and its variables' states make 4"},
                    Hostile{"uai_gigantic_table", "MARKOV 2 3000000000 300000000 1 2 0 1\n900000000000000000 1", 2,
                            "only 2 bytes of the file are left"},
                    Hostile{"uai_overflowing_table", "MARKOV 3 9000000000 9000000000 9000000000 1 3 0 1 2\n4 1", 2, ""},
                    Hostile{"uai_truncated_table", "MARKOV 1 4 1 1 0 4\n1 2\n3", 3, "ends in the middle of a table"},
                    Hostile{"uai_nan", "MARKOV 1 2 1 1 0 2\n1 nan", 2, "'nan' is not a number"},
                    Hostile{"uai_infinity", "MARKOV 1 2 1 1 0 2\n1 inf", 2, "'inf' is infinite"},
                    Hostile{"uai_too_large", "MARKOV 1 2 1 1 0 2\n1 1e999", 2, "'1e999' is infinite"},
                    Hostile{"uai_negative_weight", "MARKOV 1 2 1 1 0 2\n1 -0.5", 2, "'-0.5' is below zero"},
                    Hostile{"uai_word_in_table", "MARKOV 1 2 1 1 0 2\n1 0.5x", 2, "'0.5x' is not a number"},
                    Hostile{"uai_entry_too_many", "MARKOV 1 2 1 1 0 2\n1 2 3", 2, "'3' follows"},
                    Hostile{"uai_binary", std::string("MARKOV \0\x01\xff\xfe", 11), 1,
                            "is not a number of variables"}));

INSTANTIATE_TEST_SUITE_P(
    Bif, HostileModel,
    testing::Values(
        Hostile{"bif_nothing", "", 1, "has variables, and this one has none"},
        Hostile{"bif_unknown_block", "netwerk n {}", 1, "not 'netwerk'"},
        Hostile{"bif_open_network", "network n {", 1, "the file ends in the network"},
        Hostile{"bif_not_utf8", "network n {}\nvariable \xff\xfe", 2, "not UTF-8"},
        Hostile{"bif_wrong_count", "variable a {\ntype discrete [3] { y n }; }", 2,
                "is said to have '3' states and lists 2"},
        Hostile{"bif_negative_count", "variable a {\ntype discrete [-2] { y n }; }", 2, "'-2' states"},
        Hostile{"bif_gigantic_count", "variable a {\ntype discrete [1000000000000000000] { y n }; }", 2,
                "states and lists 2"},
        Hostile{"bif_continuous", "variable a { type continuous; }", 1, "is not discrete but 'continuous'"},
        Hostile{"bif_state_twice", "variable a { type discrete [2] { y y }; }", 1, "has the state 'y' twice"},
        Hostile{"bif_variable_twice", net + "variable a { type discrete [1] { z }; }", 4, "'a' is declared twice"},
        Hostile{"bif_no_type", "variable a { }", 1, "has no type"},
        Hostile{"bif_open_quote", "variable \"a { type\n", 1, "quotation mark is not closed"},
        Hostile{"bif_open_comment", "network n {}\n/* for ever", 2, "comment is not closed"},
        Hostile{"bif_unknown_variable", net + "probability ( z ) { }", 4, "there is no variable 'z'"},
        Hostile{"bif_unknown_state", net + "probability ( a | b ) {\n (maybe) 1 0; }", 5, "'b' has no state 'maybe'"},
        Hostile{"bif_row_too_short", net + "probability ( a | b ) {\n (y) 1; }", 5, "this row has 1 numbers, not 2"},
        Hostile{"bif_row_twice", net + "probability ( a | b ) {\n(y) 1 0;\n(y) 0 1; }", 6, "has this row twice"},
        Hostile{"bif_missing_row", net + "probability ( a | b ) { (y) 1 0; }", 4, "has 1 rows of 2, and no default"},
        Hostile{"bif_missing_numbers", net + "probability ( a ) { }", 4, "has 0 rows of 1"},
        Hostile{"bif_table_too_long", net + "probability ( a ) { table 1 0 0; }", 4, "its table has 3 numbers, not 2"},
        Hostile{"bif_table_and_rows", net + "probability ( a ) { table 1 0; default 1 0; }", 4,
                "both a table and rows"},
        Hostile{"bif_given_twice", net + "probability ( a ) { table 1 0; }\nprobability ( a ) { table 1 0; }", 5,
                "is given twice"},
        Hostile{"bif_its_own_parent", net + "probability ( a | a ) { default 1 0; }", 4, "names 'a' twice"},
        Hostile{"bif_circle", net + "probability ( a | b ) { default 1 0; }\nprobability ( b | a ) { default 1 0; }", 4,
                "form a cycle: a → b → a"},
        Hostile{"bif_nan", net + "probability ( a ) { table nan 1; }", 4, "'nan' is not a number"},
        Hostile{"bif_negative", net + "probability ( a ) { table -1 2; }", 4, "'-1' is below zero"},
        Hostile{"bif_truncated", net + "probability ( a ) { table 0.5, 0.", 4, "the file ends"},
        Hostile{"bif_binary", "variable a { \x01\x02\x03", 1, "the file ends in variable 'a'"}));

INSTANTIATE_TEST_SUITE_P(
    Plated, HostileModel,
    testing::Values(
        Hostile{"json_nothing", "", 1, "ends in the middle"},
        Hostile{"json_truncated", "{\"format\": \"plated\",\n\"version\"", 2, "':' should be here"},
        Hostile{"json_deep", repeated("[", 100000), 1, "nested more than 100 deep"},
        Hostile{"json_deep_objects", repeated("{\"a\":", 100000), 1, "nested more than 100 deep"},
        Hostile{"json_behind_the_end", plated("\"factors\": []") + "\n{}", 3, "continues after its end"},
        Hostile{"json_key_twice", "{\"format\": \"plated\",\n\"format\": 1}", 2, "the key 'format' is there twice"},
        Hostile{"json_control_character", "{\"a\nb\": 1}", 1, "a control character"},
        Hostile{"json_bad_escape", "{\"\\x\": 1}", 1, "no such escape"},
        Hostile{"json_half_a_pair", "{\"\\ud800\": 1}", 1, "half a surrogate pair"},
        Hostile{"json_not_utf8", "{\"\xff\": 1}", 1, "not UTF-8"},
        Hostile{"json_leading_zero", "{\"a\": 01}", 1, "not '01}'"},
        Hostile{"json_nan", "{\"a\": NaN}", 1, "not 'NaN}'"},
        Hostile{"json_beyond_a_double", "{\"a\": 1e999}", 1, "does not fit in a double"},
        Hostile{"json_another_format", "{\"format\": \"other\"}", 1, "'format' should be"},
        Hostile{"json_another_version", "{\"format\": \"plated\",\n \"version\": 2}", 2, "only version 1"},
        Hostile{"json_no_space", "{\"format\": \"plated\", \"version\": 1}", 1, "lacks 'space'"},
        Hostile{"json_unknown_key", plated("\"platez\": {}, \"factors\": []"), 2, "has no 'platez'"},
        Hostile{"json_no_factors", plated("\"variables\": {}"), 1, "lacks 'factors'"},
        Hostile{"json_negative_plate", plated("\"plates\": {\"i\": -1}, \"factors\": []"), 2, "whole number from 0"},
        Hostile{"json_fractional_plate", plated("\"plates\": {\"i\": 1.5}, \"factors\": []"), 2, "whole number from 0"},
        Hostile{"json_gigantic_plate", plated("\"plates\": {\"i\": 1e18}, \"factors\": []"), 2, "whole number from 0"},
        Hostile{"json_bad_name", plated("\"variables\": {\"a b\": 2}, \"factors\": []"), 2, "cannot be part of a name"},
        Hostile{"json_endless_name",
                plated("\"variables\": {\"" + std::string(5000, 'a') + " b\": 2}, \"factors\": []"), 2, ""},
        Hostile{"json_two_kinds", plated("\"plates\": {\"a\": 2}, \"variables\": {\"a\": 2}, \"factors\": []"), 2,
                "'a' is declared twice"},
        Hostile{"json_states_and_size",
                plated("\"variables\": {\"a\": {\"size\": 3, \"states\": [\"x\"]}}, \"factors\": []"), 2,
                "size 3 and names 1"},
        Hostile{"json_unknown_plate",
                plated("\"variables\": {\"a\": {\"size\": 3, \"plates\": [\"q\"]}}, \"factors\": []"), 2,
                "unknown dim 'q'"},
        Hostile{"json_bad_link",
                plated("\"chains\": {\"t\": {\"size\": 3, \"links\":\n [[\"a\", \"b\"]]}}, \"factors\": []"), 3, "'a'"},
        Hostile{"json_link_of_three",
                plated("\"chains\": {\"t\": {\"size\": 3, \"links\": [[\"a\", \"b\", \"c\"]]}}, \"factors\": []"), 2,
                "should be pairs"},
        Hostile{"json_unknown_dim", one_factor("{\"dims\": [\"z\"], \"values\": []}"), 3,
                "'z', which nothing declares"},
        Hostile{"json_unknown_tied", one_factor("{\"dims\": [\"x\"], \"tied\": [\"z\"], \"values\": [1, 1]}"), 3,
                "unknown dim 'z'"},
        Hostile{"json_no_values", one_factor("{\"dims\": [\"x\"]}"), 3, "lacks 'values'"},
        Hostile{"json_too_few", one_factor("{\"dims\": [\"x\"], \"values\": [1]}"), 3, "a list of 2 here"},
        Hostile{"json_too_many_flat", one_factor("{\"dims\": [\"i\", \"x\"], \"values\": [1, 2, 3, 4, 5]}"), 3,
                "has 5 numbers, and the shape (2, 2) has 4"},
        Hostile{"json_ragged", one_factor("{\"dims\": [\"i\", \"x\"], \"values\": [[1, 2],\n[3]]}"), 4,
                "a list of 2 here"},
        Hostile{"json_not_a_number", one_factor("{\"dims\": [\"x\"], \"values\": [1, \"two\"]}"), 3, "a number here"},
        Hostile{"json_negative_weight", one_factor("{\"dims\": [\"x\"], \"values\": [1, -1]}"), 3, "is below zero"},
        Hostile{"json_infinite_weight", one_factor("{\"dims\": [\"x\"], \"values\": [1, \"-inf\"]}"), 3, "is infinite"},
        Hostile{"json_gigantic_shape",
                plated("\"plates\": {\"i\": 9000000000000000, \"j\": 9000000000000000}, \"factors\":\n[{\"dims\": "
                       "[\"i\", \"j\"], \"values\": [1]}]"),
                3, "63 bits"},
        Hostile{"json_outside_its_plate",
                plated("\"plates\": {\"i\": 2}, \"variables\": {\"x\": {\"size\": 1, \"plates\": "
                       "[\"i\"]}},\n\"factors\": [{\"dims\": [\"x\"], \"values\": [1]}]"),
                1, "'x'"},
        Hostile{"json_file_without_folder", one_factor("{\"dims\": [\"x\"], \"values\": {\"file\": \"f.npy\"}}"), 3,
                "has no folder to look in"},
        Hostile{"json_child_it_lacks",
                one_factor("{\"dims\": [\"x\"], \"values\": [0, 1], \"distribution_of\": \"i\"}"), 3, "'i'"},
        Hostile{"json_evidence_of_nothing", plated("\"factors\": [], \"evidence\": {\"q\": 1}"), 2, "no variable 'q'"},
        Hostile{"json_evidence_of_no_state",
                plated("\"variables\": {\"x\": 2}, \"factors\": [], \"evidence\": {\"x\": 2}"), 2,
                "has no state 2, only 2"},
        Hostile{"json_evidence_shape", plated("\"variables\": {\"x\": 2}, \"factors\": [], \"evidence\": {\"x\": [1]}"),
                2, "has the shape (1), not ()"},
        Hostile{"json_length_too_long",
                plated("\"chains\": {\"t\": {\"size\": 2, \"links\": [[\"a\", \"b\"]]}}, \"variables\": {\"a\": 2, "
                       "\"b\": 2}, \"factors\": [{\"dims\": [\"t\", \"a\", \"b\"], \"values\": [1,1,1,1,1,1,1,1]}], "
                       "\"lengths\": {\"t\": 3}"),
                2, "more than its 2 slices"}));

class HostileEvidence : public testing::TestWithParam<Hostile> {};

TEST_P(HostileEvidence, IsRefusedInOneLine) {
  Model model = parse_model("MARKOV 3 2 2 3 1 1 0 2 1 1", "m.uai");
  expect_refused(GetParam(), [&](const std::string& file) { parse_evidence(model, GetParam().text, file); });
  EXPECT_TRUE(model.evidence.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Evidence, HostileEvidence,
    testing::Values(Hostile{"evid_nothing", "\n", 1, "is empty; no evidence is written as 0"},
                    Hostile{"evid_truncated", "2 0 1 1", 1, "2, but 3 numbers follow"},
                    Hostile{"evid_too_long", "1 0 1 1 1", 1, "1, but 4 numbers follow"},
                    Hostile{"evid_gigantic", "9223372036854775807 0 1", 1, "but 2 numbers follow"},
                    Hostile{"evid_two_samples", "2\n1 0 1\n1 0 0", 1, "holds 2 samples of evidence"},
                    Hostile{"evid_unknown_variable", "1\n1 3 0", 2, "there is no variable 3"},
                    Hostile{"evid_unknown_state", "1 2\n3", 2, "variable 2 has no state 3, only 3"},
                    Hostile{"evid_negative", "1 0 -1", 1, "'-1' is not"},
                    Hostile{"evid_twice", "2 0 1\n0 1", 2, "variable 0 is observed twice"},
                    Hostile{"evid_word", "1 a 1", 1, "'a' is not"},
                    Hostile{"evid_unknown_name", "{\"v0\": 1,\n\"w\": 1}", 2, "no variable 'w'"}));

TEST(HostileFiles, AreRefusedQuickly) {
  const auto begin = std::chrono::steady_clock::now();
  std::string many = "network n {}\n";
  for (int k = 0; k < 20000; ++k)
    many += "variable \"" + std::string(1 + k % 7, '-') + std::to_string(k) + "\" { type discrete [1] { x }; }\n";
  EXPECT_EQ(variables(parse_model(many, "n.bif")).size(), 20000U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(HostileFiles, EveryTruncationIsRefusedOrRead) {
  const std::string texts[] = {"MARKOV\n2\n2 2\n1\n2 0 1\n4\n1.5 2 3 4\n",
                               net + "probability ( a | b ) { (y) 1 0; default 0.5 0.5; }",
                               plated("\"plates\": {\"i\": 2}, \"variables\": {\"x\": {\"states\": [\"a\", \"b\"]}}, "
                                      "\"factors\": [{\"dims\": [\"i\", \"x\"], "
                                      "\"values\": [[1, 2], [3, 4]]}], \"evidence\": {\"x\": [\"a\", null]}")};
  for (const std::string& text : texts) {
    for (std::size_t length = 0; length < text.size(); ++length) {
      try {
        (void)parse_model(text.substr(0, length), "cut.model");
      } catch (const FormatError& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      }
    }
  }
}

TEST(HostileFiles, MissingFilesAndFoldersAreFileErrors) {
  EXPECT_THROW((void)read_model("there/is/none.uai"), FileError);
  EXPECT_THROW((void)read_model("."), FileError);
}

}  // namespace
}  // namespace plated
