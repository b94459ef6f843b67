// Observations in lists of rows answer and fit as the same in arrays of all slices do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <variant>

#include "plated/error.hpp"
#include "plated/fit.hpp"
#include "plated/solve.hpp"
#include "property/in_any_form.hpp"
#include "property/seeds.hpp"
#include "property/written_case.hpp"

namespace plated::test {
namespace {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

/// A model of votes in plates, whose parents are in some of them; or in a chain and a plate.
struct RandomVotes {
  Model model;
  Evidence dense;  // −1 where there is no row
  Long list;
  Evidence beside;  // of another variable
  bool complete = false;

  explicit RandomVotes(Random& random) {
    FactorGraph graph;
    const bool chain = random.chance(25);
    const std::vector<std::string> plates{"i", "j", "k"};
    std::vector<std::int64_t> sizes;
    for (const std::string& name : plates) {
      sizes.push_back(1 + random.below(3));
      if (chain && name == "i") {
        graph.chain("i", sizes.back());
      } else {
        graph.plate(name, sizes.back());
      }
    }
    std::map<std::string, Tensor> numbers;
    const auto subset = [&](const std::vector<std::string>& of, int percent) {
      std::vector<std::string> some;
      for (const std::string& name : of) {
        if (random.chance(percent)) some.push_back(name);
      }
      return some;
    };
    const auto without = [](const std::vector<std::string>& all, const std::vector<std::string>& some) {
      std::vector<std::string> rest;
      for (const std::string& name : all) {
        if (std::find(some.begin(), some.end(), name) == some.end()) rest.push_back(name);
      }
      return rest;
    };
    const auto add = [&](const std::string& name, std::vector<std::string> axes,
                         const std::vector<std::string>& parents, const std::string& child,
                         const std::vector<std::string>& tied) {
      axes.insert(axes.end(), parents.begin(), parents.end());
      axes.insert(axes.begin() + random.below(std::ssize(axes) + 1), child);
      const auto at = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), child) - axes.begin());
      Tensor::Shape shape;
      for (const std::string& axis : axes) shape.push_back(graph.dims()[*graph.find(axis)].size);
      graph.factor(name, axes, {.tied = tied, .distribution_of = child});
      numbers.emplace(name, distribution(shape, at, random));
    };
    std::vector<std::string> parents;
    if (chain) {
      graph.variable("a", 2, {"i"});
      graph.variable("b", 2, {"i"});
      graph.link("i", "a", "b");
      add("begin", {}, {}, "a", {});
      add("move", {}, {"a"}, "b", {"i"});
      parents.push_back("b");
    } else {
      const std::vector<std::string> in = subset(plates, 45);
      graph.variable("t", 2 + random.below(2), in);
      const std::vector<std::string> axes = subset(in, 30);
      add("prior", axes, {}, "t", without(in, axes));
      parents.push_back("t");
      if (random.chance(40)) {
        const std::vector<std::string> also = subset(in, 60);
        graph.variable("x", 2, also);
        add("other", {}, {}, "x", also);
        parents.push_back("x");
        if (random.chance(50)) beside.emplace("x", states(graph, also, 2, 80, random));
      }
    }
    const std::vector<std::string> in = random.chance(50) ? plates : std::vector<std::string>{"i", "j"};
    const bool fits = std::all_of(parents.begin(), parents.end(), [&](const std::string& parent) {
      const std::vector<DimId>& of = graph.variable_plates()[*graph.find(parent)];
      return in.size() == 3 || std::find(of.begin(), of.end(), *graph.find("k")) == of.end();
    });
    const std::vector<std::string>& own = fits ? in : plates;
    graph.variable("v", 2 + random.below(2), own);
    const std::vector<std::string> axes = subset(own, 50);
    add("votes", axes, parents, "v", without(own, axes));
    complete = random.chance(30);
    dense.emplace("v", states(graph, own, graph.dims()[*graph.find("v")].size, complete ? 100 : 50, random));
    make_list(own, random);
    const Space space = random.chance(50) ? Space::real : Space::log;
    for (const auto& [name, tensor] : numbers) {
      for (double& entry : tensor.span<double>()) entry = space == Space::log ? std::log(entry) : entry;
    }
    model = make_model(graph, numbers, {.space = space});
  }

 private:
  static Tensor distribution(const Tensor::Shape& shape, std::size_t axis, Random& random) {
    Tensor result(Dtype::float64, shape);
    const std::span<double> entries = result.span<double>();
    for (double& entry : entries) entry = random.uniform(0.1, 1);
    const auto stride = static_cast<std::size_t>(Tensor::row_major(shape)[axis]);
    const auto extent = static_cast<std::size_t>(shape[axis]);
    for (std::size_t first = 0; first < entries.size(); ++first) {
      if (first / stride % extent != 0) continue;
      double sum = 0;
      for (std::size_t k = 0; k < extent; ++k) sum += entries[first + k * stride];
      for (std::size_t k = 0; k < extent; ++k) entries[first + k * stride] /= sum;
    }
    return result;
  }

  static Integers states(const FactorGraph& graph, const std::vector<std::string>& plates, std::int64_t count, int seen,
                         Random& random) {
    std::vector<std::int64_t> shape;
    for (const std::string& plate : plates) shape.push_back(graph.dims()[*graph.find(plate)].size);
    Integers result(shape, -1);
    for (std::int64_t& state : result.values) {
      if (random.chance(seen)) state = random.below(count);
    }
    result.values[0] = std::max<std::int64_t>(0, result.values[0]);
    result.values.back() = std::max<std::int64_t>(0, result.values.back());  // so that lists tell the sizes
    return result;
  }

  void make_list(const std::vector<std::string>& plates, Random& random) {
    const Integers all = dense.at("v").integers();
    std::vector<std::size_t> order(all.values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t k = order.size(); k > 1; --k)
      std::swap(order[k - 1], order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(k)))]);
    std::vector<std::int64_t> values;
    std::vector<std::vector<std::int64_t>> slices(plates.size());
    for (const std::size_t cell : order) {
      if (all.values[cell] < 0 && random.chance(80)) continue;  // a row may say nothing
      values.push_back(all.values[cell]);
      auto rest = static_cast<std::int64_t>(cell);
      for (std::size_t k = plates.size(); k-- > 0; rest /= all.shape[k]) slices[k].push_back(rest % all.shape[k]);
    }
    const auto rows = static_cast<std::int64_t>(values.size());
    list.states = in_any_form(Integers({rows}, values), random);
    for (std::size_t k = 0; k < plates.size(); ++k) {
      list.slices.emplace(plates[k], in_any_form(Integers({rows}, slices[k]), random));
    }
  }
};

