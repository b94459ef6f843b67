// Solves models, which reduces them first, against the same questions with evidence as factors.
#include "plated/solve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "plated/error.hpp"
#include "plated/marginals.hpp"
#include "property/in_any_form.hpp"
#include "property/random_case.hpp"
#include "property/random_operands.hpp"
#include "property/seeds.hpp"
#include "unit/reduce/random_network.hpp"

namespace plated::test {
namespace {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

std::string print(const Model& model) {
  std::string text = model.graph.print();
  for (const auto& [variable, states] : model.evidence) {
    text += variable + " =";
    for (const std::int64_t state : states) text += " " + std::to_string(state);
    text += "\n";
  }
  return text;
}

AssertionResult close(const char* what, const Tensor& got, const Tensor& want, double tolerance) {
  if (got.shape() != want.shape()) return AssertionFailure() << what << ": shape";
  const std::vector<double> a = got.values();
  const std::vector<double> b = want.values();
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] == b[k] || std::abs(a[k] - b[k]) <= tolerance * std::max(1.0, std::abs(b[k]))) continue;
    return AssertionFailure() << what << ": " << a[k] << ", not " << b[k];
  }
  return AssertionSuccess();
}

/// The same questions without any reduction.
struct Plain {
  explicit Plain(const Model& model) : logs(in_space(model, Space::log)), plan(make(model)) {
    run.evidence = model.evidence;
  }
  static Plan make(const Model& model) {
    PlanOptions options;
    for (const auto& [variable, states] : model.evidence) options.observable.push_back(variable);
    return compile(model.graph.asking({{}}), options);
  }
  Model logs;
  Plan plan;
  RunOptions run;
};

/// The weight of assignments: all variables observed.
Tensor weight(const Model& model, const std::map<std::string, Integers>& assignment) {
  Model observed = model;
  observed.evidence = assignment;
  return Plain(observed).plan.run(in_space(model, Space::log).factors, {.evidence = assignment})[0];
}

/// Joint and single queries, in any order of variables, against sets of the unreduced model.
AssertionResult check_queries(const Model& model, const Plain& plain, std::uint64_t seed) {
  Random random(seed + 3);
  const std::vector<std::string> names = variables(model);
  if (names.empty()) return AssertionSuccess();
  std::vector<std::vector<std::string>> query;
  MarginalOptions wanted{.variables = false};
  for (int k = 0; k < 4; ++k) {
    std::vector<std::string> entry;
    const std::int64_t count = 1 + random.below(std::min<std::int64_t>(3, static_cast<std::int64_t>(names.size())));
    while (static_cast<std::int64_t>(entry.size()) < count) {
      const std::string& name = names[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(names.size())))];
      if (std::find(entry.begin(), entry.end(), name) == entry.end()) entry.push_back(name);
    }
    wanted.sets.push_back(entry);
    query.push_back(std::move(entry));
  }
  std::vector<Tensor> want;
  try {
    want = marginals(plain.plan, plain.logs.factors, plain.run, wanted).sets;
  } catch (const IntractableError&) {
    return AssertionSuccess();
  }
  const std::vector<Tensor> got = marginals(model, query);
  for (std::size_t q = 0; q < query.size(); ++q) {
    // The states of a set are in declaration order, those of a query in its own.
    std::vector<std::string> declared = query[q];
    std::sort(declared.begin(), declared.end(),
              [&](const auto& a, const auto& b) { return *model.graph.find(a) < *model.graph.find(b); });
    const std::size_t before = got[q].rank() - declared.size();
    std::vector<std::size_t> axes;
    for (std::size_t a = 0; a < before; ++a) axes.push_back(a);
    for (const std::string& name : query[q]) {
      const auto place = std::find(declared.begin(), declared.end(), name) - declared.begin();
      axes.push_back(before + static_cast<std::size_t>(place));
    }
    AssertionResult good = close("query", got[q], want[q].permuted(axes), 1e-11);
    if (!good) return good << " of " << query[q][0] << " and " << query[q].size() - 1 << " more";
  }
  return AssertionSuccess();
}

