// E-steps of random chains in blocks of sequences of about equal length, against those of all sequences at once.
#include <gtest/gtest.h>

#include <cmath>

#include "graph/length_axes.hpp"
#include "learn/counts.hpp"
#include "learn/cut.hpp"
#include "learn/with_data.hpp"
#include "plated/error.hpp"
#include "property/random_chain.hpp"
#include "property/random_model.hpp"
#include "property/seeds.hpp"

namespace plated::test {
namespace {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

/// The same chains for each slice of one more plate.
Case repeated(Case c, std::int64_t sequences) {
  c.plates.insert(c.plates.begin(), {"sequence", sequences, {}});
  for (Case::Term& factor : c.factors) factor.tied.emplace_back("sequence");
  for (Case::Dimension& variable : c.variables) {
    const bool held = std::any_of(c.factors.begin(), c.factors.end(), [&](const Case::Term& factor) {
      return std::find(factor.dims.begin(), factor.dims.end(), variable.name) != factor.dims.end();
    });
    if (!held && !variable.stated) variable.stated = Case::Names{};
    if (variable.stated) variable.stated->insert(variable.stated->begin(), "sequence");
  }
  c.outputs.clear();
  return c;
}

Lengths random_lengths(const FactorGraph& graph, const Case& c, Random& random) {
  Lengths lengths;
  for (const auto& [name, given] : c.lengths) {
    const DimId chain = *graph.find(name);
    Tensor::Shape shape;
    for (const DimId d : graph::length_axes(graph, chain)) shape.push_back(graph.dims()[d].size);
    const auto least = std::min_element(given.values.begin(), given.values.end());
    Integers drawn(shape, 0);
    for (std::int64_t& length : drawn.values) {
      length = std::max(least == given.values.end() ? 0 : *least, random.below(graph.dims()[chain].size + 1));
    }
    lengths.emplace(name, std::move(drawn));
  }
  return lengths;
}

bool near(double got, double want, double scale) {
  return got == want || std::abs(got - want) <= 1e-11 * std::max({1.0, std::abs(want), scale});
}

AssertionResult compare(const learn::Counts& got, const learn::Counts& want, const Model& model) {
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    const std::vector<double> have = got.counts_of(f).values(), right = want.counts_of(f).values();
    for (std::size_t k = 0; k < right.size(); ++k) {
      if (near(have[k], right[k], 1)) continue;
      return AssertionFailure() << "count " << k << " of factor " << f << ": " << have[k] << ", not " << right[k];
    }
  }
  return AssertionSuccess();
}

/// The Hessian's product with a random direction.
std::vector<Tensor> curve(learn::Counts& counts, const Model& model, std::uint64_t seed) {
  Random random(seed);
  counts.clear_direction();
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    for (std::int64_t k = 0; k < model.factors[f].elements(); ++k) counts.direction(f)[k] = random.uniform(-1, 1);
  }
  return counts.curve();
}

AssertionResult check(const Model& observed, const Weights& weights, const learn::Cut& cut, std::uint64_t seed) {
  const std::vector<bool> all(observed.factors.size(), true);
  learn::Blocks one(observed, weights, all, 0), many(observed, weights, all, 0, cut);
  one.keep();
  many.keep();
  learn::Counts at_once(one, 1, {}), blocks(many, 1, {});
  const double want = at_once.count(), got = blocks.count();
  if (!near(got, want, 1)) return AssertionFailure() << "ln Z is " << got << ", not " << want;
  if (!near(blocks.log_total(), want, 1)) return AssertionFailure() << "ln Z alone is " << blocks.log_total();
  for (const int threads : {2, 3}) {
    learn::Counts other(many, threads, {});
    if (other.count() != got) return AssertionFailure() << "other bits on " << threads << " threads";
    for (std::size_t f = 0; std::isfinite(want) && f < observed.factors.size(); ++f) {
      if (other.counts_of(f).values() == blocks.counts_of(f).values()) continue;
      return AssertionFailure() << "other counts of factor " << f << " on " << threads << " threads";
    }
  }
  if (std::isinf(want)) return AssertionSuccess();
  if (AssertionResult good = compare(blocks, at_once, observed); !good) return good;
  if (AssertionResult good = (blocks.count(), compare(blocks, at_once, observed)); !good)
    return good << " when asked again";
  const std::vector<Tensor> found = curve(blocks, observed, seed), right = curve(at_once, observed, seed);
  for (std::size_t f = 0; f < right.size(); ++f) {
    const std::vector<double> have = found[f].values(), products = right[f].values();
    for (std::size_t k = 0; k < products.size(); ++k) {
      if (near(have[k], products[k], 100)) continue;
      return AssertionFailure() << "product " << k << " of factor " << f << ": " << have[k] << ", not " << products[k];
    }
  }
  return AssertionSuccess();
}

TEST(FitBlocks, RandomChainsCountWhatAllSequencesCount) {
  int compared = 0;
  for_each_seed(6000, [&](std::uint64_t seed) -> AssertionResult {
    Random random(seed + 13);
    const Case c = repeated(random_chain(seed, {.most_work = 4000}), 2 + random.below(5));
    if (c.lengths.empty()) return AssertionSuccess();
    const FactorGraph graph = c.build();
    Model model = random_model(graph, random_lengths(graph, c, random), random);
    const Evidence data = random_data(model, random);
    if (data.empty()) return AssertionSuccess();
    const Model observed = learn::with_data(model, {.states = data});
    Weights weights;
    if (random.chance(30)) {
      Tensor each(Dtype::float64, {graph.dims()[*graph.find("sequence")].size});
      for (double& weight : each.span<double>()) weight = random.chance(20) ? 0 : random.uniform(0.5, 2);
      weights.emplace("sequence", each);
    }
    const auto cut = learn::cut_by_length(observed, weights, {.of_step = 0, .of_run = 0});
    if (!cut) return AssertionSuccess();
    try {
      AssertionResult good = check(observed, weights, *cut, seed);
      ++compared;
      return good ? good : good << "\n" << c.print();
    } catch (const Error& error) {
      // What is refused at once is refused in blocks.
      try {
        const std::vector<bool> all(observed.factors.size(), true);
        learn::Blocks one(observed, weights, all, 0);
        one.keep();
        learn::Counts(one, 1, {}).count();
      } catch (const Error& other) {
        return typeid(error) == typeid(other) ? AssertionSuccess()
                                              : AssertionFailure() << error.what() << "\n"
                                                                   << other.what();
      }
      return AssertionFailure() << "blocks throw " << error.what() << "\n" << c.print();
    }
  });
  EXPECT_GT(compared, quota(100));
}

}  // namespace
}  // namespace plated::test
