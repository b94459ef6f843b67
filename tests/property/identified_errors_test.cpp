// Standard errors of small hidden Markov models whose maximum is known, and which directions no data determine.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plated/fit.hpp"
#include "property/random_model.hpp"
#include "property/seeds.hpp"

namespace plated::test {
namespace {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

/// The chances of the second of two states: at the start, after each state, and of symbols in each state.
using Chances = std::array<double, 5>;
const std::array<const char*, 3> names{"start", "move", "emit"};
std::size_t factor_of(std::size_t parameter) { return parameter == 0 ? 0 : parameter < 3 ? 1 : 2; }

double chance(double of_second, std::size_t state) { return state == 1 ? of_second : 1 - of_second; }

/// By enumeration of paths; bit t of a sequence is its symbol at t.
double probability(const Chances& at, std::size_t sequence, std::size_t length) {
  double total = 0;
  for (std::size_t path = 0; path < std::size_t{1} << length; ++path) {
    double product = chance(at[0], path & 1);
    for (std::size_t t = 0; t < length; ++t) {
      const std::size_t state = path >> t & 1;
      if (t > 0) product *= chance(at[1 + (path >> (t - 1) & 1)], state);
      product *= chance(at[3 + state], sequence >> t & 1);
    }
    total += product;
  }
  return total;
}

Tensor table(const Chances& at, std::size_t first, std::size_t rows) {
  std::vector<double> values;
  for (std::size_t r = first; r < first + rows; ++r) values.insert(values.end(), {1 - at[r], at[r]});
  return Tensor::of(rows == 1 ? Tensor::Shape{2} : Tensor::Shape{2, 2}, values);
}

Model hidden_markov_model(const Chances& at, std::size_t length, const std::array<bool, 3>& learnt) {
  FactorGraph graph;
  graph.plate("n", 1 << length);
  graph.chain("t", static_cast<std::int64_t>(length) - 1);
  graph.variable("before", 2, {"n", "t"});
  graph.variable("now", 2, {"n", "t"});
  graph.variable("first", 2, {"n"});
  graph.variable("seen", 2, {"n", "t"});
  graph.link("t", "before", "now");
  graph.factor("start", {"^before"}, {.tied = {"n"}, .distribution_of = "^before"});
  graph.factor("move", {"before", "now"}, {.tied = {"n", "t"}, .distribution_of = "now"});
  graph.factor("emit", {"now", "seen"}, {.tied = {"n", "t"}, .distribution_of = "seen"});
  graph.factor("emit first", {"^before", "first"}, {.tied = {"n"}, .distribution_of = "first"});
  std::map<std::string, Learning, std::less<>> learning;
  for (std::size_t f = 0; f < 3; ++f) learning[names[f]] = {.learn = learnt[f]};
  learning["emit first"] = {.same_as = "emit"};
  return make_model(graph,
                    {{"start", table(at, 0, 1)},
                     {"move", table(at, 1, 2)},
                     {"emit", table(at, 3, 2)},
                     {"emit first", table(at, 3, 2)}},
                    {.space = Space::real, .learning = learning});
}

/// Eigenvalues of a symmetric matrix, and eigenvectors in its columns, by Jacobi's rotations.
std::pair<std::vector<double>, std::vector<double>> eigen(std::vector<double> m, std::size_t n) {
  std::vector<double> vectors(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) vectors[i * n + i] = 1;
  for (int sweep = 0; sweep < 60; ++sweep) {
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (m[p * n + q] == 0) continue;
        const double angle = 0.5 * std::atan2(2 * m[p * n + q], m[q * n + q] - m[p * n + p]);
        const double c = std::cos(angle);
        const double s = std::sin(angle);
        const auto turn = [&](double& a, double& b) {
          const double old = a;
          a = c * a - s * b;
          b = s * old + c * b;
        };
        for (std::size_t k = 0; k < n; ++k) turn(m[k * n + p], m[k * n + q]);
        for (std::size_t k = 0; k < n; ++k) turn(m[p * n + k], m[q * n + k]);
        for (std::size_t k = 0; k < n; ++k) turn(vectors[k * n + p], vectors[k * n + q]);
      }
    }
  }
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(m[i * n + i]);
  return {values, vectors};
}

struct Tally {
  int determined = 0, undetermined = 0;
};

