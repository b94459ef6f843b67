// Philox against its authors' published values, and the distributions built on it.
#include "base/counter_random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace plated::base {
namespace {

using Block = std::array<std::uint32_t, 4>;

TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t ones = 0xFFFFFFFF;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(DrawCounter, DiffersForDifferentDraws) {
  std::set<Block> seen;
  const std::uint64_t numbers[] = {0, 1, 65536, std::uint64_t{1} << 32, (std::uint64_t{1} << 48) - 1};
  for (const std::uint64_t quad : numbers) {
    for (const std::uint32_t variable : {0U, 1U, 65536U}) {
      for (const std::uint64_t slice : numbers) seen.insert(draw_counter(quad, variable, slice));
    }
  }
  EXPECT_EQ(seen.size(), 75U);
}

TEST(DrawUniform, FillsTheUnitIntervalEvenly) {
  double sum = 0;
  std::array<int, 16> bucket{};
  constexpr int count = 160000;
  for (int s = 0; s < count; ++s) {
    const double u = draw_uniform(7, static_cast<std::uint64_t>(s), 3, 11);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    ++bucket[static_cast<std::size_t>(u * 16)];
  }
  EXPECT_NEAR(sum / count, 0.5, 0.004);
  for (const int b : bucket) EXPECT_NEAR(b, count / 16, 500);
}

TEST(UnitInterval, KeepsFiftyThreeBits) {
  EXPECT_EQ(unit_interval(0, 0), 0.0);
  EXPECT_EQ(unit_interval(0xFFFFFFFF, 0xFFFFFFFF), 1.0 - 0x1p-53);
  EXPECT_EQ(unit_interval(0, 1U << 11), 0x1p-53);
}

}  // namespace
}  // namespace plated::base
