// Fits models whose EM is short enough to be written by hand, and says what fit() promises besides.
#include "plated/fit.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "plated/error.hpp"
#include "plated/model_file.hpp"
#include "plated/solve.hpp"
#include "property/written_case.hpp"
#include "unit/learn/small_models.hpp"

namespace plated::test {
namespace {

/// Dawid and Skene's own loops.
struct ByHand {
  std::vector<double> prior, confusion;
  double log_likelihood = 0;

  void step(const Integers& seen, std::int64_t classes) {
    const std::int64_t items = seen.shape[0];
    const std::int64_t annotators = seen.shape[1];
    std::vector<double> class_counts(prior.size(), 0), vote_counts(confusion.size(), 0);
    log_likelihood = 0;
    for (std::int64_t i = 0; i < items; ++i) {
      std::vector<double> posterior = prior;
      for (std::int64_t a = 0; a < annotators; ++a) {
        const std::int64_t v = seen.at({i, a});
        for (std::int64_t k = 0; v >= 0 && k < classes; ++k)
          posterior[static_cast<std::size_t>(k)] *=
              confusion[static_cast<std::size_t>((a * classes + k) * classes + v)];
      }
      double sum = 0;
      for (const double p : posterior) sum += p;
      log_likelihood += std::log(sum);
      for (std::int64_t k = 0; k < classes; ++k) {
        const double p = posterior[static_cast<std::size_t>(k)] / sum;
        class_counts[static_cast<std::size_t>(k)] += p;
        for (std::int64_t a = 0; a < annotators; ++a) {
          const std::int64_t v = seen.at({i, a});
          if (v >= 0) vote_counts[static_cast<std::size_t>((a * classes + k) * classes + v)] += p;
        }
      }
    }
    normalise(class_counts, classes, prior);
    normalise(vote_counts, classes, confusion);
  }

