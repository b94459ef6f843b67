// Log-probabilities of all families, against reference values.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "model/measured.hpp"
#include "plated/error.hpp"
#include "plated/solve.hpp"
#include "unit/graph/message_of.hpp"
#include "unit/likelihood/numbers_model.hpp"

namespace plated {
namespace {

using test::list_of;
using test::message_of;
using test::numbers_model;

Likelihood with_parameters(Family family, const std::map<std::string, double>& parameters) {
  Likelihood likelihood{.family = family};
  for (const auto& [name, value] : parameters) likelihood.parameters.emplace(name, Tensor::scalar(value));
  likelihood.zero_inflated = parameters.contains("zero");
  return likelihood;
}

std::vector<double> log_probabilities(const Likelihood& likelihood, const std::vector<double>& numbers) {
  const Model model = numbers_model(static_cast<std::int64_t>(numbers.size()), likelihood, {{"x", list_of(numbers)}});
  return model::bound(model).factors[0].values();
}

struct Reference {
  Family family;
  std::map<std::string, double> parameters;
  double number;
  double log_probability;
};

// norm.logpdf, poisson.logpmf, … of SciPy 1.17.1, each of which agrees with 40 digits of mpmath 1.3.0 to 1e-12; the
// digits are those of mpmath.
const std::vector<Reference> references = {
    {Family::normal, {{"mean", 0.0}, {"deviation", 1.0}}, 0.0, -0.9189385332046728},
    {Family::normal, {{"mean", 0.0}, {"deviation", 1.0}}, 1.5, -2.0439385332046727},
    {Family::normal, {{"mean", 2.5}, {"deviation", 0.3}}, 2.1, -0.6038546177676253},
    {Family::normal, {{"mean", -1000.0}, {"deviation", 250.0}}, 4.0, -14.504527451066918},
    {Family::normal, {{"mean", 3.0}, {"deviation", 7.0}}, -40.0, -21.732195621035498},
    {Family::normal, {{"mean", 0.0}, {"deviation", 1.0}}, 38.5, -742.0439385332047},
    {Family::poisson, {{"rate", 1.0}}, 0.0, -1.0},
    {Family::poisson, {{"rate", 2.5}}, 3.0, -1.5428872736055899},
    {Family::poisson, {{"rate", 0.01}}, 0.0, -0.01},
    {Family::poisson, {{"rate", 0.01}}, 2.0, -9.913487552536129},
    {Family::poisson, {{"rate", 300.0}}, 280.0, -4.418626937363972},
    {Family::poisson, {{"rate", 12.25}}, 40.0, -22.349602235127957},
    {Family::gamma, {{"shape", 1.0}, {"rate", 1.0}}, 1.0, -1.0},
    {Family::gamma, {{"shape", 2.5}, {"rate", 0.5}}, 3.25, -1.8745683273603133},
    {Family::gamma, {{"shape", 0.1}, {"rate", 2.0}}, 1e-05, 8.178214984794995},
    {Family::gamma, {{"shape", 0.1}, {"rate", 2.0}}, 4.0, -11.431062858686113},
    {Family::gamma, {{"shape", 40.0}, {"rate", 8.0}}, 5.5, -0.9689229961514378},
    {Family::gamma, {{"shape", 0.02}, {"rate", 0.001}}, 1e-09, 16.269840898528464},
    {Family::gamma, {{"shape", 7.0}, {"rate", 0.0001}}, 61234.5, -11.040287604900847},
    {Family::beta, {{"alpha", 1.0}, {"beta", 1.0}}, 0.5, 0.0},
    {Family::beta, {{"alpha", 2.0}, {"beta", 5.0}}, 0.2, 0.899185263971216},
    {Family::beta, {{"alpha", 0.5}, {"beta", 0.5}}, 0.01, 1.1628803750713963},
    {Family::beta, {{"alpha", 0.1}, {"beta", 3.0}}, 1e-08, 14.42012790053684},
    {Family::beta, {{"alpha", 120.0}, {"beta", 30.0}}, 0.81, 2.4905276252727475},
    {Family::beta, {{"alpha", 5.0}, {"beta", 0.2}}, 0.999, 4.303724731322557},
    {Family::von_mises, {{"mean", 0.0}, {"concentration", 0.0}}, 1.0, -1.8378770664093456},
    {Family::von_mises, {{"mean", 0.5}, {"concentration", 1.0}}, 0.25, -1.1048790032058793},
    {Family::von_mises, {{"mean", -3.0}, {"concentration", 2.5}}, 3.0, -0.6282900209794584},
    {Family::von_mises, {{"mean", 1.0}, {"concentration", 20.0}}, 1.1, 0.4725958109068954},
    {Family::von_mises, {{"mean", 1.0}, {"concentration", 40.0}}, 0.9, 0.7225026833593284},
    {Family::von_mises, {{"mean", 2.0}, {"concentration", 500.0}}, 2.05, 1.5632454629670858},
    {Family::von_mises, {{"mean", 0.0}, {"concentration", 29.9}}, 3.0, -58.72503802531776},
    {Family::von_mises, {{"mean", 0.0}, {"concentration", 30.1}}, -3.0, -59.11967442303394},
    {Family::bernoulli, {{"probability", 0.25}}, 1.0, -1.3862943611198906},
    {Family::bernoulli, {{"probability", 0.25}}, 0.0, -0.2876820724517809},
    {Family::bernoulli, {{"probability", 1e-09}}, 1.0, -20.72326583694641},
};

TEST(LogProbability, AgreesWithReferenceValues) {
  for (const Reference& one : references) {
    SCOPED_TRACE(std::string(name(one.family)) + " at " + std::to_string(one.number));
    // Among others, which change the units that are computed in.
    const std::vector<double> alone = log_probabilities(with_parameters(one.family, one.parameters), {one.number});
    EXPECT_NEAR(alone[0], one.log_probability, 1e-12 * std::max(1.0, std::abs(one.log_probability)));
  }
}

TEST(LogProbability, OfWhatIsMissingIsZero) {
  const double missing = std::numeric_limits<double>::quiet_NaN();
  const Likelihood likelihood = with_parameters(Family::normal, {{"mean", 0}, {"deviation", 1}});
  const std::vector<double> logs = log_probabilities(likelihood, {missing, 0, missing});
  EXPECT_EQ(logs[0], 0);
  EXPECT_NEAR(logs[1], -0.5 * std::log(2 * std::numbers::pi), 1e-15);
  EXPECT_EQ(logs[2], 0);
}

TEST(LogProbability, OfHugeAndTinyNumbersIsFinite) {
  const Likelihood normal = with_parameters(Family::normal, {{"mean", 1e300}, {"deviation", 1e299}});
  const std::vector<double> logs = log_probabilities(normal, {1e300, 1.1e300, -1.7e308, 1e-300});
  EXPECT_NEAR(logs[0], -0.5 * std::log(2 * std::numbers::pi) - std::log(1e299), 1e-9);
  EXPECT_NEAR(logs[0] - logs[1], 0.5, 1e-7);  // beside numbers that are a hundred million times as large
  for (const double log : logs) EXPECT_TRUE(std::isfinite(log));
}

TEST(LogProbability, OfInflatedZeros) {
  // Counts are zero for either reason.
  const Likelihood poisson = with_parameters(Family::poisson, {{"rate", 2}, {"zero", 0.25}});
  const std::vector<double> counts = log_probabilities(poisson, {0, 2});
  EXPECT_NEAR(counts[0], std::log(0.25 + 0.75 * std::exp(-2)), 1e-14);
  EXPECT_NEAR(counts[1], std::log(0.75 * std::exp(-2) * 2), 1e-14);
  // Other zeros are inflation's alone.
  const Likelihood normal = with_parameters(Family::normal, {{"mean", 0}, {"deviation", 1}, {"zero", 0.25}});
  const std::vector<double> logs = log_probabilities(normal, {0, 1});
  EXPECT_NEAR(logs[0], std::log(0.25), 1e-15);
  EXPECT_NEAR(logs[1], std::log(0.75) - 0.5 - 0.5 * std::log(2 * std::numbers::pi), 1e-14);
}

TEST(LogProbability, BelongsToTheParentsStateAndToSlicesWithParametersOfTheirOwn) {
  FactorGraph graph;
  graph.plate("a", 2);
  graph.plate("i", 3);
  graph.variable("k", 2, {"a", "i"});
  graph.factor("share", {"k"}, {.tied = {"a", "i"}});
  graph.factor("f", {"k", "a"}, {.tied = {"i"}});                       // its axes are not in the order of the data
  const Tensor means = Tensor::of<double>({2, 2}, {0, 10, 100, 1000});  // [k, a]
  Model model =
      make_model(graph, {{"share", list_of({0, 0})}},
                 {.likelihoods = {{"f", {.parameters = {{"mean", means}, {"deviation", Tensor::scalar(1.0)}}}}}});
  measure(model, {{"f", Tensor::of<double>({2, 3}, {0, 1, 2, 10, 11, 12})}});
  const Tensor logs = model::bound(model).factors[1];
  ASSERT_EQ(logs.shape(), (Tensor::Shape{2, 3, 2}));
  const double peak = -0.5 * std::log(2 * std::numbers::pi);
  EXPECT_NEAR(logs.at({0, 0, 0}), peak, 1e-14);
  EXPECT_NEAR(logs.at({1, 0, 0}), peak, 1e-14);
  EXPECT_NEAR(logs.at({0, 1, 1}), peak - 99.0 * 99 / 2, 1e-10);
  EXPECT_NEAR(logs.at({1, 2, 1}), peak - 988.0 * 988 / 2, 1e-8);
  // Verbs on the model take the numbers for evidence.
  EXPECT_NEAR(marginals(model).at("k").at({1, 2, 0}), 1, 1e-12);
}

TEST(Measurements, AreRefusedWhereNoDensityIs) {
  const auto refused = [](const Likelihood& likelihood, const std::vector<double>& numbers) {
    return message_of<ValueError>([&] { (void)log_probabilities(likelihood, numbers); });
  };
  const Likelihood poisson = with_parameters(Family::poisson, {{"rate", 2}});
  EXPECT_SAYS(refused(poisson, {1, 2, 2.5}),
              "the data of 'x' have 2.5 at (2), and the likelihood 'f' is of whole numbers");
  EXPECT_SAYS(refused(poisson, {-1}), "whole numbers from 0");
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_SAYS(refused(with_parameters(Family::normal, {{"mean", 0}, {"deviation", 1}}), {0, infinite}), "inf at (1)");
}

TEST(Likelihoods, AreRefusedWhereTheyMakeNoSense) {
  const auto make = [](const std::map<std::string, double>& parameters) {
    (void)numbers_model(2, with_parameters(Family::normal, parameters));
  };
  EXPECT_SAYS(message_of<OperandCountError>([&] { make({{"mean", 0}}); }), "lacks its parameter 'deviation'");
  EXPECT_SAYS(message_of<UnknownNameError>([&] { make({{"mean", 0}, {"scale", 1}}); }), "no parameter 'scale'");
  EXPECT_SAYS(message_of<ValueError>([&] { make({{"mean", 0}, {"deviation", 0}}); }), "a deviation above zero");
  EXPECT_SAYS(message_of<ValueError>([&] { make({{"mean", 0}, {"deviation", 1}, {"zero", 1.5}}); }), "0 … 1");
  Likelihood shaped = with_parameters(Family::normal, {{"deviation", 1}});
  shaped.parameters["mean"] = list_of({1, 2});
  EXPECT_SAYS(message_of<ShapeError>([&] { (void)numbers_model(2, shaped); }), "the mean of likelihood 'f'");
  Model model = numbers_model(2, with_parameters(Family::normal, {{"mean", 0}, {"deviation", 1}}));
  EXPECT_SAYS(message_of<UnknownNameError>([&] { measure(model, {{"y", list_of({1, 2})}}); }), "numbers called 'y'");
  EXPECT_SAYS(message_of<ShapeError>([&] { measure(model, {{"x", list_of({1})}}); }), "(2) is expected");
}

}  // namespace
}  // namespace plated
