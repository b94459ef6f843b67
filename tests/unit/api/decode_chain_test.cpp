// The best path and joint samples of chains against all assignments of the unrolled graph.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "oracle/posterior.hpp"
#include "plated/error.hpp"
#include "plated/map.hpp"
#include "plated/sample.hpp"
#include "property/blocked_from.hpp"
#include "property/count_samples.hpp"
#include "property/near.hpp"
#include "property/padding.hpp"

namespace plated::test {
namespace {

using Shape = Tensor::Shape;
using Assignment = std::map<std::string, Integers>;

struct Model {
  std::string name;
  std::string equation;
  EquationOptions options;
  std::vector<Shape> shapes;
  std::map<std::string, Integers> lengths;  // by chain, over batch dims and plates of its linked variables

  [[nodiscard]] FactorGraph graph() const { return FactorGraph::from_equation(equation, shapes, options); }
};

void PrintTo(const Model& model, std::ostream* out) { *out << model.name << ": " << model.equation; }

/// A model with entries that look random; those beyond a chain's length are NaN.
class Asked {
 public:
  Asked(const Model& model, Semiring semiring, Dtype dtype = Dtype::float64)
      : graph(model.graph()), semiring_(semiring), plan_(compile(graph)), model_(model) {
    std::uint64_t state = 88172645463325252ULL;
    const auto next = [&] {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      return static_cast<double>(state >> 11) * 0x1p-53;
    };
    for (const Shape& shape : model.shapes) {
      std::vector<double> values;
      for (std::int64_t k = 0, n = Tensor(Dtype::float64, shape).elements(); k < n; ++k) {
        values.push_back(semiring == Semiring::max_product ? 0.1 + next() : 3 * next() - 1);
      }
      const auto tensor = [&] {
        return dtype == Dtype::float64 ? Tensor::of<double>(shape, values)
                                       : Tensor::of<float>(shape, std::vector<float>(values.begin(), values.end()));
      };
      operands.push_back(tensor());
      spoiled_.push_back(tensor());
    }
    spoil_padding(graph, model.lengths, spoiled_);
  }

  [[nodiscard]] MapResult best() const { return map(plan_, spoiled_, options(1)); }
  [[nodiscard]] Assignment draw(const SampleOptions& draws, int threads = 1) const {
    return sample(plan_, spoiled_, draws, options(threads));
  }
  [[nodiscard]] oracle::Posterior posterior() const { return {graph, operands, semiring_, model_.lengths}; }

  FactorGraph graph;
  std::vector<Tensor> operands;
  std::int64_t memory_limit = 0;

 private:
  [[nodiscard]] RunOptions options(int threads) const {
    return {.semiring = semiring_, .threads = threads, .memory_limit = memory_limit, .lengths = model_.lengths};
  }

