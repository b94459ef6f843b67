// Standard errors of the parameters of likelihoods.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plated/error.hpp"
#include "plated/fit.hpp"
#include "unit/learn/small_models.hpp"
#include "unit/likelihood/mixtures.hpp"
#include "unit/likelihood/numbers_model.hpp"

namespace plated::test {
namespace {

TEST(LikelihoodErrors, AreThoseOfTextbooksWhereNothingIsLatent) {
  for (const double scale : {1.0, 1e200, 1e-200}) {
    const std::vector<double> numbers{1 * scale, 2 * scale, 4 * scale, 5 * scale, 8 * scale};
    const Fit got = fit(numbers_model(5, {.family = Family::normal}), {.measurements = {{"x", list_of(numbers)}}},
                        {.standard_errors = true});
    const double deviation = std::sqrt(6.0);
    EXPECT_NEAR(got.likelihood_errors.at("f").at("mean").item() / scale, deviation / std::sqrt(5.0), 1e-9);
    EXPECT_NEAR(got.likelihood_errors.at("f").at("deviation").item() / scale, deviation / std::sqrt(10.0), 1e-9);
    EXPECT_TRUE(got.standard_errors.empty());
    EXPECT_TRUE(got.notes.empty());
  }
  const Fit poisson = fit(numbers_model(5, {.family = Family::poisson}),
                          {.measurements = {{"x", list_of({0, 3, 1, 2, 4})}}, .weights = {{"i", Tensor::scalar(3.0)}}},
                          {.standard_errors = true});
  EXPECT_NEAR(poisson.likelihood_errors.at("f").at("rate").item(), std::sqrt(2.0 / 15), 1e-9);
  const Fit states = fit(numbers_model(5, {.family = Family::categorical}),
                         {.measurements = {{"x", list_of({0, 2, 1, 2, 1})}}}, {.standard_errors = true});
  const auto error = [](double p) { return std::sqrt(p * (1 - p) / 5); };
  expect_near(states.likelihood_errors.at("f").at("probabilities").values(), {error(0.2), error(0.4), error(0.4)},
              1e-9);
  EXPECT_TRUE(fit(numbers_model(5, {}), {.measurements = {{"x", list_of({1, 2, 3, 4, 5})}}}).likelihood_errors.empty());
}

/// One number of a fitted model that may be moved.
struct Movable {
  std::string parameter;  ///< empty: of the table 'kinds'
  std::size_t entry = 0;
  std::size_t reference = 0;  ///< what makes up for it, where it is not the entry itself
  double error = 0;
  double unit = 0;  ///< of steps: the error, or less where a bound is near
};

/// ln L of a model some of whose numbers are moved, those of all its likelihoods together.
double log_likelihood_at(const Fit& fitted, const Data& data, const std::vector<std::pair<Movable, double>>& moves) {
  Model model = fitted.model;
  for (const auto& [at, step] : moves) {
    const auto move = [&, at = at, step = step](Tensor& numbers) {
      std::vector<double> values = numbers.values();
      values[at.entry] += step;
      if (at.reference != at.entry) values[at.reference] -= step;
      numbers = Tensor::of<double>(numbers.shape(), values);
    };
    if (at.parameter.empty()) {
      move(model.factors[0]);
    } else {
      for (auto& [name, likelihood] : model.likelihoods) move(likelihood.parameters.at(at.parameter));
    }
  }
  return evaluate(model, data).log_likelihood;
}

std::vector<Movable> movables(const Fit& fitted) {
  std::vector<Movable> result;
  const std::vector<double> kinds = fitted.model.factors[0].values();
  const std::size_t largest = kinds[0] > kinds[1] ? 0 : 1;
  const double share = fitted.standard_errors.at("kinds").values()[1 - largest];
  result.push_back({"", 1 - largest, largest, share, std::min(share, kinds[1 - largest])});
  for (const auto& [name, errors] : fitted.likelihood_errors.at("numbers")) {
    const std::vector<double> values = fitted.model.likelihoods.at("numbers").parameters.at(name).values();
    const std::vector<double> own = errors.values();
    const std::size_t row = name == "probabilities" ? values.size() / 2 : 1;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(k / row * row);
      const auto reference =
          static_cast<std::size_t>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(row)) - values.begin());
      const bool chance = name == "zero" || name.starts_with("probabilit");
      const double room = chance ? std::min(values[k], 1 - values[k]) : name == "mean" ? own[k] : values[k];
      if (row == 1 || reference != k) {
        result.push_back({name, k, row == 1 ? k : reference, own[k], std::min(own[k], room)});
      }
    }
  }
  return result;
}

/// The errors are the roots of the diagonal of the inverse of the information by finite differences.
void expect_inverse(const Fit& fitted, const Data& data) {
  const std::vector<Movable> free = movables(fitted);
  const std::size_t n = free.size();
  std::vector<double> information(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_TRUE(free[i].error > 0 && std::isfinite(free[i].error)) << free[i].parameter << " " << free[i].entry;
    for (std::size_t j = 0; j <= i; ++j) {
      const auto second = [&](double h) {
        const auto at = [&](double a, double b) {
          return log_likelihood_at(fitted, data, {{free[i], a * h * free[i].unit}, {free[j], b * h * free[j].unit}});
        };
        return (at(1, -1) + at(-1, 1) - at(1, 1) - at(-1, -1)) / (4 * h * h);
      };
      const double h = 0.02;
      information[i * n + j] = information[j * n + i] = (4 * second(h) - second(2 * h)) / 3;
    }
  }
  // Solves for each column of the inverse.
  for (std::size_t c = 0; c < n; ++c) {
    std::vector<double> matrix = information;
    std::vector<double> column(n, 0);
    column[c] = 1;
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = 0; i < n; ++i) {
        const double factor = i == k ? 0 : matrix[i * n + k] / matrix[k * n + k];
        for (std::size_t j = 0; j < n; ++j) matrix[i * n + j] -= factor * matrix[k * n + j];
        column[i] -= factor * column[k];
      }
    }
    const double variance = column[c] / matrix[c * n + c] * free[c].unit * free[c].unit;
    EXPECT_NEAR(std::sqrt(variance) / free[c].error, 1, 1e-3) << free[c].parameter << " " << free[c].entry;
  }
}