  static void normalise(const std::vector<double>& counts, std::int64_t classes, std::vector<double>& table) {
    for (std::size_t row = 0; row < counts.size(); row += static_cast<std::size_t>(classes)) {
      double sum = 0;
      for (std::size_t k = 0; k < static_cast<std::size_t>(classes); ++k) sum += counts[row + k];
      for (std::size_t k = 0; sum > 0 && k < static_cast<std::size_t>(classes); ++k)
        table[row + k] = counts[row + k] / sum;
    }
  }
};

TEST(Fit, AgreesWithDawidAndSkeneByHand) {
  const Model model = dawid_skene(60, 7, 3);
  const Integers seen = votes(60, 7, 3, 30, 1);
  ByHand hand{model.factors[0].values(), model.factors[1].values()};
  std::vector<double> history;
  for (int k = 0; k < 25; ++k) {
    hand.step(seen, 3);
    history.push_back(hand.log_likelihood);
  }
  const Fit got =
      fit(model, {.states = {{"vote", seen}}}, {.iterations = 25, .tolerance = 0, .accelerate = false, .threads = 1});
  expect_near(got.model.factors[0].values(), hand.prior, 1e-11);
  expect_near(got.model.factors[1].values(), hand.confusion, 1e-11);
  ASSERT_EQ(got.history.size(), 26u);
  for (std::size_t k = 0; k < 25; ++k) EXPECT_NEAR(got.history[k], history[k], 1e-9);
  hand.step(seen, 3);
  EXPECT_NEAR(got.log_likelihood, hand.log_likelihood, 1e-9);
  EXPECT_EQ(got.model.space, Space::real);
  EXPECT_EQ(got.parameters, 2 + 7 * 3 * 2);
  EXPECT_EQ(got.observations, 60);
  EXPECT_DOUBLE_EQ(got.aic, 2 * 44 - 2 * got.log_likelihood);
  EXPECT_DOUBLE_EQ(got.bic, 44 * std::log(60) - 2 * got.log_likelihood);
  EXPECT_NEAR(evaluate(got.model, {.states = {{"vote", seen}}}).log_likelihood, got.log_likelihood, 1e-9);
  ASSERT_EQ(got.notes.size(), 1u);
  EXPECT_EQ(got.notes[0], "the states of 'truth' can be swapped: nothing but the start says which is which");
}

TEST(Fit, AccelerationEndsAtTheSameNumbersInFewerSteps) {
  const Model model = dawid_skene(80, 5, 3);
  const Data data{.states = {{"vote", votes(80, 5, 3, 20, 2)}}};
  const Fit plain = fit(model, data, {.iterations = 20000, .tolerance = 1e-13, .accelerate = false});
  const Fit fast = fit(model, data, {.iterations = 20000, .tolerance = 1e-13});
  EXPECT_TRUE(plain.converged && fast.converged);
  EXPECT_NEAR(fast.log_likelihood, plain.log_likelihood, 1e-6);
  EXPECT_LT(2 * fast.restarts[0].iterations, plain.restarts[0].iterations);
  for (std::size_t k = 1; k < fast.history.size(); ++k) EXPECT_GE(fast.history[k], fast.history[k - 1] - 1e-9);
}

TEST(Fit, KeepsTheBestOfItsRestartsWithTheSameBitsOnAnyThreads) {
  const Model model = dawid_skene(40, 4, 3);
  const Data data{.states = {{"vote", votes(40, 4, 3, 10, 3)}}};
  const Fit one = fit(model, data, {.restarts = 5, .iterations = 60, .seed = 9, .threads = 1});
  const Fit two = fit(model, data, {.restarts = 5, .iterations = 60, .seed = 9, .threads = 3});
  ASSERT_EQ(one.restarts.size(), 5u);
  for (const Restart& restart : one.restarts) EXPECT_LE(restart.objective, one.objective);
  EXPECT_EQ(one.restarts[one.best].objective, one.objective);
  EXPECT_NE(one.restarts[1].objective, one.restarts[2].objective);
  EXPECT_EQ(one.best, two.best);
  EXPECT_EQ(one.history, two.history);
  EXPECT_EQ(one.model.factors[1].values(), two.model.factors[1].values());
  // The first starts from the model's own numbers.
  EXPECT_EQ(fit(model, data, {.iterations = 60}).objective, one.restarts[0].objective);
}

TEST(Fit, WeightedSlicesAreRepeatedOnes) {
  const Integers few({3, 2}, {0, 0, 1, 1, 0, 1});
  Integers many({6, 2}, {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 1});
  const FitOptions options{.iterations = 7, .tolerance = 0, .accelerate = false};
  const Fit weighted =
      fit(dawid_skene(3, 2, 2), {.states = {{"vote", few}}, .weights = {{"item", Tensor::of<double>({3}, {3, 2, 1})}}},
          options);
  const Fit repeated = fit(dawid_skene(6, 2, 2), {.states = {{"vote", many}}}, options);
  expect_near(weighted.model.factors[1].values(), repeated.model.factors[1].values(), 1e-12);
  EXPECT_NEAR(weighted.log_likelihood, repeated.log_likelihood, 1e-12);
  EXPECT_EQ(weighted.observations, 6);
}

TEST(Fit, PlatesHaveAsManySlicesAsTheData) {
  const Integers seen = votes(33, 4, 2, 10, 4);
  const FitOptions options{.iterations = 5};
  const Fit got = fit(dawid_skene(2, 4, 2), {.states = {{"vote", seen}}}, options);
  EXPECT_EQ(got.log_likelihood, fit(dawid_skene(33, 4, 2), {.states = {{"vote", seen}}}, options).log_likelihood);
  EXPECT_EQ(got.model.graph.dims()[*got.model.graph.find("item")].size, 33);
  EXPECT_THROW((void)fit(dawid_skene(2, 3, 2), {.states = {{"vote", seen}}}, options), ShapeError);
}

/// Scaled forward and backward recursions; state 0 is before the first step and is not observed.
struct BaumWelch {
  std::array<double, 2> start{0.6, 0.4};
  std::array<std::array<double, 2>, 2> move{{{0.7, 0.3}, {0.2, 0.8}}};
  std::array<std::array<double, 3>, 2> emit{{{0.5, 0.3, 0.2}, {0.1, 0.2, 0.7}}};
  double log_likelihood = 0;

