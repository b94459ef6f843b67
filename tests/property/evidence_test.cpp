// Evidence: every question about observed variables, against the oracle with an indicator factor for each.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/count_samples.hpp"
#include "property/derivatives.hpp"

namespace plated::test {
namespace {

/// A plan that may observe, what is observed, and the same model with indicator factors instead.
struct Observed {
  Plan plan;
  RunOptions options;
  FactorGraph graph;
  std::vector<Tensor> operands;

  [[nodiscard]] oracle::Posterior posterior() const {
    return oracle::Posterior(graph, operands, options.semiring, options.lengths);
  }
};

/// Whole plates and chains, single slices (−1 elsewhere), values for each batch or for all; anything beyond a chain's
/// length.
Observed observe(DrawnModel& drawn) {
  PlanOptions planned;
  RunOptions options = drawn.run();
  FactorGraph graph = drawn.graph;
  std::vector<Tensor> operands = drawn.tensors();
  const oracle::Slices slices(drawn.graph, {});
  for (const DimId v : drawn.variables()) {
    if (drawn.random.chance(40)) continue;
    planned.observable.push_back(drawn.name_of(v));
    if (drawn.random.chance(20)) continue;  // it may be observed, and is not
    const int seen = drawn.random.chance(40) ? 100 : 50;
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
      if (domain > 0 && drawn.random.chance(seen)) value = drawn.random.below(domain);
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
    for (const std::int64_t v : values.values()) text << " " << v;
    text << "\n";
  }
  return text.str();
}

testing::AssertionResult check_values_and_gradients(DrawnModel& drawn, const Observed& observed) {
  const std::vector<Tensor> cotangents = random_cotangents(drawn);
  const auto got =
      value_and_gradient(observed.plan, drawn.tensors(), observed.options, {.cotangents = cotangents, .gradients = {}});
  const std::vector<Tensor> values = observed.plan.run(drawn.tensors(), observed.options);
  oracle::Question q = question(drawn, cotangents);
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

testing::AssertionResult check_posterior(DrawnModel& drawn, const Observed& observed) {
  oracle::Posterior posterior = observed.posterior();
  const std::int64_t count = 500;
  const auto ask_marginals = [&] {
    return marginals(observed.plan, drawn.tensors(), observed.options, {.factors = true});
  };
  const auto ask_entropy = [&] { return entropy(observed.plan, drawn.tensors(), observed.options); };
  const auto ask_samples = [&] {
    return sample(observed.plan, drawn.tensors(), {.count = count, .seed = drawn.c.seed}, observed.options);
  };
  const std::vector<Tensor> statistics = signed_like(drawn.tensors(), drawn.random);
  const auto ask_expectation = [&] {
    return expectation(observed.plan, drawn.tensors(), statistics, observed.options);
  };
  if (any_zero(posterior.table({}), drawn.semiring)) {
    auto good = impossible([&] { (void)ask_marginals(); });
    if (good) good = impossible([&] { (void)ask_entropy(); });
    if (good) good = impossible([&] { (void)ask_samples(); });
    if (good) good = impossible([&] { (void)ask_expectation(); });
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
  const Tensor::Shape batch = posterior.shape(posterior.axes({}));
  const Numbers h = posterior.entropy();
  if (good) good = near("entropy", ask_entropy(), batch, h, Numbers(h.size(), 100), {1e-13, 0});
  std::vector<Numbers> values = numbers(statistics);
  values.resize(observed.operands.size());
  const Numbers mean = posterior.expectation(values);
  if (good) good = near("expectation", ask_expectation(), batch, mean, Numbers(mean.size(), 100), {1e-12, 0});
  return good ? plausible(posterior, ask_samples(), count) : good;
}

testing::AssertionResult check_predictive(DrawnModel& drawn, const Observed& observed) {
  oracle::Posterior posterior = observed.posterior();
  const Numbers total = posterior.table({});
  for (const DimId plate : drawn.of_kind(DimKind::plate)) {
    Numbers want = posterior.without_each_slice(plate);
    const auto ask = [&] {
      return leave_one_out(observed.plan, drawn.tensors(), drawn.name_of(plate), observed.options);
    };
    testing::AssertionResult good = testing::AssertionSuccess();
    if (any_zero(want, drawn.semiring)) {
      good = impossible([&] { (void)ask(); });
    } else {
      std::vector<DimId> axes = posterior.axes({});
      axes.push_back(plate);
      const std::size_t slices = want.empty() ? 1 : want.size() / total.size();
      for (std::size_t k = 0; k < want.size(); ++k) want[k] = std::log(total[k / slices]) - std::log(want[k]);
      good = near("without slices of " + drawn.name_of(plate), ask(), posterior.shape(axes), want, log_magnitude(want),
                  {1e-12, 0});
    }
    if (!good) return good;
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult check_best(DrawnModel& drawn, const Observed& observed) {
  oracle::Posterior posterior = observed.posterior();
  const Numbers best = posterior.table({});
  const auto each = max_marginals(observed.plan, drawn.tensors(), observed.options);
  for (const DimId v : drawn.variables()) {
    const Numbers want = posterior.table({v});
    const auto good = near("max-marginal of " + drawn.name_of(v), each.at(drawn.name_of(v)),
                           posterior.shape(posterior.axes({v})), want, log_magnitude(want), {1e-12, 0});
    if (!good) return good;
  }
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

enum class Kind { plates, chains, chains_in_chains };

class EvidenceOf : public testing::TestWithParam<Kind> {
 protected:
  /// Checks so many models of each kind.
  template <class Check>
  static void run(const std::map<Kind, std::uint64_t>& runs, DrawOptions draw, Check check, bool loose_parts = true) {
    const bool plates = GetParam() == Kind::plates, nested = GetParam() == Kind::chains_in_chains;
    draw.zero_percent = plates ? 3 : 2;
    draw.graphs = ChainOptions{.most_work = 6000, .nested = nested, .loose_parts = loose_parts};
    if (plates) draw.graphs = CaseOptions{.most_work = 6000};
    for_each_model(runs.at(GetParam()), draw, [&](DrawnModel& drawn) -> testing::AssertionResult {
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
  static std::map<Kind, std::uint64_t> each(std::uint64_t plates, std::uint64_t chains, std::uint64_t nested) {
    return {{Kind::plates, plates}, {Kind::chains, chains}, {Kind::chains_in_chains, nested}};
  }
};

TEST_P(EvidenceOf, HasValuesAndGradientsOfIndicators) {
  run(each(500, 300, 100), {.semiring = Semiring::log}, check_values_and_gradients);
  run(each(500, 300, 30), {.semiring = Semiring::real, .signs = true}, check_values_and_gradients);
}

TEST_P(EvidenceOf, HasPosteriorsOfIndicators) {
  run(each(400, 250, 100), {.semiring = Semiring::log}, check_posterior);
  run(each(200, 150, 30), {.semiring = Semiring::real}, check_posterior);
}

TEST_P(EvidenceOf, HasPredictivesOfIndicators) {
  run(each(400, 100, 30), {.semiring = Semiring::log}, check_predictive, false);
}

TEST_P(EvidenceOf, HasTheBestAssignmentOfIndicators) {
  run(each(300, 200, 100), {.semiring = Semiring::max_plus}, check_best);
  run(each(200, 120, 30), {.semiring = Semiring::min_plus}, check_best);
  run(each(200, 120, 30), {.semiring = Semiring::max_product}, check_best);
}

std::string kind_name(const testing::TestParamInfo<Kind>& info) {
  if (info.param == Kind::plates) return "plates";
  return info.param == Kind::chains ? "chains" : "chains_in_chains";
}

INSTANTIATE_TEST_SUITE_P(Kinds, EvidenceOf, testing::Values(Kind::plates, Kind::chains, Kind::chains_in_chains),
                         kind_name);

}  // namespace
}  // namespace plated::test
