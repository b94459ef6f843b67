// What files say about learning, and data in files.
#include <gtest/gtest.h>

#include "plated/data_file.hpp"
#include "plated/error.hpp"
#include "plated/fit.hpp"
#include "plated/model_file.hpp"
#include "unit/graph/message_of.hpp"
#include "unit/io/same_model.hpp"
#include "unit/io/scratch.hpp"

namespace plated {
namespace {

using test::message_of;
using test::Scratch;

const std::string items = R"({
  "format": "plated", "version": 1, "space": "real",
  "plates": {"i": 3, "j": 2},
  "variables": {"x": {"states": ["no", "yes"], "plates": ["i"]}, "y": {"size": 3, "plates": ["i", "j"]},
                "z": {"states": ["a", "b"], "plates": ["i"]}, "w": {"states": ["a", "b"], "plates": ["i"]}},
  "factors": [
    {"name": "x", "dims": ["x"], "tied": ["i"], "distribution_of": "x", "learn": true, "prior": 0.5, "values": [0.5, 0.5]},
    {"name": "y", "dims": ["x", "y"], "tied": ["i", "j"], "distribution_of": "y", "learn": true,
     "prior": [[1, 2, 3], [4, 5, 6]]},
    {"name": "z", "dims": ["x", "z"], "tied": ["i"], "distribution_of": "z", "values": [[0.5, 0.5], [0.25, 0.75]]},
    {"name": "w", "dims": ["x", "w"], "tied": ["i"], "distribution_of": "w", "same_as": "z",
     "values": [[0.5, 0.5], [0.25, 0.75]]}
  ]
})";

/// The same with one text in place of another.
std::string with(const std::string& before, const std::string& after) {
  std::string text = items;
  text.replace(text.find(before), before.size(), after);
  return text;
}

/// A .npy file of single bytes.
std::string bytes_npy(const std::string& shape, const std::string& entries) {
  std::string header = "{'descr': '|i1', 'fortran_order': False, 'shape': " + shape + ", }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + entries;
}