AssertionResult same(const std::string& what, const std::vector<double>& got, const std::vector<double>& want) {
  if (got.size() != want.size()) return AssertionFailure() << what << " has " << got.size() << " numbers";
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (got[k] == want[k] || std::abs(got[k] - want[k]) <= 1e-9 * std::max(1.0, std::abs(want[k]))) continue;
    return AssertionFailure() << what << ": " << got[k] << ", not " << want[k] << " at " << k;
  }
  return AssertionSuccess();
}

AssertionResult check_answers(const RandomVotes& votes) {
  Model dense = votes.model;
  observe(dense, votes.dense);
  observe(dense, votes.beside);
  Model rows = votes.model;
  observe(rows, votes.beside);
  observe(rows, "v", votes.list);
  if (auto good = same("ln Z", log_partition(rows).values(), log_partition(dense).values()); !good) return good;
  const std::map<std::string, Tensor> right = marginals(dense);
  const std::map<std::string, Tensor> found = marginals(rows);
  for (const auto& [name, probabilities] : right) {
    if (name == "v") continue;
    if (auto good = same(name, found.at(name).values(), probabilities.values()); !good) return good;
  }
  if (!votes.complete) return AssertionSuccess();  // missing votes have a best state, too
  return same("the best score", map(rows).score.values(), map(dense).score.values());
}

AssertionResult check_fit(const RandomVotes& votes) {
  Data dense{.states = votes.beside};
  dense.states.insert(votes.dense.begin(), votes.dense.end());
  const Data rows{.states = votes.beside, .lists = {{"v", votes.list}}};
  const FitOptions options{.iterations = 4, .tolerance = 0, .accelerate = false};
  Fit right = fit(votes.model, dense, options);
  Fit found = fit(votes.model, rows, options);
  // Where nothing is gained any more, rounding decides which of them ends first.
  const std::size_t steps = std::min(right.history.size(), found.history.size());
  right.history.resize(steps);
  found.history.resize(steps);
  if (auto good = same("the history", found.history, right.history); !good) return good;
  if (found.observations != right.observations || found.notes != right.notes)
    return AssertionFailure() << found.observations << " observations, not " << right.observations;
  for (std::size_t f = 0; f < right.model.factors.size(); ++f) {
    if (auto good = same("a table", found.model.factors[f].values(), right.model.factors[f].values()); !good)
      return good;
  }
  const auto counts = expected_counts(votes.model, rows);
  for (const auto& [name, count] : expected_counts(votes.model, dense)) {
    if (auto good = same(name, counts.at(name).values(), count.values()); !good) return good;
  }
  const Score score = evaluate(votes.model, rows);
  const Score expected = evaluate(votes.model, dense);
  if (score.cells != expected.cells) return AssertionFailure() << score.cells << " cells, not " << expected.cells;
  return same("the score", {score.log_likelihood}, {expected.log_likelihood});
}