/// Every plate's slices, or a refusal where all others are impossible.
AssertionResult check_left_out(const Model& model, const Plain& plain) {
  for (const Dim& dim : model.graph.dims()) {
    if (dim.kind != DimKind::plate || dim.size == 0) continue;
    const auto answer = [&](auto ask) -> std::optional<Tensor> {
      try {
        return ask();
      } catch (const ImpossibleError&) {
        return std::nullopt;
      }
    };
    const auto got = answer([&] { return leave_one_out(model, dim.name); });
    const auto want = answer([&] { return leave_one_out(plain.plan, plain.logs.factors, dim.name, plain.run); });
    if (got.has_value() != want.has_value()) return AssertionFailure() << "only one leaves out slices of " << dim.name;
    if (!got) continue;
    AssertionResult good = close("leave one out", *got, *want, 1e-10);
    if (!good) return good << " of " << dim.name;
  }
  return AssertionSuccess();
}

/// Max-marginals of every variable, also of the states that the reduction leaves out.
AssertionResult check_scores(const Model& model, const Plain& plain) {
  const auto got = max_marginals(model);
  const auto want = max_marginals(plain.plan, plain.logs.factors, plain.run);
  if (got.size() != want.size()) return AssertionFailure() << "max-marginals of other variables";
  for (const auto& [variable, scores] : want) {
    AssertionResult good = close(("max-marginal of " + variable).c_str(), got.at(variable), scores, 1e-11);
    if (!good) return good;
  }
  return AssertionSuccess();
}

/// Plans that are kept answer with the bits of those that are not.
AssertionResult check_kept(const Model& model) {
  KeptPlans kept;
  const SolveOptions options{.plans = &kept};
  const auto fresh = marginals(model);
  for (int k = 0; k < 2; ++k) {
    const auto again = marginals(model, options);
    for (const auto& [variable, posterior] : fresh) {
      if (again.at(variable).values() != posterior.values()) return AssertionFailure() << "other bits of " << variable;
    }
    if (log_partition(model, options).values() != log_partition(model).values()) {
      return AssertionFailure() << "other bits of ln Z";
    }
  }
  return AssertionSuccess();
}

AssertionResult check(const Model& model, std::uint64_t seed) {
  const Plain plain(model);
  if (AssertionResult left_out = check_left_out(model, plain); !left_out) return left_out;
  const Tensor ln_z = plain.plan.run(plain.logs.factors, plain.run)[0];
  AssertionResult good = close("ln Z", log_partition(model), ln_z, 1e-11);
  if (!good) return good;
  bool impossible = false;
  for (const double z : ln_z.values()) impossible = impossible || z == -std::numeric_limits<double>::infinity();
  if (impossible) {
    const auto refused = [](auto ask) {
      try {
        (void)ask();
        return false;
      } catch (const ImpossibleError&) {
        return true;
      }
    };
    const bool all = refused([&] { return marginals(model); }) && refused([&] { return map(model); }) &&
                     refused([&] { return sample(model, {}); }) && refused([&] { return entropy(model); });
    return all ? AssertionSuccess() : AssertionFailure() << "an answer for impossible evidence";
  }
  const auto got = marginals(model);
  const Marginals want = marginals(plain.plan, plain.logs.factors, plain.run);
  if (got.size() != want.variables.size()) return AssertionFailure() << "marginals of other variables";
  for (const auto& [variable, posterior] : want.variables) {
    good = close(("marginal of " + variable).c_str(), got.at(variable), posterior, 1e-11);
    if (!good) return good;
  }
  good = check_queries(model, plain, seed);
  if (!good) return good;
  const MapResult best = map(model);
  good = close("score", best.score, map(plain.plan, plain.logs.factors, plain.run).score, 1e-11);
  if (good) good = close("weight of the assignment", weight(model, best.assignment), best.score, 1e-11);
  if (good) good = close("entropy", entropy(model), entropy(plain.plan, plain.logs.factors, plain.run), 1e-9);
  if (good) good = check_scores(model, plain);
  if (good) good = check_kept(model);
  if (!good) return good;
  const auto draws = sample(model, {.count = 3, .seed = seed});
  for (const auto& [variable, states] : best.assignment) {
    const auto found = draws.find(variable);
    if (found == draws.end()) return AssertionFailure() << "no samples of " << variable;
    std::vector<std::int64_t> shape = states.shape;
    shape.insert(shape.begin(), 3);
    if (found->second.shape != shape) return AssertionFailure() << "shape of the samples of " << variable;
  }
  std::map<std::string, Integers> one;
  for (const auto& [variable, states] : draws) {
    const std::size_t slices = states.values.size() / 3;
    const auto first = states.values.begin() + static_cast<std::ptrdiff_t>(slices);
    one.emplace(variable, Integers({states.shape.begin() + 1, states.shape.end()},
                                   std::vector<std::int64_t>(first, first + static_cast<std::ptrdiff_t>(slices))));
  }
  for (const double w : weight(model, one).values()) {
    if (!(w > -std::numeric_limits<double>::infinity())) return AssertionFailure() << "a sample without weight";
  }
  return AssertionSuccess();
}

