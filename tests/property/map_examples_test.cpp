// The best assignments of models by hand, and what has none.
#include <gtest/gtest.h>

#include <map>

#include "plated/error.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "property/written_case.hpp"

namespace plated::test {
namespace {

TEST(MapOf, RefusesBooleans) {
  const Tensor t = Tensor::of<double>({2}, {1, 1});
  EXPECT_THROW((void)map("x->", {t}, {.semiring = Semiring::boolean}), OptionError);
  EXPECT_THROW((void)max_marginals("x->", {t}, {.semiring = Semiring::boolean}), OptionError);
}

TEST(MapOf, AnEquation) {
  const Tensor f = Tensor::of<double>({2}, {0, 1}),
               g = Tensor::of<double>({2, 2, 3}, {9, 1, 2, 3, 4, 5, 1, 1, 1, 2, 7, 7});
  const auto [score, assignment] = map("x,ixy->", {f, g}, {.plates = "i"});
  EXPECT_EQ(score.item(), 13);  // x = 1: 1 + 5 + 7; x = 0: 0 + 9 + 1
  EXPECT_EQ(assignment.at("x"), Integers({}, std::vector<std::int64_t>{1}));
  EXPECT_EQ(assignment.at("y"), Integers({2}, {2, 1}));
  EXPECT_EQ(max_marginals("x,ixy->", {f, g}, {.plates = "i"}).at("y").values(),
            (std::vector<double>{11, 12, 13, 10, 13, 13}));
}

TEST(MapOf, AnEquationWithAChain) {
  const std::map<std::string, std::vector<std::string>> chains{{"t", {"a->b"}}};
  const Tensor prior = Tensor::of<double>({2}, {1, 2}), transition = Tensor::of<double>({2, 2}, {1, 3, 2, 1});
  const Tensor emission = Tensor::of<double>({2, 2}, {1, 2, 3, 1});
  const auto [score, path] =
      map("a, (t) a b, t b ->", {prior, transition, emission}, {.chains = chains, .semiring = Semiring::max_product});
  EXPECT_EQ(score.item(), 36);
  EXPECT_EQ(path.at("a"), Integers({2}, {0, 1}));
  EXPECT_EQ(path.at("b"), Integers({2}, {1, 0}));
  const auto one = map("a, (t) a b, t b ->", {prior, transition, emission},
                       {.chains = chains,
                        .semiring = Semiring::max_product,
                        .lengths = {{"t", Integers({}, std::vector<std::int64_t>{1})}}});
  EXPECT_EQ(one.score.item(), 6);
  EXPECT_EQ(one.assignment.at("a"), Integers({2}, {0, -1}));
  EXPECT_EQ(one.assignment.at("b"), Integers({2}, {1, -1}));
}

/// A long path whose states are known: each slice's emission alone decides.
TEST(MapOf, ALongChainFollowsItsEmissions) {
  const std::int64_t slices = 20000, states = 5;
  Random random(4);
  std::vector<float> emission;
  std::vector<std::int64_t> path;
  for (std::int64_t t = 0; t < slices; ++t) {
    path.push_back(random.below(states));
    for (std::int64_t b = 0; b < states; ++b) emission.push_back(b == path.back() ? 3.0f : -3.0f);
  }
  const auto got =
      map("(t) a b, t b ->", {Tensor(Dtype::float32, {states, states}), Tensor::of<float>({slices, states}, emission)},
          {.chains = {{"t", {"a->b"}}}});
  EXPECT_EQ(got.assignment.at("b").values, path);
  EXPECT_EQ(got.score.item(), 3.0 * static_cast<double>(slices));
}

}  // namespace
}  // namespace plated::test
