// Fits of likelihoods of observed numbers: by hand, degenerate, through files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "plated/data_file.hpp"
#include "plated/error.hpp"
#include "plated/fit.hpp"
#include "plated/model_file.hpp"
#include "plated/solve.hpp"
#include "property/written_case.hpp"
#include "unit/graph/message_of.hpp"
#include "unit/io/same_model.hpp"
#include "unit/io/scratch.hpp"
#include "unit/likelihood/numbers_model.hpp"

namespace plated {
namespace {

using test::list_of;
using test::message_of;
using test::mixture_model;
using test::numbers_model;
using test::Scratch;

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

double parameter(const Fit& fit, const std::string& name, std::size_t k = 0) {
  return fit.model.likelihoods.at("f").parameters.at(name).values()[k];
}

bool says(const Fit& fit, const std::string& what) {
  for (const std::string& note : fit.notes) {
    if (note.find(what) != std::string::npos) return true;
  }
  return false;
}

TEST(FitNumbers, OneComponentIsTheEstimateItself) {
  const Fit normal =
      fit(numbers_model(1, {.family = Family::normal}), {.measurements = {{"x", list_of({1, 2, missing, 6})}}});
  EXPECT_NEAR(parameter(normal, "mean"), 3, 1e-14);
  EXPECT_NEAR(parameter(normal, "deviation"), std::sqrt(14.0 / 3), 1e-14);
  EXPECT_EQ(normal.parameters, 2);
  EXPECT_EQ(normal.observations, 4);
  EXPECT_TRUE(normal.notes.empty());
  const Fit poisson = fit(numbers_model(1, {.family = Family::poisson}), {.measurements = {{"x", list_of({0, 2, 7})}}});
  EXPECT_NEAR(parameter(poisson, "rate"), 3, 1e-14);
  EXPECT_EQ(poisson.parameters, 1);
}

TEST(FitNumbers, InflatedZerosAreCountedApart) {
  const Data data{.measurements = {{"x", list_of({0, 0, 0, 4, 6})}}};
  const Fit normal = fit(numbers_model(1, {.family = Family::normal, .zero_inflated = true}), data);
  EXPECT_NEAR(parameter(normal, "zero"), 0.6, 1e-14);
  EXPECT_NEAR(parameter(normal, "mean"), 5, 1e-14);
  EXPECT_NEAR(parameter(normal, "deviation"), 1, 1e-14);
  EXPECT_EQ(normal.parameters, 3);
  // The best inflated Poisson distribution has as many zeros as there are, and the mean of the numbers.
  const Fit poisson = fit(numbers_model(1, {.family = Family::poisson, .zero_inflated = true}), data, {.tolerance = 0});
  const double rate = parameter(poisson, "rate");
  const double zero = parameter(poisson, "zero");
  EXPECT_NEAR(zero + (1 - zero) * std::exp(-rate), 0.6, 1e-8);
  EXPECT_NEAR((1 - zero) * rate, 2, 1e-8);
}

TEST(FitNumbers, MixturesAreFoundFromRandomStarts) {
  std::vector<double> numbers;
  for (int k = 0; k < 300; ++k) {
    const double quantile = std::sin(k * 1.7) * 0.8;  // in (−1, 1), without a pattern
    numbers.push_back(k % 3 == 0 ? -5 + quantile : 4 + 0.5 * quantile);
  }
  const Fit found = fit(mixture_model(1, 2, {.family = Family::normal}), {.measurements = {{"x", list_of(numbers)}}},
                        {.restarts = 3});
  const std::size_t low = parameter(found, "mean", 0) < parameter(found, "mean", 1) ? 0 : 1;
  EXPECT_NEAR(parameter(found, "mean", low), -5, 0.1);
  EXPECT_NEAR(parameter(found, "mean", 1 - low), 4, 0.1);
  EXPECT_NEAR(found.model.factors[0].values()[low], 1.0 / 3, 1e-6);
  EXPECT_EQ(found.parameters, 5);
  EXPECT_TRUE(says(found, "the states of 'k' can be swapped"));
  // Its posterior, and its score on other data.
  Model model = found.model;
  measure(model, {{"x", list_of(numbers)}});
  EXPECT_NEAR(marginals(model).at("k").at({0, static_cast<std::int64_t>(low)}), 1, 1e-9);
  const Score score = evaluate(found.model, {.measurements = {{"x", list_of({-5, 4, missing})}}}, {.plate = "i"});
  EXPECT_EQ(score.cells, 2);
  const double deviation = parameter(found, "deviation", low);
  EXPECT_NEAR(score.slices.values()[0], std::log(1.0 / 3 / deviation) - 0.5 * std::log(2 * std::numbers::pi), 0.05);
  EXPECT_NEAR(score.slices.values()[2], 0, 1e-12);
}

TEST(FitNumbers, FixedLikelihoodsStayAndOthersFollow) {
  FactorGraph graph;
  graph.plate("i", 1);
  graph.variable("k", 2, {"i"});
  graph.factor("share", {"k"}, {.tied = {"i"}, .distribution_of = "k"});
  for (const char* name : {"a", "b", "c"}) graph.factor(name, {"k"}, {.tied = {"i"}});
  const Likelihood start{.parameters = {{"mean", list_of({-1, 1})}, {"deviation", Tensor::scalar(1.0)}}};
  const Model model =
      make_model(graph, {{"share", list_of({0.5, 0.5})}},
                 {.space = Space::real,
                  .learning = {{"share", {.learn = true}}, {"a", {.learn = true}}, {"b", {.same_as = "a"}}},
                  .likelihoods = {{"a", start}, {"b", start}, {"c", start}}});
  const Data data{
      .measurements = {{"a", list_of({-3, -2, 2, 3})}, {"b", list_of({-4, -1, 1, 4})}, {"c", list_of({-1, -1, 1, 1})}}};
  const Fit found = fit(model, data);
  const auto& likelihoods = found.model.likelihoods;
  EXPECT_EQ(likelihoods.at("a").parameters.at("mean").values(), likelihoods.at("b").parameters.at("mean").values());
  EXPECT_EQ(likelihoods.at("c").parameters.at("mean").values(), (std::vector<double>{-1, 1}));
  EXPECT_NEAR(likelihoods.at("a").parameters.at("mean").values()[1], 2.5, 0.05);
  EXPECT_EQ(found.parameters, 5);
  for (std::size_t k = 1; k < found.history.size(); ++k) EXPECT_GE(found.history[k], found.history[k - 1] - 1e-9);
}

TEST(FitNumbers, DegenerateComponentsAreHeldAndNamed) {
  const auto alike = [](const std::vector<double>& numbers) {
    return fit(numbers_model(1, {.family = Family::normal}), {.measurements = {{"x", list_of(numbers)}}});
  };
  for (const std::vector<double>& numbers : {std::vector<double>{7}, {7, 7, 7}, {0, 0}, {1e300, 1e300}, {1e-300}}) {
    const Fit found = alike(numbers);
    EXPECT_NEAR(parameter(found, "mean"), numbers[0], 1e-12 * std::abs(numbers[0]));
    EXPECT_GT(parameter(found, "deviation"), 0);
    EXPECT_TRUE(std::isfinite(found.log_likelihood));
    EXPECT_TRUE(says(found, "likelihood 'f' is degenerate: its deviation would be next to zero")) << numbers[0];
  }
  const Fit zeros = fit(numbers_model(1, {.family = Family::poisson}), {.measurements = {{"x", list_of({0, 0})}}});
  EXPECT_TRUE(says(zeros, "its rate would be zero"));
  EXPECT_NEAR(zeros.log_likelihood, 0, 1e-6);
}

TEST(FitNumbers, ComponentsWithoutWeightKeepTheirParameters) {
  Model model = mixture_model(2, 2, {.parameters = {{"mean", list_of({0, 5})}, {"deviation", Tensor::scalar(1.0)}}});
  model.factors[0] = list_of({1, 0});
  const Fit found = fit(model, {.measurements = {{"x", list_of({1, 2, 4})}}});
  EXPECT_NEAR(parameter(found, "mean", 0), 7.0 / 3, 1e-12);
  EXPECT_NEAR(parameter(found, "mean", 1), 5, 1e-12);
  EXPECT_TRUE(says(found, "likelihood 'f' (k=1) has no weight"));
}

TEST(FitNumbers, HugeNumbersDoNotOverflow) {
  const Data data{.measurements = {{"x", list_of({1e300, 1.1e300, -3e300, -2.9e300, -3.1e300})}}};
  const Fit found = fit(mixture_model(1, 2, {.family = Family::normal}), data, {.restarts = 4});
  const std::size_t low = parameter(found, "mean", 0) < parameter(found, "mean", 1) ? 0 : 1;
  EXPECT_NEAR(parameter(found, "mean", low) / 1e300, -3, 1e-6);
  EXPECT_NEAR(parameter(found, "mean", 1 - low) / 1e300, 1.05, 1e-6);
}

TEST(FitNumbers, EmptyPlatesHaveNothingToSay) {
  const Likelihood start{.parameters = {{"mean", Tensor::scalar(3.0)}, {"deviation", Tensor::scalar(2.0)}}};
  const Fit found = fit(numbers_model(4, start), {.measurements = {{"x", list_of({})}}});
  EXPECT_NEAR(parameter(found, "mean"), 3, 1e-15);
  EXPECT_EQ(found.log_likelihood, 0);
  EXPECT_TRUE(says(found, "has no weight"));
}

TEST(FitNumbers, RefusesDataThatDoNotFit) {
  const Model model = numbers_model(2, {.family = Family::poisson});
  const auto refused = [&](const std::vector<double>& numbers) {
    return message_of<ValueError>([&] { (void)fit(model, {.measurements = {{"x", list_of(numbers)}}}); });
  };
  EXPECT_SAYS(refused({missing, missing}), "all data of 'x' are missing");
  EXPECT_SAYS(refused({1, 0.5}), "have 0.5 at (1)");
  EXPECT_SAYS(message_of<OptionError>([&] { (void)fit(model); }), "there are no data");
  const Model both = mixture_model(2, 2, {.family = Family::normal});
  EXPECT_SAYS(message_of<OptionError>([&] {
                (void)fit(both, {.states = {{"k", Integers({2}, {0, 1})}}});
              }),
              "there are no data of 'x'");
  EXPECT_SAYS(message_of<UnknownNameError>([&] { (void)fit(model, {.measurements = {{"y", list_of({1})}}}); }), "'y'");
}

TEST(FitNumbers, HaveTheSameBitsOnAnyNumberOfThreads) {
  // More numbers than one thread takes at a time; stretches of zeros and missing ones are cut, too.
  test::Random random(12);
  std::vector<double> numbers;
  for (int k = 0; k < 300000; ++k) {
    const bool gap = k % 20000 < 3000;
    numbers.push_back(gap ? (k % 2000 < 1000 ? 0 : missing) : static_cast<double>(random.below(k % 3 == 0 ? 5 : 30)));
  }
  const Data data{.measurements = {{"x", list_of(numbers)}}};
  const Model model = mixture_model(300000, 2, {.family = Family::poisson, .zero_inflated = true});
  FitOptions options{.iterations = 4, .standard_errors = true, .threads = 1};
  const Fit one = fit(model, data, options);
  for (const int threads : {2, 3}) {
    options.threads = threads;
    const Fit some = fit(model, data, options);
    EXPECT_EQ(some.history, one.history);
    EXPECT_EQ(some.likelihood_errors.at("f").at("rate"), one.likelihood_errors.at("f").at("rate"));
  }
  // Against sums that nobody cuts: one component, whose zeros are those that a rate does not explain.
  const Fit single = fit(numbers_model(300000, {.family = Family::poisson}), data, {.iterations = 1});
  double sum = 0;
  double count = 0;
  for (const double number : numbers) {
    if (std::isnan(number)) continue;
    sum += number;
    ++count;
  }
  EXPECT_NEAR(single.model.likelihoods.at("f").parameters.at("rate").item(), sum / count, 1e-9);
}

TEST(FitNumbers, FoldsMayLackStatesThatOthersHave) {
  // 3 is seen once: the fold that holds it out learns three states, and gives it no probability.
  const Data data{.measurements = {{"x", list_of({0, 1, 2, 0, 1, 3, 2, 1})}}};
  const Fit got = fit(numbers_model(8, {.family = Family::categorical}), data, {.cross_validate = {{"i", 4}}});
  ASSERT_EQ(got.folds.size(), 4u);
  for (const Fold& fold : got.folds) {
    const bool has_it = std::find(fold.slices.begin(), fold.slices.end(), 5) != fold.slices.end();
    EXPECT_EQ(std::isinf(fold.log_likelihood), has_it);
  }
  EXPECT_EQ(got.notes.size(), 1u);
}

TEST(FitNumbers, WeightsAreCopies) {
  const Fit found = fit(numbers_model(1, {.family = Family::normal}),
                        {.measurements = {{"x", list_of({1, 5})}}, .weights = {{"i", list_of({3, 1})}}});
  EXPECT_NEAR(parameter(found, "mean"), 2, 1e-14);
  EXPECT_NEAR(parameter(found, "deviation"), std::sqrt(3.0), 1e-14);
}

const std::string states = R"({
  "format": "plated", "version": 1, "space": "real",
  "plates": {"s": 2}, "chains": {"t": {"size": 3, "links": [["a", "b"]]}},
  "variables": {"a": {"size": 2, "plates": ["s", "t"]}, "b": {"size": 2, "plates": ["s", "t"]}},
  "factors": [
    {"name": "move", "dims": ["a", "b"], "tied": ["s", "t"], "distribution_of": "b", "learn": true,
     "values": [[0.8, 0.2], [0.3, 0.7]]},
    {"name": "steps", "dims": ["b"], "tied": ["s", "t"], "learn": true,
     "likelihood": {"family": "normal", "of": "step", "mean": [0, 5], "deviation": 1}},
    {"name": "calls", "dims": ["b"], "tied": ["s", "t"], "learn": true,
     "likelihood": {"family": "poisson", "zero_inflated": true}}
  ],
  "lengths": {"t": [3, 2]},
  "measurements": {"step": [[0.5, null, 5], [4.5, 5.5, -99]]}
})";