TEST(LikelihoodErrors, OfMixturesAgreeWithFiniteDifferences) {
  for (const Mixture& mixture : mixtures()) {
    SCOPED_TRACE(name(mixture.start.family));
    const Data data = drawn_with_weights(80, mixture);
    const Fit got =
        fit(rows_model(80, mixture.start), data, {.iterations = 2000, .tolerance = 1e-13, .standard_errors = true});
    expect_inverse(got, data);
    // The information is that of the numbers as they are: at a maximum or near to it.
    const Fit near =
        fit(rows_model(80, mixture.start), data, {.iterations = 8, .accelerate = false, .standard_errors = true});
    expect_inverse(near, data);
  }
}

TEST(LikelihoodErrors, OfChainsAndSharedParametersAgreeWithFiniteDifferences) {
  FactorGraph graph;
  graph.plate("n", 30);
  graph.chain("t", 9);
  graph.variable("a", 2, {"n", "t"});
  graph.variable("b", 2, {"n", "t"});
  graph.variable("kind", 2, {"n"});
  graph.link("t", "a", "b");
  graph.factor("kinds", {"kind"}, {.tied = {"n"}, .distribution_of = "kind"});
  graph.factor("move", {"a", "b"}, {.tied = {"n", "t"}, .distribution_of = "b"});
  graph.factor("numbers", {"b"}, {.tied = {"n", "t"}});
  graph.factor("more", {"kind"}, {.tied = {"n"}});
  const Likelihood start{.family = Family::normal,
                         .parameters = {{"mean", two(-1, 1)}, {"deviation", Tensor::scalar(1.0)}}};
  const Model model = make_model(
      graph, {{"kinds", two(0.5, 0.5)}, {"move", Tensor::of<double>({2, 2}, {0.8, 0.2, 0.3, 0.7})}},
      {.space = Space::real,
       .learning = {{"kinds", {.learn = true}}, {"numbers", {.learn = true}}, {"more", {.same_as = "numbers"}}},
       .likelihoods = {{"numbers", start}, {"more", start}}});
  Random random(6);
  std::vector<double> numbers;
  std::vector<double> more;
  bool first = true;
  for (int k = 0; k < 270; ++k) {
    if (random.chance(25)) first = !first;
    const double number = (first ? -2 : 2) + sum_of_uniforms(random);
    numbers.push_back(random.chance(10) ? missing : number);
    if (k % 9 == 0) more.push_back((first ? -2 : 2) + sum_of_uniforms(random));
  }
  Integers lengths({30}, 0);
  for (std::int64_t& length : lengths.values) length = 3 + random.below(7);
  const Data data{.measurements = {{"numbers", Tensor::of<double>({30, 9}, numbers)}, {"more", list_of(more)}},
                  .lengths = {{"t", lengths}}};
  const Fit got = fit(model, data, {.iterations = 2000, .tolerance = 1e-13, .standard_errors = true});
  EXPECT_EQ(got.likelihood_errors.at("more").at("mean").values(),
            got.likelihood_errors.at("numbers").at("mean").values());
  expect_inverse(got, data);
}

TEST(LikelihoodErrors, SayWhatIsHeldAndWhatNothingReaches) {
  Model model = mixture_model(6, 3,
                              {.family = Family::normal,
                               .parameters = {{"mean", Tensor::of<double>({3}, {0, 5, 900})},
                                              {"deviation", Tensor::of<double>({3}, {1, 0.01, 0.01})}}});
  const Data data{.measurements = {{"x", list_of({-1, 0, 1, 0.5, 5, 5})}}};
  const Fit got = fit(model, data, {.standard_errors = true});
  const auto& errors = got.likelihood_errors.at("f");
  EXPECT_NEAR(errors.at("mean").values()[0], got.model.likelihoods.at("f").parameters.at("deviation").values()[0] / 2,
              1e-9);
  EXPECT_EQ(errors.at("deviation").values()[1], 0);
  EXPECT_TRUE(std::isinf(errors.at("mean").values()[2]));
  const auto noted = [&](const std::string& text) {
    return std::find(got.notes.begin(), got.notes.end(), text) != got.notes.end();
  };
  EXPECT_TRUE(
      noted("deviation of likelihood 'f' (k=1) are at a bound: they are taken as fixed and have no standard "
            "error"));
  EXPECT_TRUE(
      noted("mean of likelihood 'f' (k=2), deviation of likelihood 'f' (k=2) have standard errors without "
            "bound: nothing that is observed reaches them"));
  const Fit one = fit(numbers_model(3, {.family = Family::bernoulli}), {.measurements = {{"x", list_of({1, 1, 1})}}},
                      {.standard_errors = true});
  EXPECT_EQ(one.likelihood_errors.at("f").at("probability").item(), 0);
  EXPECT_EQ(one.notes.size(), 1u);
}

}  // namespace
}  // namespace plated::test