/// In batches of a plate, which are the same for both.
AssertionResult check_batches(const RandomVotes& votes, Random& random, std::int64_t& cut) {
  Data dense{.states = votes.beside};
  dense.states.insert(votes.dense.begin(), votes.dense.end());
  Data rows{.states = votes.beside, .lists = {{"v", votes.list}}};
  const bool chain = votes.model.graph.dims()[*votes.model.graph.find("i")].kind == DimKind::chain;
  const std::string plate(1, static_cast<char>((chain ? 'j' : 'i') + random.below(chain ? 2 : 3)));
  FitOptions options{.restarts = 1 + static_cast<int>(random.below(2)),
                     .iterations = 3,
                     .tolerance = 0,
                     .pseudo_count = random.chance(50) ? 0.1 : 0,
                     .batch = {{plate, 1 + random.below(3)}},
                     .seed = static_cast<std::uint64_t>(random.below(100)),
                     .threads = 1 + static_cast<int>(random.below(2))};
  if (random.chance(30)) {
    std::vector<double> weights;
    for (std::int64_t k = 0; k < votes.model.graph.dims()[*votes.model.graph.find(plate)].size; ++k)
      weights.push_back(random.chance(20) ? 0.0 : random.uniform(0.2, 3));
    dense.weights.emplace(plate, Tensor::of(weights));
    rows.weights = dense.weights;
  }
  // What is refused, or excluded by what the first batches teach, is so in both forms.
  const auto attempt = [&](const Data& data) -> std::variant<Fit, std::string> {
    try {
      return fit(votes.model, data, options);
    } catch (const OptionError& refused) {
      return refused.what();
    } catch (const ImpossibleError& excluded) {
      return excluded.what();
    }
  };
  const auto in_arrays = attempt(dense);
  const auto in_rows = attempt(rows);
  if (const auto* const refused = std::get_if<std::string>(&in_arrays)) {
    const auto* const also = std::get_if<std::string>(&in_rows);
    if (also != nullptr && *also == *refused) return AssertionSuccess();
    return AssertionFailure() << "rows are not refused: " << *refused;
  }
  if (const auto* const refused = std::get_if<std::string>(&in_rows)) return AssertionFailure() << *refused;
  const Fit& right = std::get<Fit>(in_arrays);
  const Fit& found = std::get<Fit>(in_rows);
  ++cut;
  std::vector<double> objectives, others;
  for (const Restart& one : right.restarts) objectives.push_back(one.objective);
  for (const Restart& one : found.restarts) others.push_back(one.objective);
  if (auto good = same("what restarts end with", others, objectives); !good) return good;
  if (found.best != right.best) return AssertionSuccess();  // two that differ by rounding alone
  if (auto good = same("the history in batches", found.history, right.history); !good) return good;
  for (std::size_t f = 0; f < right.model.factors.size(); ++f) {
    if (auto good = same("a table", found.model.factors[f].values(), right.model.factors[f].values()); !good)
      return good;
  }
  return AssertionSuccess();
}

AssertionResult check_standard_errors(const RandomVotes& votes, std::int64_t& determined) {
  Data dense{.states = votes.beside};
  dense.states.insert(votes.dense.begin(), votes.dense.end());
  const Data rows{.states = votes.beside, .lists = {{"v", votes.list}}};
  const FitOptions options{.iterations = 2, .accelerate = false, .pseudo_count = 2, .standard_errors = true};
  const Fit right = fit(votes.model, dense, options);
  const Fit found = fit(votes.model, rows, options);
  for (const auto& [name, errors] : right.standard_errors) {
    const std::vector<double> want = errors.values();
    const std::vector<double> got = found.standard_errors.at(name).values();
    // Where the information is nearly singular, rounding decides.
    const auto is_plain = [](double error) { return std::isfinite(error) && error < 1; };
    if (!std::all_of(want.begin(), want.end(), is_plain)) return AssertionSuccess();
    for (std::size_t k = 0; k < want.size(); ++k) {
      if (std::abs(got[k] - want[k]) > 1e-6)
        return AssertionFailure() << name << ": error " << got[k] << ", not " << want[k];
    }
  }
  ++determined;
  return AssertionSuccess();
}

TEST(Lists, AnswerAndFitAsArraysDo) {
  std::int64_t checked = 0;
  std::int64_t determined = 0;
  std::int64_t cut = 0;
  for_each_seed(1500, [&](std::uint64_t seed) {
    Random random(seed);
    const RandomVotes votes(random);
    try {
      AssertionResult good = check_answers(votes);
      if (good) good = check_fit(votes);
      if (good) good = check_batches(votes, random, cut);
      if (good && seed % 4 == 0) good = check_standard_errors(votes, determined);
      ++checked;
      return good ? good : good << "\n" << votes.model.graph.print();
    } catch (const IntractableError&) {
      return AssertionSuccess();
    }
  });
  EXPECT_GE(checked, quota(1000));
  EXPECT_GE(determined, quota(20));
  EXPECT_GE(cut, quota(200));
}

}  // namespace
}  // namespace plated::test
