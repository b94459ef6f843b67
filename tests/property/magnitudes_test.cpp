// Posteriors of random graphs and chains whose slices are shifted by any magnitude, against the brute-force posterior
// of the same numbers without the shift.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "plated/plated.hpp"
#include "property/derivatives.hpp"

namespace plated::test {
namespace {

/// Operands far off in some slices, and the same with the best entry of each slice at the semiring's one.
struct Shifted {
  std::vector<Tensor> given;
  std::vector<Tensor> centred;
};

/// Which slice each entry of an operand belongs to; −1 off its diagonal.
std::vector<std::int64_t> slices_of(const FactorGraph& graph, const Factor& factor) {
  std::vector<std::int64_t> result;
  std::vector<std::int64_t> index(factor.dims.size(), 0);
  std::size_t entries = 1;
  for (const DimId d : factor.dims) entries *= static_cast<std::size_t>(graph.dims()[d].size);
  for (std::size_t k = 0; k < entries; ++k) {
    std::map<DimId, std::int64_t> at;
    std::int64_t slice = 0;
    for (std::size_t axis = 0; axis < factor.dims.size(); ++axis) {
      const Dim& dim = graph.dims()[factor.dims[axis]];
      if (dim.kind != DimKind::variable) slice = slice * dim.size + index[axis];
      const auto [known, is_new] = at.emplace(factor.dims[axis], index[axis]);
      if (!is_new && known->second != index[axis]) slice = std::numeric_limits<std::int64_t>::min() / 4;
    }
    result.push_back(std::max<std::int64_t>(slice, -1));
    for (std::size_t axis = factor.dims.size(); axis-- > 0;) {
      if (++index[axis] < graph.dims()[factor.dims[axis]].size) break;
      index[axis] = 0;
    }
  }
  return result;
}

/// Masks, shifts of any size, or nothing.
double random_shift(Random& random) {
  if (random.chance(40)) return 0;
  if (random.chance(30)) return -1e30;
  return std::pow(10.0, random.uniform(-300, 300)) * (random.chance(50) ? -1 : 1);
}

Shifted shifted(const FactorGraph& graph, const std::vector<Tensor>& operands, Semiring semiring, Random& random,
                bool scaled) {
  Shifted result;
  const bool log = semiring == Semiring::log;
  const auto one_scaled = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(operands.size() + 1)));
  for (std::size_t f = 0; f < operands.size(); ++f) {
    std::vector<double> values = operands[f].values();
    const std::vector<std::int64_t> slices = slices_of(graph, graph.factors()[f]);
    std::map<std::int64_t, double> shift, best;
    std::int64_t last = -1;
    for (const std::int64_t s : slices) {
      if (!shift.contains(s)) shift[s] = log ? random_shift(random) : std::pow(10.0, random.uniform(-300, 300));
      last = std::max(last, s);
    }
    const double factor = scaled && f == one_scaled ? std::pow(10.0, random.uniform(0, 300)) : 1.0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (slices[k] == last) values[k] *= factor;
      values[k] = log ? values[k] + shift[slices[k]] : values[k] * shift[slices[k]];
      if (!(std::isfinite(values[k]) && (log || values[k] > 0))) continue;
      const auto known = best.emplace(slices[k], values[k]).first;
      known->second = std::max(known->second, values[k]);
    }
    result.given.push_back(Tensor::of(operands[f].shape(), values));
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (!best.contains(slices[k])) continue;
      values[k] = log ? values[k] - best[slices[k]] : values[k] / best[slices[k]];
    }
    result.centred.push_back(Tensor::of(operands[f].shape(), values));
  }
  return result;
}

testing::AssertionResult sums_to_one(const std::string& what, const Tensor& p, const std::vector<DimId>& axes,
                                     const FactorGraph& graph) {
  std::map<std::vector<std::int64_t>, double> sums;
  std::vector<std::int64_t> index(axes.size(), 0);
  for (const double x : p.values()) {
    if (!(x >= 0 && x <= 1)) return testing::AssertionFailure() << what << " has the probability " << x;
    std::vector<std::int64_t> slice;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      if (graph.dims()[axes[axis]].kind != DimKind::variable) slice.push_back(index[axis]);
    }
    sums[slice] += x;
    for (std::size_t axis = axes.size(); axis-- > 0 && ++index[axis] == p.shape()[axis];) index[axis] = 0;
  }
  for (const auto& [slice, sum] : sums) {
    // Nothing: a slice beyond a chain's length, or off a diagonal.
    if (sum != 0 && !(std::abs(sum - 1) <= 1e-12)) {
      return testing::AssertionFailure() << what << " sums to 1 + " << sum - 1;
    }
  }
  return testing::AssertionSuccess();
}

/// Up to the threshold sums of shifts cost digits: eight are left.
constexpr Bound within{1e-8, 1e-300};

testing::AssertionResult same(const std::string& what, const Tensor& got, const Tensor& want) {
  Numbers size = numbers(want);
  for (long double& x : size) x = 1 + std::abs(x);
  return near(what, got, want.shape(), numbers(want), size, within);
}