  Semiring semiring_;
  Plan plan_;
  const Model& model_;
  std::vector<Tensor> spoiled_;
};

const std::map<std::string, std::vector<std::string>> link_ab{{"t", {"a->b"}}};

std::vector<Model> models() {
  return {
      {"hmm", "a, (t) a b, t b ->", {.chains = link_ab}, {{3}, {3, 3}, {5, 3}}, {}},
      {"no start", "(t) a b, t b ->", {.chains = link_ab}, {{3, 3}, {4, 3}}, {}},
      {"last slice weighed", "(t) a b, t b, b ->", {.chains = link_ab}, {{3, 3}, {4, 3}, {3}}, {}},
      {"both ends weighed", "a, t a b, b ->", {.chains = link_ab}, {{3}, {4, 3, 3}, {3}}, {}},
      {"ends held together", "a b, t a b ->", {.chains = link_ab}, {{3, 3}, {4, 3, 3}}, {}},
      {"ends held with others",
       "a x, t a b, b y, x y ->",
       {.chains = link_ab},
       {{2, 3}, {3, 2, 2}, {2, 2}, {3, 2}},
       {}},
      {"one slice", "a, t a b ->", {.chains = link_ab}, {{3}, {1, 3, 3}}, {}},
      {"no slice", "a, (t) a b, t b ->", {.chains = link_ab}, {{3}, {3, 3}, {0, 3}}, {}},
      {"no slice and both ends", "a b, (t) a b, t b ->", {.chains = link_ab}, {{3, 3}, {3, 3}, {0, 3}}, {}},
      {"order 2", "a ^b, (t) a b c, t c ->", {.chains = {{"t", {"a->b", "b->c"}}}}, {{2, 2}, {2, 2, 2}, {5, 2}}, {}},
      {"order 2 to its end",
       "(t) a b c, t c, b$ c ->",
       {.chains = {{"t", {"a->b", "b->c"}}}},
       {{2, 2, 2}, {5, 2}, {2, 2}},
       {}},
      {"order 2 without slices",
       "a ^b, (t) a b c, t c, b$ c ->",
       {.chains = {{"t", {"a->b", "b->c"}}}},
       {{2, 2}, {2, 2, 2}, {0, 2}, {2, 2}},
       {}},
      {"factorial",
       "a, (t) a b, c, (t) c d, t b d ->",
       {.chains = {{"t", {"a->b", "c->d"}}}},
       {{2}, {2, 2}, {3}, {3, 3}, {3, 2, 3}},
       {}},
      {"batch", "n a, (t) a b, n t b ->", {.batch = "n", .chains = link_ab}, {{2, 3}, {3, 3}, {2, 4, 3}}, {}},
      {"a plate of sequences",
       "(i) a, (i t) a b, t i b ->",
       {.plates = "i", .chains = link_ab},
       {{3}, {3, 3}, {3, 2, 3}},
       {}},
      {"ragged",
       "(i) a, (i t) a b, i t b ->",
       {.plates = "i", .chains = link_ab},
       {{2}, {2, 2}, {4, 3, 2}},
       {{"t", Integers({4}, {3, 0, 1, 2})}}},
      {"ragged to the end",
       "(i t) a b, t i b, b i ->",
       {.plates = "i", .chains = link_ab},
       {{2, 2}, {3, 3, 2}, {2, 3}},
       {{"t", Integers({3}, {2, 0, 3})}}},
      {"outer variable", "x, a, (t) x a b, t b ->", {.chains = link_ab}, {{3}, {2}, {3, 2, 2}, {4, 2}}, {}},
      {"outer variables in plates",
       "x, i x y, i a, (t) y a b, i t b x ->",
       {.plates = "i", .chains = link_ab},
       {{2}, {2, 2, 3}, {2, 2}, {3, 2, 2}, {2, 3, 2, 2}},
       {}},
      {"variable of the slice", "a, (t) a b, t b w, t w ->", {.chains = link_ab}, {{2}, {2, 2}, {3, 2, 3}, {3, 3}}, {}},
      {"variable between", "a, t a w, (t) w b ->", {.chains = link_ab}, {{3}, {3, 3, 2}, {2, 3}}, {}},
      {"notes",
       "a, (t) a b, t j b v, (t) j v ->",
       {.plates = "j", .chains = link_ab},
       {{2}, {2, 2}, {2, 2, 2, 2}, {2, 2}},
       {}},
      {"notes that are ragged",
       "i a, (i t) a b, i t j b v, t i j v ->",
       {.plates = "i j", .chains = link_ab},
       {{2, 2}, {2, 2}, {2, 2, 2, 2, 2}, {2, 2, 2, 2}},
       {{"t", Integers({2}, {1, 2})}}},
      {"variable of the slice with its own outside",
       "z, a, (t) a b, t b w z, t w ->",
       {.chains = link_ab},
       {{2}, {2}, {2, 2}, {3, 2, 3, 2}, {3, 3}},
       {}},
      {"chain in a chain",
       "a, (t) a b, t b c, t s c d, (t) s d ->",
       {.chains = {{"t", {"a->b"}}, {"s", {"c->d"}}}},
       {{2}, {2, 2}, {2, 2, 2}, {2, 2, 2, 2}, {2, 2}},
       {}},
      {"chain that the slices of another enter",
       "a, (t) a b, (t) c, t s b c d ->",
       {.chains = {{"t", {"a->b"}}, {"s", {"c->d"}}}},
       {{2}, {2, 2}, {2}, {2, 2, 2, 2, 2}},
       {}},
      {"chains beside each other",
       "x, a x, (t) a b, t b, c x, (s) c d, s d x ->",
       {.chains = {{"t", {"a->b"}}, {"s", {"c->d"}}}},
       {{2}, {2, 2}, {2, 2}, {2, 2}, {2, 2}, {2, 2}, {3, 2, 2}},
       {}},
  };
}

class Decode : public testing::TestWithParam<Model> {
 protected:
  static void expect_best(Semiring semiring, Dtype dtype, std::int64_t memory_limit = 0) {
    Asked asked(GetParam(), semiring, dtype);
    asked.memory_limit = memory_limit;
    const MapResult best = asked.best();
    const std::vector<double> total = best.score.values();
    oracle::Posterior posterior = asked.posterior();
    const oracle::Numbers want = posterior.table({});
    ASSERT_EQ(total.size(), want.size());
    for (std::size_t n = 0; n < want.size(); ++n) {
      const double bound = (dtype == Dtype::float32 ? 1e-5 : 1e-12) * (1 + std::abs(static_cast<double>(want[n])));
      EXPECT_NEAR(total[n], static_cast<double>(want[n]), bound);
      const long double weight = posterior.weight(n, posterior.states(n, best.assignment));
      EXPECT_NEAR(static_cast<double>(weight), static_cast<double>(want[n]), bound);
    }
  }
};

TEST_P(Decode, FindsTheBestPath) {
  for (const Semiring semiring : {Semiring::max_plus, Semiring::min_plus, Semiring::max_product}) {
    expect_best(semiring, Dtype::float64);
    expect_best(semiring, Dtype::float32);
  }
}

TEST_P(Decode, DrawsFromTheJointPosterior) {
  constexpr std::int64_t count = 4000;
  for (const Dtype dtype : {Dtype::float64, Dtype::float32}) {
    const Asked asked(GetParam(), Semiring::log, dtype);
    const Assignment draws = asked.draw({.count = count, .seed = 5});
    EXPECT_TRUE(plausible(asked.posterior(), draws, count));
  }
}

TEST_P(Decode, DrawsTheSameInAnyBatchesOnAnyThreads) {
  const Asked asked(GetParam(), Semiring::log);
  constexpr std::int64_t count = 700;
  const Assignment all = asked.draw({.count = count, .seed = 9});
  EXPECT_EQ(asked.draw({.count = count, .seed = 9}, 4), all);
  std::int64_t first = 0;
  for (const std::int64_t some : {0, 1, 2, 97, 600}) {
    const Assignment part = asked.draw({.count = some, .seed = 9, .first = first});
    for (const auto& [name, draws] : part) {
      const std::vector<std::int64_t>& whole = all.at(name).values;
      const std::int64_t each = std::ssize(whole) / count;
      EXPECT_TRUE(std::equal(draws.values.begin(), draws.values.end(), whole.begin() + first * each,
                             whole.begin() + (first + some) * each))
          << name << " from " << first;
    }
    first += some;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Decode, testing::ValuesIn(models()), [](const auto& instance) {
  std::string name = instance.param.name;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
});

TEST(DecodeTies, TakeTheLowestState) {
  const Model model{"zeros", "a, (t) a b, t b ->", {.chains = link_ab}, {{3}, {3, 3}, {4, 3}}, {}};
  const std::vector<Tensor> zeros{Tensor(Dtype::float64, {3}), Tensor(Dtype::float64, {3, 3}),
                                  Tensor(Dtype::float64, {4, 3})};
  const MapResult best = map(compile(model.graph()), zeros, {.semiring = Semiring::max_plus});
  EXPECT_EQ(best.assignment.at("a"), Integers({4}, 0));
  EXPECT_EQ(best.assignment.at("b"), Integers({4}, 0));
}

/// Messages that are computed again from one in each block tell the same path.
TEST(DecodeLongChains, UnderAMemoryLimitChooseTheSame) {
  const BlockedFrom all(0);
  const Model model{"long", "a, (t) a b, t b w, w ->", {.chains = link_ab}, {{4}, {4, 4}, {3000, 4, 2}, {2}}, {}};
  Asked path(model, Semiring::max_plus), draws(model, Semiring::log);
  const Assignment free = path.best().assignment, drawn = draws.draw({.count = 3, .seed = 2});
  path.memory_limit = 320'000;
  draws.memory_limit = 620'000;
  EXPECT_EQ(path.best().assignment, free);
  EXPECT_EQ(draws.draw({.count = 3, .seed = 2}), drawn);
}

}  // namespace
}  // namespace plated::test