TEST(LearningInFiles, RoundTrips) {
  const Model model = parse_model(items, "m.json");
  EXPECT_TRUE(model.learning.at("x").learn);
  EXPECT_EQ(model.learning.at("x").prior.item(), 0.5);
  EXPECT_TRUE(model.learning.at("x").started);
  EXPECT_FALSE(model.learning.at("y").started);
  EXPECT_EQ(model.learning.at("y").prior.values(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(model.learning.at("w").same_as, "z");
  EXPECT_FALSE(model.learning.contains("z"));
  EXPECT_NEAR(model.factors[1].values()[0], 1.0 / 3, 1e-15);
  const std::string written = model_text(model, Format::plated).text;
  const Model again = parse_model(written, "again.json");
  test::expect_same_model(model, again);
  EXPECT_EQ(model_text(again, Format::plated).text, written);
  ASSERT_EQ(again.learning.size(), 3U);
  EXPECT_FALSE(again.learning.at("y").started);
  EXPECT_EQ(again.learning.at("y").prior.values(), model.learning.at("y").prior.values());
  EXPECT_EQ(again.learning.at("w").same_as, "z");
}

TEST(LearningInFiles, RefusesWhatMakesNoSense) {
  const auto refused = [](const std::string& text) {
    return message_of<FormatError>([&] { (void)parse_model(text, "m.json"); });
  };
  EXPECT_SAYS(refused(with("\"same_as\": \"z\"", "\"same_as\": \"q\"")), "there is no factor 'q'");
  EXPECT_SAYS(refused(with("\"same_as\": \"z\"", "\"same_as\": \"y\"")), "their axes differ: (2, 2) and (2, 3)");
  EXPECT_SAYS(refused(with("\"prior\": 0.5", "\"prior\": -1")), "below zero");
  EXPECT_SAYS(refused(with("\"prior\": [[1, 2, 3], [4, 5, 6]]", "\"prior\": [1, 2]")), "the prior of factor 'y'");
  EXPECT_SAYS(refused(with("\"distribution_of\": \"y\", \"learn\": true", "\"distribution_of\": \"y\"")), "'values'");
  EXPECT_SAYS(refused(with("\"distribution_of\": \"x\", \"learn\": true", "\"learn\": true")), "it is no distribution");
}

TEST(Data, ReadsArraysOfIntegersOfAnyWidth) {
  const Scratch scratch;
  const Model model = parse_model(items, "m.json");
  const auto path = scratch.put("y.npy", bytes_npy("(3, 2)", std::string("\x00\x01\x02\xff\x00\x02", 6)));
  const Evidence read = read_data(model, path, "y");
  EXPECT_EQ(read.at("y"), Integers({3, 2}, {0, 1, 2, -1, 0, 2}));
  EXPECT_THROW((void)read_data(model, path), OptionError);
  EXPECT_THROW((void)read_data(model, path, "q"), UnknownNameError);
  const auto cut = scratch.put("cut.npy", bytes_npy("(3, 2)", "\x01\x01"));
  EXPECT_SAYS(message_of<FormatError>([&] { (void)read_data(model, cut, "y"); }), "promises 6 numbers of 1 bytes");
}

TEST(Data, AFileMayNameItsEvidence) {
  const Scratch scratch;
  (void)scratch.put("y.npy", bytes_npy("(3, 2)", std::string("\x00\x01\x02\xff\x00\x02", 6)));
  (void)scratch.put("long.npy", bytes_npy("(4, 2)", std::string(8, '\0')));
  const auto text = [](const std::string& file) {
    return with("\"factors\"", R"("evidence": {"y": {"file": ")" + file + "\"}},\n \"factors\"");
  };
  EXPECT_EQ(read_model(scratch.put("m.json", text("y.npy"))).evidence.at("y"), Integers({3, 2}, {0, 1, 2, -1, 0, 2}));
  const auto refused = scratch.put("long.json", text("long.npy"));
  EXPECT_SAYS(message_of<FormatError>([&] { (void)read_model(refused); }), "has the shape (4, 2), not (3, 2)");
  const auto outside = scratch.put("outside.json", text("../y.npy"));
  EXPECT_SAYS(message_of<FormatError>([&] { (void)read_model(outside); }), "outside of the model's folder");
}

TEST(Data, ReadsTables) {
  const Scratch scratch;
  const Model model = parse_model(items, "m.json");
  const auto read = [&](const std::string& text, const std::string& variable = "") {
    return read_data(model, scratch.put("t.csv", text), variable);
  };
  // Lines are the slices of the only plate; names of states or numbers.
  const Evidence lines = read("who,x,z\nann,yes,1\r\nbob,\"no\",\ncyd,, b\n\n");
  EXPECT_EQ(lines.at("x"), Integers({3}, {1, 0, -1}));
  EXPECT_EQ(lines.at("z"), Integers({3}, {1, -1, 1}));
  EXPECT_EQ(read("x,z\nyes,a\n", "z").size(), 1U);
  EXPECT_EQ(read("x\nyes\nno\nyes\nyes\n").at("x").shape(), (std::vector<std::int64_t>{4}));
  // Slices in any order; those that are not there are missing.
  EXPECT_EQ(read("j,y,i\n1,2,0\n0,1,2\n").at("y"), Integers({3, 2}, {-1, 2, -1, -1, 1, -1}));
  const auto refused = [&](const std::string& text) { return message_of<FormatError>([&] { (void)read(text); }); };
  EXPECT_SAYS(refused("x\nyes\nmaybe\n"), "t.csv:3: 'x' has no state 'maybe'");
  EXPECT_SAYS(refused("i,j,y\n0,0,1\n0,0,2\n"), "t.csv:3: is about a slice of 'y' that a line before was about");
  EXPECT_SAYS(refused("y\n1\n"), "columns 'i', 'j' should say which it is");
  EXPECT_SAYS(refused("i,x\n-1,no\n"), "is not the number of a slice");
  EXPECT_SAYS(refused("x,z\nyes\n"), "has 1 cells, and there are 2 columns");
  EXPECT_SAYS(refused("q\n1\n"), "no column has the name of a variable");
  EXPECT_SAYS(refused("x\n\"yes\n"), "a quoted cell has no end");
  EXPECT_SAYS(refused(""), "is empty");
}

}  // namespace
}  // namespace plated