TEST(LikelihoodsInFiles, RoundTrip) {
  const Model model = parse_model(states, "m.json");
  const Likelihood& steps = model.likelihoods.at("steps");
  EXPECT_EQ(steps.of, "step");
  EXPECT_EQ(steps.parameters.at("mean").values(), (std::vector<double>{0, 5}));
  EXPECT_TRUE(model.likelihoods.at("calls").zero_inflated);
  EXPECT_TRUE(model.likelihoods.at("calls").parameters.empty());
  EXPECT_TRUE(std::isnan(model.measurements.at("step").values()[1]));
  const std::string written = model_text(model, Format::plated).text;
  const Model again = parse_model(written, "again.json");
  test::expect_same_model(model, again);
  EXPECT_EQ(model_text(again, Format::plated).text, written);
  const Fit found = fit(model, {.measurements = {{"calls", Tensor::of<double>({2, 3}, {0, 1, 9, 7, 0, -5})}}});
  const Model fitted = parse_model(model_text(found.model, Format::plated).text, "fitted.json");
  EXPECT_EQ(fitted.likelihoods.at("calls").parameters.at("zero").values(),
            found.model.likelihoods.at("calls").parameters.at("zero").values());
  // Numbers in a file of their own.
  const Scratch scratch;
  write_model(model, scratch.folder() / "large.json", {.most_inline = 4});
  EXPECT_EQ(read_model(scratch.folder() / "large.json").measurements.at("step").values()[2], 5);
}