AssertionResult with_repro(AssertionResult good, const Model& model) {
  return good ? good : AssertionFailure() << good.message() << "\n" << print(model);
}

TEST(Solve, AgreesWithEvidenceAsFactorsOnDirectedNetworks) {
  for_each_seed(400, [](std::uint64_t seed) {
    Random random(seed);
    Model model = random_network(random, {.variables = 3 + random.below(7)});
    observe_some(model, random, 30);
    return with_repro(check(model, seed), model);
  });
}

TEST(Solve, AgreesWithEvidenceAsFactorsOnPlatedGraphs) {
  std::size_t compared = 0;
  for_each_seed(400, [&](std::uint64_t seed) {
    const Case drawn = random_case(seed, {});
    Random random(seed + 17);
    Model model;
    model.graph = drawn.build();
    model.space = Space::log;
    for (const Factor& factor : model.graph.factors()) {
      Tensor::Shape shape;
      std::int64_t entries = 1;
      for (const DimId d : factor.dims) entries *= shape.emplace_back(model.graph.dims()[d].size);
      std::vector<double> values;
      for (std::int64_t k = 0; k < entries; ++k) {
        values.push_back(random.chance(8) ? -std::numeric_limits<double>::infinity() : random.uniform(-2, 2));
      }
      model.factors.push_back(Tensor::of(shape, values));
      model.children.emplace_back();
    }
    const auto plates = model.graph.variable_plates();
    for (const std::string& variable : variables(model)) {
      const DimId v = *model.graph.find(variable);
      if (!random.chance(40) || model.graph.dims()[v].size == 0) continue;
      Tensor::Shape shape;
      for (const DimId plate : plates[v]) shape.push_back(model.graph.dims()[plate].size);
      Integers states(shape, -1);
      const int seen = random.chance(70) ? 100 : 50;
      for (std::int64_t& state : states.values) {
        if (random.chance(seen)) state = random.below(model.graph.dims()[v].size);
      }
      model.evidence.emplace(variable, in_any_form(states, random));
    }
    try {
      (void)Plain(model);
    } catch (const IntractableError&) {
      return AssertionSuccess();
    }
    ++compared;
    return with_repro(check(model, seed), model);
  });
  EXPECT_GT(compared, 0U);
}

TEST(Solve, TakesEvidenceOfACallInPlaceOfTheModelsOwn) {
  Random random(8);
  Model model = random_network(random, {.variables = 6, .zero_percent = 0});
  const double without = log_partition(model).item();
  Model observed = model;
  observed.evidence = {{"v2", Integers({}, {0})}, {"v5", Integers({}, {0})}};
  const double right = log_partition(observed).item();
  EXPECT_EQ(log_partition(model, {.evidence = observed.evidence}).item(), right);
  EXPECT_EQ(log_partition(observed, {.evidence = {{"v2", Integers({}, {0})}}}).item(), right);
  const SolveOptions forgets{.evidence = {{"v2", Integers({}, {-1})}, {"v5", Integers({}, {-1})}}};
  EXPECT_NEAR(log_partition(observed, forgets).item(), without, 1e-14);
  EXPECT_THROW((void)log_partition(model, {.evidence = {{"v9", Integers({}, {0})}}}), UnknownNameError);
  EXPECT_THROW((void)log_partition(model, {.evidence = {{"v2", Integers({}, {9})}}}), ValueError);
  EXPECT_THROW((void)log_partition(model, {.evidence = {{"v2", Integers({2}, {0, 0})}}}), ShapeError);
}

