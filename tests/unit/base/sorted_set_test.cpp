// Sorted sets against std::set on random members.
#include "base/sorted_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace plated::base {
namespace {

SortedSet random_members(std::mt19937& random) {
  SortedSet members(random() % 8);
  for (auto& member : members) member = static_cast<std::uint32_t>(random() % 10);
  return members;
}

TEST(SortedSet, SortsAndDropsRepeats) {
  EXPECT_EQ(sorted({3, 1, 3, 2, 1}), (SortedSet{1, 2, 3}));
  EXPECT_EQ(sorted({}), SortedSet{});
}

TEST(SortedSet, AgreesWithStdSet) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 500; ++trial) {
    const SortedSet a = sorted(random_members(random));
    const SortedSet b = sorted(random_members(random));
    const std::set<std::uint32_t> in_a(a.begin(), a.end());
    const std::set<std::uint32_t> in_b(b.begin(), b.end());
    SortedSet both, either, only_a;
    for (std::uint32_t member = 0; member < 10; ++member) {
      EXPECT_EQ(contains(a, member), in_a.count(member) > 0);
      if (in_a.count(member) > 0 && in_b.count(member) > 0) both.push_back(member);
      if (in_a.count(member) > 0 || in_b.count(member) > 0) either.push_back(member);
      if (in_a.count(member) > 0 && in_b.count(member) == 0) only_a.push_back(member);
    }
    EXPECT_EQ(intersect(a, b), both);
    EXPECT_EQ(unite(a, b), either);
    EXPECT_EQ(subtract(a, b), only_a);
    EXPECT_EQ(is_subset(a, b), only_a.empty());
  }
}

TEST(SortedSet, FindsTheFewMembersOfASmallSetInALargeOne) {
  SortedSet large;
  for (std::uint32_t member = 0; member < 1000; member += 2) large.push_back(member);
  const SortedSet small = {0, 3, 500, 501, 998, 1002};
  EXPECT_EQ(intersect(small, large), (SortedSet{0, 500, 998}));
  EXPECT_EQ(intersect(large, small), (SortedSet{0, 500, 998}));
  EXPECT_EQ(subtract(small, large), (SortedSet{3, 501, 1002}));
  EXPECT_EQ(subtract(large, small).size(), large.size() - 3);
  EXPECT_EQ(intersect({}, large), SortedSet{});
  EXPECT_EQ(subtract({}, large), SortedSet{});
}

}  // namespace
}  // namespace plated::base
