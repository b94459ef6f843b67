// E-steps of random chains in blocks of sequences of about equal length, and with equal rows of cells read once,
// against those of all sequences at once.
#include <gtest/gtest.h>

#include <cmath>

#include "graph/length_axes.hpp"
#include "learn/counts.hpp"
#include "learn/cut.hpp"
#include "learn/with_data.hpp"
#include "plated/error.hpp"
#include "property/random_case.hpp"
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

/// Gives a variable what may be observed of it in each slice of one more plate, maybe given something else.
void add_cells(Case& c, Random& random) {
  if (c.variables.empty()) return;
  const FactorGraph graph = c.build();
  const Case::Dimension variable = random.pick(c.variables);
  Case::Names around;
  for (const DimId plate : graph.variable_plates()[*graph.find(variable.name)]) {
    around.push_back(graph.dims()[plate].name);
  }
  if (around.empty()) return;
  c.plates.push_back({"cell", 1 + random.below(3), {}});
  c.variables.push_back({"leaf", 2, {}});
  Case::Term factor{{variable.name, "leaf"}, around};
  if (random.chance(50)) {
    c.variables.push_back({"given", 2, {}});
    factor.dims.insert(factor.dims.begin() + random.below(3), "given");
  }
  if (random.chance(70)) {
    factor.dims.insert(factor.dims.begin() + random.below(3), "cell");
  } else {
    factor.tied.emplace_back("cell");
  }
  c.factors.push_back(std::move(factor));
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

struct Tally {
  int cut = 0, in_rows = 0;
};

AssertionResult check(const Model& observed, const Weights& weights, const std::optional<learn::Cut>& cut,
                      std::uint64_t seed, Tally& tally) {
  const std::vector<bool> all(observed.factors.size(), true);
  constexpr double always = 100;
  learn::Blocks one(observed, weights, all, 0), many(observed, weights, all, 0, cut, seed % 4 == 0 ? 0 : always);
  if (!cut && many.rows().empty()) return AssertionSuccess();
  tally.cut += cut.has_value();
  tally.in_rows += !many.rows().empty();
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
    // A state for missing cells is behind all others in memory.
    const auto* const have = static_cast<const double*>(found[f].data());
    const auto* const products = static_cast<const double*>(right[f].data());
    for (std::int64_t k = 0; k < observed.factors[f].elements(); ++k) {
      if (near(have[k], products[k], 100)) continue;
      return AssertionFailure() << "product " << k << " of factor " << f << ": " << have[k] << ", not " << products[k];
    }
  }
  return AssertionSuccess();
}

/// Compares a model with random data and weights of a plate; what is refused at once is refused in blocks.
AssertionResult check(const Model& model, const std::string& weighted, Random& random, std::uint64_t seed,
                      Tally& tally) {
  const Evidence data = random_data(model, random);
  if (data.empty()) return AssertionSuccess();
  const Model observed = learn::with_data(model, {.states = data});
  Weights weights;
  if (!weighted.empty() && random.chance(30)) {
    Tensor each(Dtype::float64, {observed.graph.dims()[*observed.graph.find(weighted)].size});
    for (double& weight : each.span<double>()) weight = random.chance(20) ? 0 : random.uniform(0.5, 2);
    weights.emplace(weighted, each);
  }
  const auto cut = learn::cut_by_length(observed, weights, {.of_step = 0, .of_run = 0});
  try {
    return check(observed, weights, cut, seed, tally);
  } catch (const Error& error) {
    try {
      learn::Blocks one(observed, weights, std::vector<bool>(observed.factors.size(), true), 0);
      one.keep();
      learn::Counts(one, 1, {}).count();
    } catch (const Error& other) {
      if (typeid(error) == typeid(other)) return AssertionSuccess();
      return AssertionFailure() << error.what() << "\n" << other.what();
    }
    return AssertionFailure() << "blocks throw " << error.what();
  }
}

TEST(FitBlocks, RandomChainsCountWhatAllSequencesCount) {
  Tally tally;
  for_each_seed(6000, [&](std::uint64_t seed) {
    Random random(seed + 13);
    Case c = repeated(random_chain(seed, {.most_work = 4000}), 2 + random.below(5));
    add_cells(c, random);
    const FactorGraph graph = c.build();
    const Model model = random_model(graph, random_lengths(graph, c, random), random);
    AssertionResult good = check(model, "sequence", random, seed, tally);
    return good ? good : good << "\n" << c.print();
  });
  EXPECT_GE(tally.cut, quota(100));
  EXPECT_GE(tally.in_rows, quota(100));
}

TEST(FitBlocks, RandomPlatedModelsCountWhatAllRowsCount) {
  Tally tally;
  for_each_seed(20000, [&](std::uint64_t seed) {
    Random random(seed + 17);
    Case c = random_case(seed, {.most_work = 4000, .small_sizes = false});
    add_cells(c, random);
    AssertionResult good = check(random_model(c.build(), {}, random), "", random, seed, tally);
    return good ? good : good << "\n" << c.equation() << "\n" << c.build().print();
  });
  EXPECT_GE(tally.in_rows, quota(100));
}

}  // namespace
}  // namespace plated::test