AssertionResult check(std::uint64_t seed, double tolerance, Tally& tally) {
  Random random(seed);
  const std::size_t length = 2 + static_cast<std::size_t>(random.below(2));
  const std::size_t sequences = std::size_t{1} << length;
  Chances truth{};
  for (double& x : truth) x = random.uniform(0.15, 0.85);
  std::array<bool, 3> learnt{};
  for (bool& one : learnt) one = random.chance(70);
  // Each sequence as often as its chance says: the truth is a maximum, and so is all that says the same of sequences.
  const double total = std::pow(10.0, random.uniform(1.5, 5));
  std::vector<double> weights;
  Integers first({static_cast<std::int64_t>(sequences)}, 0);
  Integers rest({static_cast<std::int64_t>(sequences), static_cast<std::int64_t>(length) - 1}, 0);
  for (std::size_t s = 0; s < sequences; ++s) {
    weights.push_back(total * probability(truth, s, length));
    first.values[s] = static_cast<std::int64_t>(s & 1);
    for (std::size_t t = 1; t < length; ++t)
      rest.values[s * (length - 1) + t - 1] = static_cast<std::int64_t>(s >> t & 1);
  }
  Chances start = truth;
  std::vector<std::size_t> free;
  for (std::size_t p = 0; p < truth.size(); ++p) {
    if (!learnt[factor_of(p)]) continue;
    free.push_back(p);
    start[p] = std::clamp(truth[p] + random.uniform(-0.1, 0.1), 0.05, 0.95);
  }
  if (free.empty()) return AssertionSuccess();
  const Data data{.states = {{"first", first}, {"seen", rest}},
                  .weights = {{"n", Tensor::of({static_cast<std::int64_t>(sequences)}, weights)}}};
  const Fit got = fit(hidden_markov_model(start, length, learnt), data,
                      {.iterations = 10000, .tolerance = tolerance, .standard_errors = true});
  Chances at{};
  for (std::size_t p = 0; p < at.size(); ++p) {
    const std::size_t row = p == 0 ? 0 : (p - 1) % 2;
    at[p] = got.model.factors[factor_of(p)].values()[2 * row + 1];
    if (at[p] < 0.03 || at[p] > 0.97) return AssertionSuccess();
  }
  // The information: each sequence's score, as often as it is expected.
  const std::size_t n = free.size();
  std::vector<double> information(n * n, 0);
  for (std::size_t s = 0; s < sequences; ++s) {
    const double p = probability(at, s, length);
    std::vector<double> score;
    for (const std::size_t i : free) {
      Chances more = at, less = at;
      const double h = 1e-5;
      more[i] += h;
      less[i] -= h;
      score.push_back((probability(more, s, length) - probability(less, s, length)) / (2 * h) / p);
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) information[i * n + j] += total * p * score[i] * score[j];
    }
  }
  std::vector<double> scale;
  for (std::size_t i = 0; i < n; ++i) scale.push_back(1 / std::sqrt(total / (at[free[i]] * (1 - at[free[i]]))));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) information[i * n + j] *= scale[i] * scale[j];
  }
  const auto [values, vectors] = eigen(information, n);
  for (const double value : values) {
    if (std::abs(value) > 1e-9 && value < 1e-4) return AssertionSuccess();  // nearly flat: neither is wrong
  }
  const bool steep =
      std::none_of(values.begin(), values.end(), [](double value) { return value > 1e-9 && value < 1e-2; });
  int finite = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double flat = 0;
    double variance = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const double share = vectors[i * n + k] * vectors[i * n + k];
      if (values[k] < 1e-9) flat += share;
      if (values[k] >= 1e-9) variance += share / values[k] * scale[i] * scale[i];
    }
    if (flat > 1e-12 && flat < 1e-6) return AssertionSuccess();
    const std::size_t f = factor_of(free[i]);
    const std::size_t row = free[i] == 0 ? 0 : (free[i] - 1) % 2;
    for (std::size_t state = 0; state < 2; ++state) {
      const double error = got.standard_errors.at(names[f]).values()[2 * row + state];
      const double want = flat > 1e-12 ? std::numeric_limits<double>::infinity() : std::sqrt(variance);
      const bool good = std::isinf(want) ? std::isinf(error) : std::isfinite(error);
      // The information is that of all sequences at the maximum alone.
      const bool comparable = steep && tolerance < 1e-12 && std::isfinite(want);
      if (good && (!comparable || std::abs(error / want - 1) <= 1e-4)) continue;
      return AssertionFailure() << "the standard error of parameter " << free[i] << " of " << length << " steps is "
                                << error << ", not " << want << "; " << total << " sequences"
                                << (got.notes.empty() ? "" : ": " + got.notes.back());
    }
    finite += flat <= 1e-12;
  }
  const bool noted = std::any_of(got.notes.begin(), got.notes.end(), [](const std::string& note) {
    return note.find("have standard errors without bound: the information is ") != std::string::npos;
  });
  if (noted != (finite < static_cast<int>(n))) {
    return AssertionFailure() << finite << " of " << n
                              << " are determined: " << (got.notes.empty() ? "no note" : got.notes.back());
  }
  ++(finite == 0 ? tally.undetermined : tally.determined);
  return AssertionSuccess();
}

TEST(StandardErrors, OfChainsAreInfiniteWhereNothingIsDetermined) {
  for (const double tolerance : {1e-9, 1e-14}) {  // where fits end by themselves, and at the maximum
    Tally tally;
    for_each_seed(200, [&](std::uint64_t seed) { return check(seed, tolerance, tally); });
    EXPECT_GE(tally.determined, quota(70));
    EXPECT_GE(tally.undetermined, quota(25));
  }
}

}  // namespace
}  // namespace plated::test
