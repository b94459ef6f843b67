// The plan cache: equal queries share a plan, queries that differ in anything do not.
#include "api/plan_cache.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "plated/error.hpp"

namespace plated {
namespace {

using Values = std::vector<double>;
const Tensor wide = Tensor::of<double>({2, 3}, {1, 2, 3, 4, 5, 6});
const Tensor tall = Tensor::of<double>({3, 2}, {1, 2, 3, 4, 5, 6});

/// Copies of a plan refer to the same graph.
const void* identity(const Plan& plan) { return &plan.graph(); }

TEST(PlanCache, ReusesThePlanOfTheSameQuery) {
  const void* first = identity(api::cached_plan("ab->a", {wide}, {}));
  EXPECT_EQ(identity(api::cached_plan("ab->a", {wide}, {})), first);
  // A plan serves any data, strides, types and semirings.
  EXPECT_EQ(identity(api::cached_plan("ab->a", {Tensor(Dtype::float32, {2, 3})}, {.semiring = Semiring::max_plus})),
            first);
  EXPECT_EQ(identity(api::cached_plan("ab->a", {wide}, {.threads = 2, .check = Check::none})), first);
}

TEST(PlanCache, TellsQueriesApart) {
  const void* first = identity(api::cached_plan("ab->a", {wide}, {}));
  EXPECT_NE(identity(api::cached_plan("ab->b", {wide}, {})), first);
  EXPECT_NE(identity(api::cached_plan("ab->a", {tall}, {})), first);
  EXPECT_NE(identity(api::cached_plan("ab->a", {wide}, {.plates = "a"})), first);
  EXPECT_NE(identity(api::cached_plan("ab->a", {wide}, {.batch = "a"})), first);
  EXPECT_NE(identity(api::cached_plan("ab->a", {wide}, {.chains = {{"a", {}}}})), first);
  EXPECT_NE(identity(api::cached_plan("ab->a", {wide}, {.spaced = false})), first);
  EXPECT_NE(identity(api::cached_plan("ab->a", {wide}, {.sizes = {{"a", 2}}})), first);
  for (const PlanOptions& plan :
       {PlanOptions{.search = Search::greedy}, PlanOptions{.trials = 7}, PlanOptions{.seed = 1},
        PlanOptions{.seconds = 1}, PlanOptions{.sums_only = true}, PlanOptions{.without = {"share_steps"}}}) {
    EXPECT_NE(identity(api::cached_plan("ab->a", {wide}, {.plan = plan})), first);
  }
}

TEST(PlanCache, GivesEachQueryItsOwnValues) {
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_EQ(einsum("ab->a", {wide}, {.semiring = Semiring::real}).values(), (Values{6, 15}));
    EXPECT_EQ(einsum("ab->a", {tall}, {.semiring = Semiring::real}).values(), (Values{3, 7, 11}));
    EXPECT_EQ(einsum("ab->a", {wide}, {.plates = "a", .semiring = Semiring::real}).values(), (Values{90, 90}));
    EXPECT_EQ(einsum("ab->a", {wide}, {.batch = "a", .semiring = Semiring::real}).values(), (Values{6, 15}));
    EXPECT_EQ(einsum("ab->a", {wide}, {.semiring = Semiring::max_plus}).values(), (Values{3, 6}));
    EXPECT_EQ(einsum("ab->b", {wide}, {.semiring = Semiring::real}).values(), (Values{5, 7, 9}));
    for (const std::int64_t slices : {1, 2, 3}) {
      const EinsumOptions tied{.plates = "i", .semiring = Semiring::real, .sizes = {{"i", slices}}};
      EXPECT_EQ(einsum("(i)ab->", {wide}, tied).item(), std::pow(21, slices));
    }
  }
}

TEST(PlanCache, RemembersNoFailure) {
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_THROW((void)einsum("ab->a", {Tensor(Dtype::float64, {2})}, {}), RankError);
    EXPECT_THROW((void)einsum("ab->a", {wide}, {.plan = {.without = {"no such pass"}}}), OptionError);
  }
  EXPECT_EQ(einsum("ab->a", {wide}, {.semiring = Semiring::real}).values(), (Values{6, 15}));
}

TEST(PlanCache, IsBoundedAndStaysRight) {
  for (int k = 0; k < 1000; ++k) {
    const std::string b = "b" + std::to_string(k);
    EXPECT_EQ(einsum("a " + b + " -> a", {wide}, {.semiring = Semiring::real}).values(), (Values{6, 15}));
  }
  const Plan again = api::cached_plan("ab->a", {wide}, {});
  EXPECT_EQ(again.run({wide}, {.semiring = Semiring::real})[0].values(), (Values{6, 15}));
}

}  // namespace
}  // namespace plated
