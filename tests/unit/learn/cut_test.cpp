// Which sequences of unequal lengths go into one block.
#include "learn/cut.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "learn/with_data.hpp"
#include "plated/fit.hpp"
#include "property/written_case.hpp"

namespace plated::test {
namespace {

/// The cut of so many sequences of these lengths, with the model's costs.
std::optional<learn::Cut> cut_of(const std::vector<std::int64_t>& lengths, std::int64_t keys = 1) {
  const auto count = std::ssize(lengths);
  const std::int64_t most = *std::max_element(lengths.begin(), lengths.end());
  FactorGraph graph;
  graph.plate("n", count);
  graph.plate("key", keys);
  graph.chain("t", most);
  for (const char* name : {"a", "b"}) graph.variable(name, 2, {"n", "t"});
  graph.link("t", "a", "b");
  graph.variable("x", 2, {"n", "key", "t"});
  graph.factor("move", {"a", "b"}, {.tied = {"n", "t"}});
  graph.factor("emit", {"b", "x"}, {.tied = {"n", "key", "t"}});
  const Tensor ones = Tensor::of<double>({2, 2}, {1, 1, 1, 1});
  Model model = make_model(graph, {{"move", ones}, {"emit", ones}}, {.space = Space::real});
  const Integers seen({count, keys, most}, 0);
  return learn::cut_by_length(
      learn::with_data(model, {.states = {{"x", seen}}, .lengths = {{"t", Integers({count}, lengths)}}}), {});
}

TEST(CutByLength, LeavesLittlePadding) {
  Random random(11);
  std::vector<std::int64_t> lengths;
  std::int64_t steps = 0;
  for (int k = 0; k < 300; ++k) steps += lengths.emplace_back(5 + random.below(random.chance(5) ? 400 : 100));
  const auto cut = cut_of(lengths, 20);
  ASSERT_TRUE(cut.has_value());
  EXPECT_LT(cut->blocks.size(), 15U);
  std::int64_t padded = 0;
  std::vector<bool> taken(300, false);
  for (const learn::CutBlock& block : cut->blocks) {
    const std::int64_t most =
        block.longest.empty() ? *std::max_element(lengths.begin(), lengths.end()) : block.longest.begin()->second;
    padded += most * std::ssize(block.slices);
    for (const std::int64_t slice : block.slices) {
      EXPECT_FALSE(taken[static_cast<std::size_t>(slice)]);
      taken[static_cast<std::size_t>(slice)] = true;
      EXPECT_LE(lengths[static_cast<std::size_t>(slice)], most);
    }
  }
  EXPECT_EQ(std::count(taken.begin(), taken.end(), true), 300);
  EXPECT_LT(static_cast<double>(padded), 1.12 * static_cast<double>(steps));
}

TEST(CutByLength, OnlyWhereItPays) {
  EXPECT_FALSE(cut_of(std::vector<std::int64_t>(500, 100), 20));
  EXPECT_FALSE(cut_of({700}, 20));
  EXPECT_FALSE(cut_of({10, 2, 3}, 1));
  std::vector<std::int64_t> nearly(500, 100);
  for (std::size_t k = 0; k < nearly.size(); ++k) nearly[k] -= static_cast<std::int64_t>(k % 2);
  EXPECT_FALSE(cut_of(nearly, 20));
  nearly.push_back(2000);
  const auto cut = cut_of(nearly, 20);
  ASSERT_TRUE(cut.has_value());
  EXPECT_EQ(cut->blocks.size(), 2U);
  EXPECT_EQ(cut->blocks[1].slices, (std::vector<std::int64_t>{500}));
}

}  // namespace
}  // namespace plated::test