testing::AssertionResult check_gradients(const DrawnModel& drawn, const Shifted& operands, const RunOptions& options) {
  const ValueAndGradient from = value_and_gradient(drawn.plan, operands.given, options);
  const ValueAndGradient to = value_and_gradient(drawn.plan, operands.centred, options);
  auto good = testing::AssertionSuccess();
  for (std::size_t f = 0; f < to.gradients.size() && good; ++f) {
    good = same("gradient " + std::to_string(f), from.gradients[f], to.gradients[f]);
  }
  return good;
}

testing::AssertionResult check_choices(const DrawnModel& drawn, const Shifted& operands, const RunOptions& options) {
  const auto draws = [&](const std::vector<Tensor>& of) {
    return sample(drawn.plan, of, {.count = 5, .seed = 7}, options);
  };
  const auto got = draws(operands.given), want = draws(operands.centred);
  for (const auto& [name, states] : want) {
    if (got.at(name).values != states.values) return testing::AssertionFailure() << "other samples of " << name;
  }
  if (drawn.semiring != Semiring::log) return testing::AssertionSuccess();
  oracle::Posterior best(drawn.graph, operands.centred, Semiring::max_plus, options.lengths);
  const Numbers score = best.table({});
  const MapResult chosen = map(drawn.plan, operands.given, options);
  for (std::size_t n = 0; n < best.batches(); ++n) {
    const long double weight = best.weight(n, best.states(n, chosen.assignment));
    if (!(std::abs(weight - score[n]) <= 1e-8 * (1 + std::abs(score[n])))) {
      return testing::AssertionFailure() << "the assignment of batch " << n << " weighs " << static_cast<double>(weight)
                                         << ", not " << static_cast<double>(score[n]);
    }
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult check(DrawnModel& drawn, const RunOptions& options, const std::vector<DimId>& variables,
                               bool scaled) {
  const Shifted operands = shifted(drawn.graph, drawn.tensors(), drawn.semiring, drawn.random, scaled);
  oracle::Posterior posterior(drawn.graph, operands.centred, drawn.semiring, options.lengths);
  const auto ask = [&](const std::vector<Tensor>& of, bool log) {
    return marginals(drawn.plan, of, options, {.factors = true, .log = log});
  };
  if (any_zero(posterior.table({}), drawn.semiring)) return impossible([&] { (void)ask(operands.given, false); });
  const Marginals got = ask(operands.given, false), logs = ask(operands.given, true);
  const Marginals want = ask(operands.centred, false);
  auto good = testing::AssertionSuccess();
  for (const DimId v : variables) {
    if (!good) break;
    const Tensor& p = got.variables.at(drawn.name_of(v));
    const Numbers probability = posterior.marginal({v});
    const std::vector<DimId> axes = posterior.axes({v});
    good = near("marginal of " + drawn.name_of(v), p, posterior.shape(axes), probability, probability, within);
    if (good) good = sums_to_one(drawn.name_of(v), p, axes, drawn.graph);
    const Numbers log_p = logarithms(probability);
    if (!good || std::any_of(log_p.begin(), log_p.end(), [](long double x) { return x < -1e4; })) continue;
    good = near("log marginal of " + drawn.name_of(v), logs.variables.at(drawn.name_of(v)), posterior.shape(axes),
                log_p, log_magnitude(log_p), within);
  }
  for (std::size_t f = 0; f < got.factors.size() && good; ++f) {
    good = same("factor " + std::to_string(f), got.factors[f], want.factors[f]);
    if (good)
      good = sums_to_one("factor " + std::to_string(f), got.factors[f], drawn.graph.factors()[f].dims, drawn.graph);
  }
  if (good) {
    const Numbers h = posterior.entropy();
    good = near("entropy", entropy(drawn.plan, operands.given, options), posterior.shape(posterior.axes({})), h,
                Numbers(h.size(), 100), within);
  }
  if (good) good = check_choices(drawn, operands, options);
  // An output that holds variables has entries for bad states, next to which nothing else has digits.
  if (good && drawn.semiring == Semiring::log && !scaled) good = check_gradients(drawn, operands, options);
  return good;
}

class Magnitudes : public testing::TestWithParam<Semiring> {
 protected:
  void run(std::uint64_t runs, int zero_percent, bool scaled) {
    for_each_model(runs, {.semiring = GetParam(), .zero_percent = zero_percent},
                   [&](DrawnModel& drawn) { return check(drawn, drawn.run(), drawn.variables(), scaled); });
  }
};

TEST_P(Magnitudes, OfSlicesOfRandomGraphs) { run(500, 0, false); }
TEST_P(Magnitudes, OfSlicesWithZeros) { run(500, 10, false); }
TEST_P(Magnitudes, WithinASlice) {
  if (GetParam() == Semiring::log) run(500, 0, true);
}
TEST_P(Magnitudes, OfSlicesOfRandomChains) {
  for (const int zeros : {0, 10}) {
    for_each_model(250, {.semiring = GetParam(), .zero_percent = zeros, .graphs = ChainOptions{}},
                   [](DrawnModel& drawn) { return check(drawn, drawn.run(), drawn.variables(), false); });
  }
}

INSTANTIATE_TEST_SUITE_P(Semirings, Magnitudes, testing::Values(Semiring::log, Semiring::real),
                         [](const auto& test) { return std::string(name(test.param)); });

}  // namespace
}  // namespace plated::test