TEST(LikelihoodsInFiles, AreRefusedWithTheLine) {
  const auto refused = [](const std::string& before, const std::string& after) {
    std::string text = states;
    text.replace(text.find(before), before.size(), after);
    return message_of<FormatError>([&] { (void)parse_model(text, "m.json"); });
  };
  EXPECT_SAYS(refused("\"normal\"", "\"gauss\""), "there is no family 'gauss'");
  EXPECT_SAYS(refused("\"deviation\": 1", "\"deviation\": -1"), "a deviation above zero");
  EXPECT_SAYS(refused("\"deviation\": 1", "\"scale\": 1"), "no parameter 'scale'");
  EXPECT_SAYS(refused("\"of\": \"step\"", "\"of\": \"a\""), "as a variable is");
  EXPECT_SAYS(refused("{\"step\": [[0.5, null, 5]", "{\"step\": [[0.5, null]"), "the numbers of 'step'");
  EXPECT_SAYS(refused("\"measurements\": {\"step\"", "\"measurements\": {\"stop\""), "numbers called 'stop'");
  EXPECT_SAYS(refused("\"tied\": [\"s\", \"t\"], \"learn\": true,\n     \"likelihood\": {\"family\": \"poisson\"",
                      "\"tied\": [\"s\", \"t\"],\n     \"likelihood\": {\"family\": \"poisson\""),
              "has no parameters");
}