TEST(Solve, ExpandsKnownStatesInTheOrderOfAnswers) {
  // The chain is declared first: evidence has its axis in front, answers have it behind the plate.
  FactorGraph graph;
  graph.chain("t", 2);
  graph.plate("i", 3);
  graph.variable("a", 2);
  graph.variable("b", 2);
  graph.variable("y", 4);
  graph.link("t", "a", "b");
  graph.factor("move", {"a", "b"}, {.tied = {"t", "i"}});
  graph.factor("emit", {"b", "y"}, {.tied = {"t", "i"}});
  const Integers seen({2, 3}, {0, 1, 2, 3, 0, 1});
  const Model model =
      make_model(graph, {{"move", Tensor(Dtype::float64, {2, 2})}, {"emit", Tensor(Dtype::float64, {2, 4})}},
                 {.evidence = {{"y", seen}}});
  const std::vector<std::int64_t> answered = {0, 3, 1, 0, 2, 1};
  EXPECT_EQ(map(model).assignment.at("y").values, answered);
  EXPECT_EQ(sample(model, {.count = 1}).at("y").values, answered);
  const std::vector<double> posterior = marginals(model).at("y").values();
  for (std::size_t k = 0; k < answered.size(); ++k) {
    EXPECT_EQ(posterior[4 * k + static_cast<std::size_t>(answered[k])], 1) << k;
  }
}

TEST(Solve, KeepsEvidenceOfSomeSlicesInEverySweep) {
  // Sinks that couple triples of roots, so that several sweeps are cheaper than one, and an observed child of a root.
  constexpr std::size_t states = 20;
  std::vector<std::vector<std::string>> families;
  for (int r = 0; r < 16; ++r) families.push_back({"r" + std::to_string(r)});
  for (int s = 0; s < 12; ++s) {
    families.push_back({"r" + std::to_string(s), "r" + std::to_string((5 * s + 7) % 16),
                        "r" + std::to_string((3 * s + 2) % 16 == s ? 15 : (3 * s + 2) % 16), "s" + std::to_string(s)});
  }
  families.push_back({"r0", "seen"});
  FactorGraph graph;
  graph.plate("i", 2);
  for (const auto& family : families) graph.variable(family.back(), states);
  std::map<std::string, Tensor> numbers;
  Random random(4);
  for (const auto& family : families) {
    const std::string& child = family.back();
    FactorOptions options{.distribution_of = child};
    if (child == "seen") options.tied = {"i"};
    graph.factor(child, family, options);
    std::vector<double> values;
    for (double rows = std::pow(states, family.size() - 1); rows > 0; --rows) {
      double sum = 0;
      for (std::size_t s = 0; s < states; ++s) sum += values.emplace_back(random.uniform(0.1, 1));
      for (std::size_t s = 0; s < states; ++s) *(values.rbegin() + static_cast<std::ptrdiff_t>(s)) /= sum;
    }
    numbers.emplace(child, Tensor::of(Tensor::Shape(family.size(), states), values));
  }
  const Model model =
      make_model(graph, numbers, {.space = Space::real, .evidence = {{"seen", Integers({2}, {3, -1})}}});
  EXPECT_GT(explain(model).sweeps, 1);
  // All else sums to one.
  const std::vector<double> prior = numbers.at("r0").values();
  const std::vector<double> likelihood = numbers.at("seen").values();
  std::vector<double> right;
  double sum = 0;
  for (std::size_t k = 0; k < states; ++k) sum += right.emplace_back(prior[k] * likelihood[states * k + 3]);
  const std::vector<double> got = marginals(model).at("r0").values();
  for (std::size_t k = 0; k < states; ++k) EXPECT_NEAR(got[k], right[k] / sum, 1e-12);
}

}  // namespace
}  // namespace plated::test
