// The best path and joint samples of chains against all assignments of the unrolled graph.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "chain/decode.hpp"
#include "oracle/posterior.hpp"
#include "plated/error.hpp"
#include "property/chi_squared.hpp"

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
      : graph(model.graph()), semiring_(semiring), program_(graph, {}), model_(model) {
    std::uint64_t state = 88172645463325252ULL;
    const auto next = [&] {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      return static_cast<double>(state >> 11) * 0x1p-53;
    };
    for (const auto& [name, given] : model.lengths) {
      const Chain& chain = graph.chains()[0];
      std::vector<DimId> dims = graph::AnswerAxes(graph)(chain.links[0].source, false);
      std::erase(dims, chain.dim);
      EXPECT_EQ(graph.dims()[chain.dim].name, name);
      lengths_[chain.dim] = {.dims = dims, .sizes = engine::sizes(graph, dims), .values = given.values};
    }
    for (std::size_t f = 0; f < graph.factors().size(); ++f) {
      std::vector<double> values;
      for (std::int64_t k = 0, n = Tensor(Dtype::float64, model.shapes[f]).elements(); k < n; ++k) {
        values.push_back(semiring == Semiring::max_product ? 0.1 + next() : 3 * next() - 1);
      }
      operands.push_back(Tensor::of<double>(model.shapes[f], values));
      if (dtype == Dtype::float32) {
        operands.back() = Tensor::of<float>(model.shapes[f], std::vector<float>(values.begin(), values.end()));
      }
      spoiled_.push_back(spoil(f));
    }
  }

  Tensor decode(const adjoint::Choice& choice, Assignment& assignment, int threads = 1) const {
    const graph::AnswerAxes axes(graph);
    std::vector<Integers> chosen(graph.dims().size());
    for (DimId v = 0; v < chosen.size(); ++v) {
      if (graph.dims()[v].kind != DimKind::variable) continue;
      Shape shape = engine::sizes(graph, axes(v, false));
      if (choice.draw) shape.insert(shape.begin(), choice.count);
      chosen[v] = Integers(shape, 77);
    }
    const chain::Call call{.settings = {.semiring = semiring_, .threads = threads, .memory_limit = memory_limit},
                           .lengths = lengths_.empty() ? nullptr : &lengths_};
    Tensor total = chain::decode(program_, spoiled_, choice, call, nullptr, chosen);
    EXPECT_EQ(chosen.size(), graph.dims().size());
    for (DimId v = 0; v < chosen.size(); ++v) {
      if (graph.dims()[v].kind == DimKind::variable) assignment[graph.dims()[v].name] = chosen[v];
    }
    return total;
  }

  [[nodiscard]] oracle::Posterior posterior() const { return {graph, operands, semiring_, model_.lengths}; }

  /// `^v` and `v$` are the first and last states of their variables, where there is a slice.
  void check_ends(const Assignment& assignment, std::int64_t samples) const {
    const graph::AnswerAxes axes(graph);
    for (const Dim& dim : graph.dims()) {
      if (dim.end == End::none) continue;
      const DimId chain = *graph.linking_chain(dim.of);
      const std::vector<DimId> list = axes(dim.of, false);
      ASSERT_EQ(list.back(), chain) << "the test expects the chain's axis to be the last";
      const std::int64_t slices = graph.dims()[chain].size;
      const std::vector<std::int64_t>& states = assignment.at(graph.dims()[dim.of].name).values;
      const std::vector<std::int64_t>& ends = assignment.at(dim.name).values;
      ASSERT_EQ(states.size(), ends.size() * static_cast<std::size_t>(slices));
      for (std::size_t k = 0; k < ends.size(); ++k) {
        std::int64_t length = slices;
        if (lengths_.contains(chain)) {
          length = lengths_.at(chain).values[k % (ends.size() / static_cast<std::size_t>(samples))];
        }
        if (length == 0) continue;
        const std::int64_t at = dim.end == End::first ? 0 : length - 1;
        EXPECT_EQ(ends[k], states[k * static_cast<std::size_t>(slices) + static_cast<std::size_t>(at)]) << dim.name;
      }
    }
  }

  FactorGraph graph;
  std::vector<Tensor> operands;
  std::int64_t memory_limit = 0;

 private:
  [[nodiscard]] Tensor spoil(std::size_t f) const {
    Tensor result = operands[f];
    for (const auto& [chain, ragged] : lengths_) {
      const std::vector<DimId>& axes = graph.factors()[f].dims;
      if (std::find(axes.begin(), axes.end(), chain) == axes.end()) continue;
      // padded() writes ones where no slice exists: what differs from a padded copy of zeros is padding.
      const Tensor kept = chain::padded(Tensor(Dtype::float64, result.shape()), axes, chain, 0, ragged, Semiring::real);
      std::vector<double> values = result.values();
      const std::vector<double> marks = kept.values();
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (marks[k] != 0) values[k] = std::numeric_limits<double>::quiet_NaN();
      }
      result = result.dtype() == Dtype::float64
                   ? Tensor::of<double>(result.shape(), values)
                   : Tensor::of<float>(result.shape(), std::vector<float>(values.begin(), values.end()));
    }
    return result;
  }

  Semiring semiring_;
  chain::Program program_;
  const Model& model_;
  chain::RaggedChains lengths_;
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
    Assignment best;
    const std::vector<double> total = asked.decode({}, best).values();
    oracle::Posterior posterior = asked.posterior();
    const oracle::Numbers want = posterior.table({});
    ASSERT_EQ(total.size(), want.size());
    for (std::size_t n = 0; n < want.size(); ++n) {
      const double bound = (dtype == Dtype::float32 ? 1e-5 : 1e-12) * (1 + std::abs(static_cast<double>(want[n])));
      EXPECT_NEAR(total[n], static_cast<double>(want[n]), bound);
      const long double weight = posterior.weight(n, posterior.states(n, best));
      EXPECT_NEAR(static_cast<double>(weight), static_cast<double>(want[n]), bound);
    }
    asked.check_ends(best, 1);
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
    Assignment draws;
    (void)asked.decode({.draw = true, .count = count, .seed = 5}, draws);
    const oracle::Posterior posterior = asked.posterior();
    for (std::size_t n = 0; n < posterior.batches(); ++n) {
      const oracle::Numbers cells = posterior.cells(n);
      std::vector<std::int64_t> counts(cells.size(), 0);
      for (std::size_t s = 0; s < count; ++s) {
        ++counts.at(posterior.cell(posterior.states(s * posterior.batches() + n, draws), n));
      }
      EXPECT_TRUE(plausible(counts, cells));
    }
    asked.check_ends(draws, count);
  }
}