TEST(Data, ReadsNumbersFromTablesAndArrays) {
  const Model model = parse_model(states, "m.json");
  const Scratch scratch;
  const auto table = scratch.put("d.csv", "s,t,step,calls,b\n0,0,1.5,2,1\n0,1,,0,0\n1,0,NA,3,\n1,1,-2e3,4,1\n");
  const Measurements numbers = read_measurements(model, table);
  EXPECT_EQ(numbers.size(), 2U);
  EXPECT_EQ(numbers.at("step").shape(), (Tensor::Shape{2, 3}));
  EXPECT_EQ(numbers.at("step").at({1, 1}), -2000);
  EXPECT_TRUE(std::isnan(numbers.at("step").at({0, 1})));
  EXPECT_TRUE(std::isnan(numbers.at("step").at({0, 2})));
  EXPECT_EQ(numbers.at("calls").at({0, 0}), 2);
  EXPECT_EQ(read_data(model, table).at("b").values(), (std::vector<std::int64_t>{1, 0, -1, -1, 1, -1}));
  EXPECT_EQ(read_measurements(model, table, "calls").size(), 1U);
  EXPECT_THROW((void)read_measurements(model, table, "q"), UnknownNameError);
  const auto bad = scratch.put("e.csv", "s,t,step\n0,0,far\n");
  EXPECT_SAYS(message_of<FormatError>([&] { (void)read_measurements(model, bad); }), "'far' is no number of 'step'");
}

}  // namespace
}  // namespace plated
