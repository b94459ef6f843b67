// Evidence in chains: every question about observed states, against the oracle with an indicator factor for each.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/chain_case.hpp"
#include "property/chi_squared.hpp"

namespace plated::test {
namespace {

/// A plan that may observe, what is observed, and the same model with indicator factors instead.
struct Observed {
  Plan plan;
  RunOptions options;
  FactorGraph graph;
  std::vector<Tensor> operands;

  [[nodiscard]] oracle::Posterior posterior() const {
    const Semiring meant = options.semiring;
    return oracle::Posterior(graph, operands, meant, options.lengths);
  }
};

/// Whole chains, single slices (−1 elsewhere), values for each batch or for all; anything beyond a chain's length.
Observed observe(DrawnChain& drawn) {
  PlanOptions planned;
  RunOptions options = drawn.run();
  FactorGraph graph = drawn.graph;
  std::vector<Tensor> operands = drawn.tensors();
  const oracle::Slices slices(drawn.graph, {});
  for (const DimId v : drawn.variables()) {
    if (drawn.random.chance(45)) continue;
    planned.observable.push_back(drawn.name_of(v));
    if (drawn.random.chance(20)) continue;  // it may be observed, and is not
    const int seen = drawn.random.chance(35) ? 100 : 45;
    std::vector<DimId> axes = drawn.random.chance(50) ? slices.batch() : std::vector<DimId>{};
    for (const DimId d : slices.plates(v)) axes.push_back(d);
    Tensor::Shape shape;
    std::vector<std::string> names;
    for (const DimId d : axes) {
      shape.push_back(drawn.graph.dims()[d].size);
      names.push_back(drawn.name_of(d));
    }
    const std::int64_t domain = drawn.graph.dims()[v].size;
    Integers values(shape, -1);
    std::vector<double> indicator;
    for (std::int64_t& value : values.values) {
      if (drawn.random.chance(seen)) value = drawn.random.below(domain);
      for (std::int64_t s = 0; s < domain; ++s) {
        const bool possible = value == -1 || value == s;
        indicator.push_back(static_cast<double>(possible ? oracle::one(drawn.semiring) : oracle::zero(drawn.semiring)));
      }
    }
    options.evidence.emplace(drawn.name_of(v), values);
    names.push_back(drawn.name_of(v));
    shape.push_back(domain);
    graph.factor("", names);
    operands.push_back(Tensor::of<double>(shape, indicator));
  }
  return {compile(drawn.graph, planned), std::move(options), std::move(graph), std::move(operands)};
}

std::string print(const Evidence& evidence) {
  std::ostringstream text;
  for (const auto& [variable, values] : evidence) {
    text << "  " << variable << " =";
    for (const std::int64_t v : values.values) text << " " << v;
    text << "\n";
  }
  return text.str();
}

testing::AssertionResult check_values_and_gradients(DrawnChain& drawn, const Observed& observed) {
  const std::vector<Tensor> cotangents = random_cotangents(drawn);
  const auto got =
      value_and_gradient(observed.plan, drawn.tensors(), observed.options, {.cotangents = cotangents, .gradients = {}});
  const std::vector<Tensor> values = observed.plan.run(drawn.tensors(), observed.options);
  oracle::Question q = chain_question(drawn, cotangents);
  for (std::size_t f = q.operands.size(); f < observed.operands.size(); ++f) {
    q.operands.push_back(numbers(observed.operands[f]));
    q.direction.emplace_back(q.operands.back().size(), 0);
  }
  const auto exact = oracle::derivative(observed.graph, q);
  const auto magnitude = oracle::derivative(observed.graph, oracle::absolute(q));
  testing::AssertionResult good = testing::AssertionSuccess();
  for (std::size_t o = 0; o < values.size() && good; ++o) {
    const Numbers want = values_of(exact.outputs[o]);
    const Numbers size = drawn.semiring == Semiring::log ? log_magnitude(want) : values_of(magnitude.outputs[o]);
    const Tensor::Shape shape = shape_of(drawn.graph, drawn.graph.outputs()[o]);
    good = near("output " + std::to_string(o), values[o], shape, want, size, {1e-12, 1e-300});
    if (good) good = near("value " + std::to_string(o), got.values[o], shape, want, size, {1e-12, 1e-300});
  }
  for (std::size_t f = 0; f < drawn.tensors().size() && good; ++f) {
    good = near("gradient " + std::to_string(f), got.gradients[f], drawn.tensors()[f].shape(),
                values_of(exact.gradients[f]), values_of(magnitude.gradients[f]), {1e-11, 1e-300});
  }
  return good;
}

testing::AssertionResult check_posterior(DrawnChain& drawn, const Observed& observed) {
  oracle::Posterior posterior = observed.posterior();
  const auto ask_marginals = [&] { return marginals(observed.plan, drawn.tensors(), observed.options); };
  const auto ask_entropy = [&] { return entropy(observed.plan, drawn.tensors(), observed.options); };
  const auto ask_samples = [&] {
    return sample(observed.plan, drawn.tensors(), {.count = 400, .seed = drawn.c.seed}, observed.options);
  };
  if (any_zero(posterior.table({}), drawn.semiring)) {
    auto good = impossible([&] { (void)ask_marginals(); });
    if (good) good = impossible([&] { (void)ask_entropy(); });
    if (good) good = impossible([&] { (void)ask_samples(); });
    return good;
  }
  const Marginals got = ask_marginals();
  testing::AssertionResult good = testing::AssertionSuccess();
  for (const DimId v : drawn.variables()) {
    if (!good) return good;
    const Numbers want = posterior.marginal({v});
    good = near("marginal of " + drawn.name_of(v), got.variables.at(drawn.name_of(v)),
                posterior.shape(posterior.axes({v})), want, want, {1e-11, 1e-300});
  }
  const Numbers h = posterior.entropy();
  if (good) {
    good = near("entropy", ask_entropy(), posterior.shape(posterior.axes({})), h, Numbers(h.size(), 100), {1e-13, 0});
  }
  if (!good) return good;
  const auto draws = ask_samples();
  for (std::size_t n = 0; n < posterior.batches(); ++n) {
    const Numbers cells = posterior.cells(n);
    std::vector<std::int64_t> counts(cells.size(), 0);
    for (std::size_t s = 0; s < 400; ++s) {
      ++counts.at(posterior.cell(posterior.states(s * posterior.batches() + n, draws), n));
    }
    if (const auto likely = plausible(counts, cells); !likely) return likely;
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult check_best(DrawnChain& drawn, const Observed& observed) {
  oracle::Posterior posterior = observed.posterior();
  const Numbers best = posterior.table({});
  const auto ask = [&] { return map(observed.plan, drawn.tensors(), observed.options); };
  if (any_zero(best, drawn.semiring)) return impossible([&] { (void)ask(); });
  const MapResult got = ask();
  const auto good =
      near("score", got.score, posterior.shape(posterior.axes({})), best, log_magnitude(best), {1e-13, 0});
  if (!good) return good;
  for (std::size_t n = 0; n < posterior.batches(); ++n) {
    // An assignment that contradicts the evidence weighs nothing.
    const long double weight = posterior.weight(n, posterior.states(n, got.assignment));
    if (!(std::abs(weight - best[n]) <= 1e-11L)) return testing::AssertionFailure() << "batch " << n << " is not best";
  }
  return testing::AssertionSuccess();
}

template <class Check>
void run(std::uint64_t runs, Semiring semiring, Check check, bool signs = false, bool nested = false) {
  const ChainDraw draw{
      .semiring = semiring, .zero_percent = 2, .signs = signs, .graphs = {.most_work = 6000, .nested = nested}};
  for_each_chain(runs, draw, [&](DrawnChain& drawn) -> testing::AssertionResult {
    const Observed observed = observe(drawn);
    testing::AssertionResult good = testing::AssertionSuccess();
    try {
      good = check(drawn, observed);
    } catch (const std::exception& error) {
      good = testing::AssertionFailure() << "threw " << error.what();
    }
    if (good) return good;
    return testing::AssertionFailure() << print(observed.options.evidence) << good.message();
  });
}

TEST(ChainEvidence, ValuesAndGradients) {
  run(300, Semiring::log, check_values_and_gradients);
  run(300, Semiring::real, check_values_and_gradients, true);
}
TEST(ChainEvidence, Posteriors) {
  run(250, Semiring::log, check_posterior);
  run(150, Semiring::real, check_posterior);
}
TEST(ChainEvidence, BestAssignments) {
  run(200, Semiring::max_plus, check_best);
  run(120, Semiring::min_plus, check_best);
  run(120, Semiring::max_product, check_best);
}

TEST(ChainEvidence, OfChainsInsideChains) {
  run(100, Semiring::log, check_values_and_gradients, false, true);
  run(100, Semiring::log, check_posterior, false, true);
  run(100, Semiring::max_plus, check_best, false, true);
}

/// Weather that stays as it is three days in four, seen on one day only.
TEST(ChainEvidence, OfOneDayByHand) {
  const double stay = std::log(0.75), change = std::log(0.25);
  EinsumOptions options{.chains = {{"t", {"a->b"}}}, .sizes = {{"t", 3}}};
  options.plan.observable = {"b"};
  options.evidence = {{"b", Integers({3}, {-1, 1, -1})}};
  const Marginals p =
      marginals("(t) a b ->", {Tensor::of<double>({2, 2}, {stay, change, change, stay})}, options, {.ends = true});
  EXPECT_NEAR(p.variables.at("b").at({1, 1}), 1, 1e-15);
  EXPECT_NEAR(p.variables.at("a").at({2, 1}), 1, 1e-15);
  EXPECT_NEAR(p.variables.at("a").at({1, 1}), 0.75, 1e-14);
  EXPECT_NEAR(p.variables.at("b$").at({1}), 0.75, 1e-14);
  EXPECT_NEAR(p.variables.at("^a").at({1}), 0.75 * 0.75 + 0.25 * 0.25, 1e-14);
}

TEST(ChainEvidence, OfNeighboursThatDisagreeIsImpossible) {
  EinsumOptions options{.chains = {{"t", {"a->b"}}}, .sizes = {{"t", 3}}};
  options.plan.observable = {"a", "b"};
  const std::vector<Tensor> operands = {Tensor(Dtype::float64, {2, 2})};
  options.evidence = {{"a", Integers({3}, {-1, 1, -1})}, {"b", Integers({3}, {1, -1, -1})}};
  EXPECT_NO_THROW((void)marginals("(t) a b ->", operands, options));
  options.evidence = {{"a", Integers({3}, {-1, 1, -1})}, {"b", Integers({3}, {0, -1, -1})}};
  EXPECT_THROW((void)marginals("(t) a b ->", operands, options), ImpossibleError);
  EXPECT_THROW((void)map("(t) a b ->", operands, options), ImpossibleError);
  options.evidence = {{"b", Integers({2}, {0, 1})}};
  EXPECT_THROW((void)marginals("(t) a b ->", operands, options), ShapeError);
  options.evidence = {{"b", Integers({3}, {0, 2, 1})}};
  EXPECT_THROW((void)marginals("(t) a b ->", operands, options), ValueError);
}

}  // namespace
}  // namespace plated::test