TEST_P(Decode, DrawsTheSameInAnyBatchesOnAnyThreads) {
  const Asked asked(GetParam(), Semiring::log);
  constexpr std::int64_t count = 700;
  Assignment all;
  (void)asked.decode({.draw = true, .count = count, .seed = 9}, all);
  Assignment threaded;
  (void)asked.decode({.draw = true, .count = count, .seed = 9}, threaded, 4);
  EXPECT_EQ(threaded, all);
  std::int64_t first = 0;
  for (const std::int64_t some : {0, 1, 2, 97, 600}) {
    Assignment part;
    (void)asked.decode({.draw = true, .count = some, .seed = 9, .first = first}, part);
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
  const chain::Program program(model.graph(), {});
  const std::vector<Tensor> zeros{Tensor(Dtype::float64, {3}), Tensor(Dtype::float64, {3, 3}),
                                  Tensor(Dtype::float64, {4, 3})};
  std::vector<Integers> chosen(program.graph().dims().size());
  const graph::AnswerAxes axes(program.graph());
  for (DimId v = 0; v < chosen.size(); ++v) {
    if (program.graph().dims()[v].kind == DimKind::variable) {
      chosen[v] = Integers(engine::sizes(program.graph(), axes(v, false)));
    }
  }
  const chain::Call call{.settings = {.semiring = Semiring::max_plus}};
  (void)chain::decode(program, zeros, {}, call, nullptr, chosen);
  EXPECT_EQ(chosen[*program.graph().find("a")], Integers({4}, 0));
  EXPECT_EQ(chosen[*program.graph().find("b")], Integers({4}, 0));
}

/// Messages that are computed again from one in each block tell the same path.
TEST(DecodeLongChains, UnderAMemoryLimitChooseTheSame) {
  const Model model{"long", "a, (t) a b, t b w, w ->", {.chains = link_ab}, {{4}, {4, 4}, {3000, 4, 2}, {2}}, {}};
  for (const Semiring semiring : {Semiring::max_plus, Semiring::log}) {
    Asked asked(model, semiring);
    const adjoint::Choice choice{
        .draw = semiring == Semiring::log, .count = semiring == Semiring::log ? 3 : 1, .seed = 2};
    Assignment free, limited;
    (void)asked.decode(choice, free);
    asked.memory_limit = 60'000;
    (void)asked.decode(choice, limited);
    EXPECT_EQ(limited, free);
  }
}

TEST(DecodeOfTheImpossible, IsShownTheTotalFirst) {
  const Model model{"zero", "a, (t) a b ->", {.chains = link_ab, .sizes = {{"t", 3}}}, {{2}, {2, 2}}, {}};
  const chain::Program program(model.graph(), {});
  const double zero = -std::numeric_limits<double>::infinity();
  const std::vector<Tensor> operands{Tensor::of<double>({2}, {zero, zero}), Tensor(Dtype::float64, {2, 2})};
  std::vector<Integers> chosen(program.graph().dims().size());
  const chain::Call call{.settings = {.semiring = Semiring::max_plus}};
  const auto check = [&](const Tensor& total) {
    EXPECT_EQ(total.item(), zero);
    throw ImpossibleError("none");
  };
  EXPECT_THROW((void)chain::decode(program, operands, {}, call, check, chosen), ImpossibleError);
}

}  // namespace
}  // namespace plated::test
