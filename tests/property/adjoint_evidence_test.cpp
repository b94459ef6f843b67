// Evidence: every question about observed variables, against the oracle with an indicator factor for each.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/adjoint_case.hpp"
#include "property/chi_squared.hpp"
#include "property/derivative_question.hpp"

namespace plated::test {
namespace {

/// A plan that may observe, what is observed, and the same model with indicator factors instead.
struct Observed {
  Plan plan;
  Evidence evidence;
  FactorGraph graph;
  std::vector<Tensor> operands;
};

/// Whole plates, single slices (−1 elsewhere), and values for each batch or for all of them.
Observed observe(Drawn& drawn) {
  PlanOptions options;
  const std::vector<DimId> variables = drawn.of_kind(DimKind::variable), batch = drawn.of_kind(DimKind::batch);
  const auto plates = drawn.graph.variable_plates();
  Evidence evidence;
  FactorGraph graph = drawn.graph;
  std::vector<Tensor> operands = drawn.tensors();
  for (const DimId v : variables) {
    if (drawn.random.chance(40)) continue;
    options.observable.push_back(drawn.name_of(v));
    if (drawn.random.chance(20)) continue;  // it may be observed, and is not
    const bool each_batch = drawn.random.chance(50);
    const int seen = drawn.random.chance(40) ? 100 : 50;
    std::vector<DimId> axes = each_batch ? batch : std::vector<DimId>{};
    axes.insert(axes.end(), plates[v].begin(), plates[v].end());
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
    evidence.emplace(drawn.name_of(v), values);
    names.push_back(drawn.name_of(v));
    shape.push_back(domain);
    graph.factor("", names);
    operands.push_back(Tensor::of<double>(shape, indicator));
  }
  return {compile(drawn.graph, options), std::move(evidence), std::move(graph), std::move(operands)};
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

RunOptions run_options(const Drawn& drawn, const Observed& observed) {
  RunOptions options = drawn.run();
  options.evidence = observed.evidence;
  return options;
}

testing::AssertionResult check_values_and_gradients(Drawn& drawn, const Observed& observed) {
  const std::vector<Tensor> cotangents = random_cotangents(drawn);
  const RunOptions options = run_options(drawn, observed);
  const auto got =
      value_and_gradient(observed.plan, drawn.tensors(), options, {.cotangents = cotangents, .gradients = {}});
  const std::vector<Tensor> values = observed.plan.run(drawn.tensors(), options);
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

testing::AssertionResult check_posterior(Drawn& drawn, const Observed& observed) {
  const RunOptions options = run_options(drawn, observed);
  oracle::Posterior posterior(observed.graph, observed.operands, drawn.semiring);
  const auto ask_marginals = [&] { return marginals(observed.plan, drawn.tensors(), options, {.factors = true}); };
  const auto ask_entropy = [&] { return entropy(observed.plan, drawn.tensors(), options); };
  const auto ask_samples = [&] {
    return sample(observed.plan, drawn.tensors(), {.count = 500, .seed = drawn.c.seed}, options);
  };
  std::vector<Tensor> statistics;
  for (const Tensor& t : drawn.tensors()) statistics.push_back(signed_tensor(t.shape(), drawn.random));
  const auto ask_expectation = [&] { return expectation(observed.plan, drawn.tensors(), statistics, options); };
  if (any_zero(posterior.table({}), drawn.semiring)) {
    auto good = impossible([&] { (void)ask_marginals(); });
    if (good) good = impossible([&] { (void)ask_entropy(); });
    if (good) good = impossible([&] { (void)ask_samples(); });
    if (good) good = impossible([&] { (void)ask_expectation(); });
    return good;
  }
  const Marginals got = ask_marginals();
  testing::AssertionResult good = testing::AssertionSuccess();
  for (const DimId v : drawn.of_kind(DimKind::variable)) {
    const Numbers want = posterior.marginal({v});
    if (good) {
      good = near("marginal of " + drawn.name_of(v), got.variables.at(drawn.name_of(v)),
                  posterior.shape(posterior.axes({v})), want, want, {1e-11, 1e-300});
    }
  }
  const Tensor::Shape batch = posterior.shape(posterior.axes({}));
  const Numbers h = posterior.entropy();
  if (good) good = near("entropy", ask_entropy(), batch, h, Numbers(h.size(), 100), {1e-13, 0});
  std::vector<Numbers> values = numbers(statistics);
  values.resize(observed.operands.size());
  const Numbers mean = posterior.expectation(values);
  if (good) good = near("expectation", ask_expectation(), batch, mean, Numbers(mean.size(), 100), {1e-12, 0});
  if (!good) return good;
  const auto draws = ask_samples();
  for (std::size_t n = 0; n < posterior.batches(); ++n) {
    const Numbers cells = posterior.cells(n);
    std::vector<std::int64_t> counts(cells.size(), 0);
    for (std::size_t s = 0; s < 500; ++s) {
      ++counts.at(posterior.cell(posterior.states(s * posterior.batches() + n, draws)));
    }
    if (const auto likely = plausible(counts, cells); !likely) return likely;
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult check_predictive(Drawn& drawn, const Observed& observed) {
  oracle::Posterior posterior(observed.graph, observed.operands, drawn.semiring);
  const Numbers total = posterior.table({});
  for (const DimId plate : drawn.of_kind(DimKind::plate)) {
    Numbers want = posterior.without_each_slice(plate);
    const auto ask = [&] {
      return leave_one_out(observed.plan, drawn.tensors(), drawn.name_of(plate), run_options(drawn, observed));
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

testing::AssertionResult check_best(Drawn& drawn, const Observed& observed) {
  oracle::Posterior posterior(observed.graph, observed.operands, drawn.semiring);
  const RunOptions options = run_options(drawn, observed);
  const Numbers best = posterior.table({});
  for (const DimId v : drawn.of_kind(DimKind::variable)) {
    const Numbers want = posterior.table({v});
    const auto got = max_marginals(observed.plan, drawn.tensors(), options);
    const auto good = near("max-marginal of " + drawn.name_of(v), got.at(drawn.name_of(v)),
                           posterior.shape(posterior.axes({v})), want, log_magnitude(want), {1e-12, 0});
    if (!good) return good;
  }
  const auto ask = [&] { return map(observed.plan, drawn.tensors(), options); };
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
void run(std::uint64_t runs, Semiring semiring, Check check, bool signs = false) {
  const Draw draw{.semiring = semiring, .zero_percent = 3, .signs = signs, .graphs = {.most_work = 6000}};
  for_each_tractable(runs, draw, [&](Drawn& drawn) -> testing::AssertionResult {
    const Observed observed = observe(drawn);
    testing::AssertionResult good = testing::AssertionSuccess();
    try {
      good = check(drawn, observed);
    } catch (const std::exception& error) {
      good = testing::AssertionFailure() << "threw " << error.what();
    }
    if (good) return good;
    return testing::AssertionFailure() << print(observed.evidence) << good.message();
  });
}

TEST(EvidenceOf, ValuesAndGradients) {
  run(500, Semiring::log, check_values_and_gradients);
  run(500, Semiring::real, check_values_and_gradients, true);
}
TEST(EvidenceOf, Posteriors) {
  run(400, Semiring::log, check_posterior);
  run(200, Semiring::real, check_posterior);
}
TEST(EvidenceOf, Predictives) { run(400, Semiring::log, check_predictive); }
TEST(EvidenceOf, BestAssignments) {
  run(300, Semiring::max_plus, check_best);
  run(200, Semiring::min_plus, check_best);
  run(200, Semiring::max_product, check_best);
}

/// Rain makes sensors fire.
struct Sensors {
  Tensor rain = Tensor::of<double>({2}, {std::log(0.8), std::log(0.2)});
  Tensor fires = Tensor::of<double>({2, 2}, {std::log(0.9), std::log(0.1), std::log(0.3), std::log(0.7)});
  [[nodiscard]] Marginals ask(const Evidence& evidence, std::vector<std::string> observable = {"y", "x"}) const {
    EinsumOptions options{.plates = "i", .sizes = {{"i", 3}}};
    options.plan.observable = std::move(observable);
    options.evidence = evidence;
    return marginals("x,(i)xy->", {rain, fires}, options);
  }
};

TEST(EvidenceOf, SensorsByHand) {
  const Sensors sensors;
  EXPECT_NEAR(sensors.ask({}).variables.at("x").values()[1], 0.2, 1e-15);
  const double dry = 0.8 * 0.1 * 0.9, wet = 0.2 * 0.7 * 0.3;
  const Marginals p = sensors.ask({{"y", Integers({3}, {1, -1, 0})}});
  EXPECT_NEAR(p.variables.at("x").values()[1], wet / (dry + wet), 1e-14);
  EXPECT_NEAR(p.variables.at("y").at({1, 1}), (0.1 * dry + 0.7 * wet) / (dry + wet), 1e-14);
  EXPECT_NEAR(p.variables.at("y").at({0, 1}), 1, 1e-15);
  EXPECT_EQ(p.variables.at("y").at({2, 1}), 0);
  EXPECT_NEAR(p.log_partition.item(), std::log(dry + wet), 1e-14);
  EXPECT_NEAR(sensors.ask({{"x", Integers({}, std::vector<std::int64_t>{1})}}).variables.at("y").at({2, 1}), 0.7,
              1e-14);
}

TEST(EvidenceOf, WhatMakesNoSenseIsNamed) {
  const Sensors sensors;
  EXPECT_THROW((void)sensors.ask({{"nobody", Integers({3}, 0)}}), UnknownNameError);
  EXPECT_THROW((void)sensors.ask({{"y", Integers({3}, 2)}}), ValueError);
  EXPECT_THROW((void)sensors.ask({{"y", Integers({3}, -2)}}), ValueError);
  EXPECT_THROW((void)sensors.ask({{"y", Integers({2}, 0)}}), ShapeError);
  EXPECT_THROW((void)sensors.ask({{"y", Integers({}, 0)}}), ShapeError);
  EXPECT_THROW((void)sensors.ask({{"y", Integers({3}, 0)}}, {"x"}), OptionError);
  EXPECT_THROW((void)sensors.ask({{"i", Integers({3}, 0)}}), Error);
  EXPECT_THROW((void)sensors.ask({}, {"nobody"}), UnknownNameError);
  EXPECT_THROW((void)sensors.ask({}, {"i"}), Error);
  const double none = -std::numeric_limits<double>::infinity();
  EinsumOptions options;
  options.plan.observable = {"x"};
  options.evidence = {{"x", Integers({}, std::vector<std::int64_t>{1})}};
  const Tensor never = Tensor::of<double>({2}, {0, none});
  EXPECT_THROW((void)marginals("x->", {never}, options), ImpossibleError);
  EXPECT_THROW((void)map("x->", {never}, options), ImpossibleError);
  EXPECT_THROW((void)sample("x->", {never}, {}, options), ImpossibleError);
  EXPECT_EQ(einsum("x->", {never}, options).item(), none);
}

}  // namespace
}  // namespace plated::test