  void step(const Integers& seen, const std::vector<std::int64_t>& lengths) {
    std::array<double, 2> first{};
    std::array<std::array<double, 2>, 2> moved{};
    std::array<std::array<double, 3>, 2> emitted{};
    log_likelihood = 0;
    for (std::int64_t n = 0; n < std::ssize(lengths); ++n) {
      const auto steps = static_cast<std::size_t>(lengths[static_cast<std::size_t>(n)]);
      const auto weight = [&](std::size_t t, std::size_t y) {
        const std::int64_t s = seen.at({n, static_cast<std::int64_t>(t)});
        return s < 0 ? 1.0 : emit[y][static_cast<std::size_t>(s)];
      };
      std::vector<std::array<double, 2>> forward(steps + 1), backward(steps + 1);
      std::vector<double> scale(steps + 1, 1);
      forward[0] = start;
      for (std::size_t t = 0; t < steps; ++t) {
        for (std::size_t y = 0; y < 2; ++y)
          forward[t + 1][y] = (forward[t][0] * move[0][y] + forward[t][1] * move[1][y]) * weight(t, y);
        scale[t + 1] = forward[t + 1][0] + forward[t + 1][1];
        for (double& x : forward[t + 1]) x /= scale[t + 1];
        log_likelihood += std::log(scale[t + 1]);
      }
      backward[steps] = {1, 1};
      for (std::size_t t = steps; t-- > 0;) {
        for (std::size_t x = 0; x < 2; ++x) {
          backward[t][x] = 0;
          for (std::size_t y = 0; y < 2; ++y) {
            const double joint = move[x][y] * weight(t, y) * backward[t + 1][y] / scale[t + 1];
            backward[t][x] += joint;
            moved[x][y] += forward[t][x] * joint;
          }
        }
      }
      for (std::size_t x = 0; x < 2; ++x) first[x] += forward[0][x] * backward[0][x];
      for (std::size_t t = 0; t < steps; ++t) {
        const std::int64_t s = seen.at({n, static_cast<std::int64_t>(t)});
        for (std::size_t y = 0; s >= 0 && y < 2; ++y)
          emitted[y][static_cast<std::size_t>(s)] += forward[t + 1][y] * backward[t + 1][y];
      }
    }
    const auto normalised = [](auto row) {
      double sum = 0;
      for (const double x : row) sum += x;
      for (double& x : row) x /= sum;
      return row;
    };
    start = normalised(first);
    for (std::size_t x = 0; x < 2; ++x) {
      move[x] = normalised(moved[x]);
      emit[x] = normalised(emitted[x]);
    }
  }
};

TEST(Fit, AgreesWithBaumAndWelchByHandOnLongRaggedSequences) {
  const std::vector<std::int64_t> lengths{400, 250, 7};
  Random random(5);
  Integers seen({3, 400}, -1);
  for (std::int64_t& s : seen.values) s = random.chance(10) ? -1 : random.chance(50) ? random.below(3) : 2;
  BaumWelch hand;
  for (int k = 0; k < 12; ++k) hand.step(seen, lengths);
  Model model = hidden_markov(3, 400);
  model.lengths = {{"t", Integers({3}, std::vector<std::int64_t>(lengths))}};
  for (const Space space : {Space::log, Space::real}) {
    const Fit got = fit(in_space(model, space), {.states = {{"seen", seen}}},
                        {.iterations = 12, .tolerance = 0, .accelerate = false});
    const Model fitted = in_space(got.model, Space::real);
    expect_near(fitted.factors[0].values(), {hand.start[0], hand.start[1]}, 1e-9);
    expect_near(fitted.factors[1].values(), {hand.move[0][0], hand.move[0][1], hand.move[1][0], hand.move[1][1]}, 1e-9);
    expect_near(fitted.factors[2].values(),
                {hand.emit[0][0], hand.emit[0][1], hand.emit[0][2], hand.emit[1][0], hand.emit[1][1], hand.emit[1][2]},
                1e-9);
    EXPECT_EQ(got.model.space, space);
    EXPECT_EQ(got.observations, 657);
  }
}

TEST(Fit, RowsThatNothingReachesKeepTheirStartAndZerosStay) {
  FactorGraph graph;
  graph.plate("i", 3);
  graph.variable("x", 2, {"i"});
  graph.variable("y", 3, {"i"});
  graph.factor("x", {"x"}, {.tied = {"i"}, .distribution_of = "x"});
  graph.factor("y", {"x", "y"}, {.tied = {"i"}, .distribution_of = "y"});
  const Model model = make_model(
      graph,
      {{"x", Tensor::of<float>({2}, {0.5F, 0.5F})}, {"y", Tensor::of<double>({2, 3}, {0.5, 0.5, 0, 0.1, 0.2, 0.7})}},
      {.space = Space::real});
  const Data data{.states = {{"x", Integers({3}, {0, 0, 0})}, {"y", Integers({3}, {0, 1, 0})}}};
  const Fit got = fit(model, data);
  expect_near(got.model.factors[0].values(), {1, 0}, 1e-15);
  expect_near(got.model.factors[1].values(), {2.0 / 3, 1.0 / 3, 0, 0.1, 0.2, 0.7}, 1e-15);
  EXPECT_EQ(got.model.factors[0].dtype(), Dtype::float32);
  const Fit prior = fit(model, data, {.pseudo_count = 1});
  expect_near(prior.model.factors[0].values(), {0.8, 0.2}, 1e-7);
  expect_near(prior.model.factors[1].values(), {3.0 / 5, 2.0 / 5, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3}, 1e-15);
  EXPECT_LT(prior.log_likelihood, got.log_likelihood);
  EXPECT_EQ(got.parameters, 1 + 1 + 2);
  const Fit fixed = fit(model, data, {.learn = {"y"}});
  expect_near(fixed.model.factors[0].values(), {0.5, 0.5}, 0);
}

TEST(Fit, StopsWhereItIsToldToAndKeepsWhatItHas) {
  const Model model = dawid_skene(30, 4, 3);
  const Data data{.states = {{"vote", votes(30, 4, 3, 10, 6)}}};
  std::int64_t steps = 0;
  FitOptions options{.restarts = 3, .iterations = 1000000, .tolerance = 0, .accelerate = false, .threads = 1};
  options.progress = [&](const FitProgress& now) { steps = now.iteration; };
  options.cancelled = [&] { return steps >= 20; };
  const Fit got = fit(model, data, options);
  EXPECT_TRUE(got.interrupted);
  EXPECT_GE(got.history.size(), 20u);
  EXPECT_GT(got.objective, got.history.front());
  EXPECT_EQ(got.restarts.size(), 3u);
  options.cancelled = [] { return true; };
  EXPECT_THROW((void)fit(model, data, options), CancelledError);
}

TEST(Fit, StartsWithoutNumbersAtRandom) {
  FactorGraph graph;
  graph.plate("i", 4);
  graph.variable("x", 2, {"i"});
  graph.variable("y", 2, {"i"});
  graph.factor("x", {"x"}, {.tied = {"i"}, .distribution_of = "x"});
  graph.factor("y", {"x", "y"}, {.tied = {"i"}, .distribution_of = "y"});
  ModelOptions options;
  options.learning = {{"x", {.learn = true}}, {"y", {.learn = true}}};
  const Model model = make_model(graph, {}, options);
  EXPECT_FALSE(model.learning.at("y").started);
  const Fit got = fit(model, {.states = {{"y", Integers({4}, {0, 0, 1, 0})}}}, {.iterations = 1});
  const std::vector<double> rows = got.model.factors[1].values();
  EXPECT_NE(rows[0], rows[2]);
  EXPECT_TRUE(got.model.learning.at("y").started);
}

TEST(Fit, RefusesWhatMakesNoSense) {
  const Model model = dawid_skene(2, 2, 2);
  const auto with = [&](std::vector<std::int64_t> states) {
    return refused<ValueError>([&] { return fit(model, {.states = {{"vote", Integers({2, 2}, std::move(states))}}}); });
  };
  EXPECT_EQ(with({0, 1, 2, 0}),
            "the evidence for 'vote' has the value 2 at index (1, 0), and its states are 0 … 1 (−1: not observed)");
  EXPECT_EQ(with({-1, -1, -1, -1}), "all data of 'vote' are missing: leave the variable out, and it is latent");
  const Data data{.states = {{"vote", Integers({2, 2}, {0, 1, 1, 0})}}};
  EXPECT_EQ(refused<UnknownNameError>([&] { return fit(model, data, {.learn = {"emission"}}); }),
            "there is no factor 'emission' to learn; the model has 'prior', 'confusion'");
  EXPECT_EQ(refused<UnknownNameError>([&] {
              return fit(model, {.states = {{"grade", {}}}});
            }),
            "there is no variable 'grade' to have data; the model has 'truth', 'vote'");
  EXPECT_EQ(refused<OptionError>([&] { return fit(model); }),
            "there are no data: the model has no evidence, and none was given");
  Model undirected = model;
  undirected.children[0] = "";
  EXPECT_EQ(refused<OptionError>([&] { return fit(undirected, data, {.learn = {"prior"}}); }),
            "factor 'prior' cannot be learnt: it is no distribution. Say which variable it is one of "
            "('distribution_of')");
  Model impossible = model;
  impossible.factors[1] = Tensor::of<double>({2, 2, 2}, {1, 0, 1, 0, 1, 0, 1, 0});
  EXPECT_EQ(refused<ImpossibleError>([&] { return fit(impossible, data); }),
            "the data have no probability under the model: its zeros exclude them");
  Model shared = model;
  shared.learning["prior"] = {.learn = true, .same_as = "confusion"};
  EXPECT_THROW((void)fit(shared, data), ShapeError);
  EXPECT_THROW((void)fit(model, data, {.restarts = 0}), OptionError);
  EXPECT_THROW((void)fit(model, data, {.tolerance = -1}), OptionError);
  EXPECT_THROW((void)fit(model, data, {.pseudo_count = -1}), OptionError);
}

TEST(Fit, OfAnUnrolledModelIsThatOfTheModel) {
  Model model = dawid_skene(5, 3, 2);
  model.learning["prior"] = {.learn = true, .prior = Tensor::scalar(0.5)};
  model.learning["confusion"] = {.learn = true, .prior = Tensor::of({3, 2, 2}, std::vector<double>(12, 0.25))};
  observe(model, {{"vote", votes(5, 3, 2, 20, 8)}});
  const FitOptions options{.iterations = 4, .tolerance = 0, .accelerate = false};
  const Fit whole = fit(model, {}, options);
  const Model flat = unroll(model);
  EXPECT_EQ(flat.learning.size(), 5u + 15u);
  EXPECT_EQ(flat.learning.at(flat.graph.factors()[1].name).same_as, flat.graph.factors()[0].name);
  const Fit copies = fit(flat, {}, options);
  EXPECT_EQ(copies.parameters, whole.parameters);
  ASSERT_EQ(copies.history.size(), whole.history.size());
  for (std::size_t k = 0; k < whole.history.size(); ++k) EXPECT_NEAR(copies.history[k], whole.history[k], 1e-9);
}

TEST(Evaluate, ScoresEachSlice) {
  const Model model = dawid_skene(3, 2, 2);
  const Data data{.states = {{"vote", Integers({3, 2}, {0, 1, 1, 1, 0, -1})}}};
  const Score score = evaluate(model, data, {.plate = "item"});
  const auto both = [](double a, double b) { return std::log(0.5 * a + 0.5 * b); };
  expect_near(score.slices.values(), {both(0.21, 0.21), both(0.49, 0.09), std::log(0.5)}, 1e-12);
  EXPECT_NEAR(score.log_likelihood, both(0.21, 0.21) + both(0.49, 0.09) + std::log(0.5), 1e-12);
  EXPECT_EQ(score.cells, 5);
}

}  // namespace
}  // namespace plated::test
