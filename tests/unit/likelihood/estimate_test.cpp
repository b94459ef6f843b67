// Estimates of all families: by hand, against searches, and where data are degenerate.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "likelihood/special.hpp"
#include "plated/fit.hpp"
#include "property/naive_likelihood.hpp"
#include "unit/likelihood/numbers_model.hpp"

namespace plated {
namespace {

using test::list_of;
using test::numbers_model;

Fit fitted(Family family, const std::vector<double>& numbers, bool inflated = false) {
  return fit(numbers_model(1, {.family = family, .zero_inflated = inflated}),
             {.measurements = {{"x", list_of(numbers)}}});
}

double parameter(const Fit& fit, const std::string& name) {
  return fit.model.likelihoods.at("f").parameters.at(name).values()[0];
}

// scipy.special of SciPy 1.17.1 (gammaln, digamma, polygamma) and mpmath 1.3.0 (beta, besseli).
TEST(SpecialFunctions, AgreeWithReferenceValues) {
  using namespace likelihood;
  EXPECT_NEAR(log_gamma(1e-05), 11.512919692895826, 1.1512919692895826e-12);
  EXPECT_NEAR(digamma(1e-05), -100000.57719921567, 1.0000057719921567e-08);
  EXPECT_NEAR(trigamma(1e-05), 10000000001.644913, 0.0010000000001644913);
  EXPECT_NEAR(log_gamma(0.3), 1.0957979948180756, 1.0957979948180757e-13);
  EXPECT_NEAR(digamma(0.3), -3.502524222200133, 3.502524222200133e-13);
  EXPECT_NEAR(trigamma(0.3), 12.245364546107734, 1.2245364546107733e-12);
  EXPECT_NEAR(log_gamma(1), 0.0, 1e-13);
  EXPECT_NEAR(digamma(1), -0.5772156649015329, 1e-13);
  EXPECT_NEAR(trigamma(1), 1.6449340668482266, 1.6449340668482267e-13);
  EXPECT_NEAR(log_gamma(2.5), 0.2846828704729192, 1e-13);
  EXPECT_NEAR(digamma(2.5), 0.7031566406452432, 1e-13);
  EXPECT_NEAR(trigamma(2.5), 0.4903577561002349, 1e-13);
  EXPECT_NEAR(log_gamma(11.9), 17.25847745059552, 1.7258477450595522e-12);
  EXPECT_NEAR(digamma(11.9), 2.4339335368825377, 2.4339335368825376e-13);
  EXPECT_NEAR(trigamma(11.9), 0.08766320119000418, 1e-13);
  EXPECT_NEAR(log_gamma(12.1), 17.74700727079874, 1.774700727079874e-12);
  EXPECT_NEAR(digamma(12.1), 2.4513143481743374, 2.4513143481743374e-13);
  EXPECT_NEAR(trigamma(12.1), 0.08615364647098629, 1e-13);
  EXPECT_NEAR(log_gamma(300), 1409.2020674704117, 1.4092020674704118e-10);
  EXPECT_NEAR(digamma(300), 5.702114882064637, 5.702114882064637e-13);
  EXPECT_NEAR(trigamma(300), 0.0033388950617146773, 1e-13);
  EXPECT_NEAR(log_gamma(100000000.0), 1742068066.1038349, 0.00017420680661038349);
  EXPECT_NEAR(digamma(100000000.0), 18.420680738952367, 1.8420680738952366e-12);
  EXPECT_NEAR(trigamma(100000000.0), 1.000000005e-08, 1e-13);
  EXPECT_NEAR(log_beta(0.1, 0.2), 2.6809784793469147, 8.042935438040743e-13);
  EXPECT_NEAR(log_beta(0.1, 500.0), 1.6313418658865746, 4.894025597659724e-13);
  EXPECT_NEAR(log_beta(3.0, 40.0), -10.446973958541667, 3.1340921875625e-12);
  EXPECT_NEAR(log_beta(2000.0, 3000.0), -3367.6843821531884, 1.0103053146459565e-09);
  EXPECT_NEAR(log_beta(13.0, 13.0), -18.02917623165675, 5.408752869497025e-12);
  EXPECT_NEAR(log_scaled_bessel(0.0), 0.0, 1e-13);
  EXPECT_NEAR(bessel_ratio(0.0), 0.0, 1e-14);
  EXPECT_NEAR(log_scaled_bessel(0.5), -0.4384502808145187, 1e-13);
  EXPECT_NEAR(bessel_ratio(0.5), 0.24249961258080194, 1e-14);
  EXPECT_NEAR(log_scaled_bessel(7.0), -1.8725070849171512, 1.8725070849171514e-13);
  EXPECT_NEAR(bessel_ratio(7.0), 0.9255322107941522, 1e-14);
  EXPECT_NEAR(log_scaled_bessel(29.9), -2.6136146894449044, 2.6136146894449044e-13);
  EXPECT_NEAR(bessel_ratio(29.9), 0.9831328332658057, 1e-14);
  EXPECT_NEAR(log_scaled_bessel(30.1), -2.616976791048818, 2.6169767910488183e-13);
  EXPECT_NEAR(bessel_ratio(30.1), 0.983245897153711, 1e-14);
  EXPECT_NEAR(log_scaled_bessel(1000.0), -4.3726911101305355, 4.3726911101305354e-13);
  EXPECT_NEAR(bessel_ratio(1000.0), 0.9994998748748043, 1e-14);
  EXPECT_NEAR(log_scaled_bessel(1000000.0), -7.826693687186747, 7.826693687186748e-13);
  EXPECT_NEAR(bessel_ratio(1000000.0), 0.999999499999875, 1e-14);
}

TEST(Estimate, AgreesWithASearch) {
  const std::vector<double> shares = {0.11, 0.62, 0.35, 0.41, 0.9, 0.27};
  const std::vector<double> sizes = {0.3, 4.2, 1.5, 0.02, 9.1, 2.2};
  const std::vector<double> angles = {3.0, -3.1, 2.4, 2.9, -2.5, 0.4};
  for (const auto& [family, numbers] : {std::pair(Family::gamma, sizes), std::pair(Family::beta, shares),
                                        std::pair(Family::von_mises, angles), std::pair(Family::normal, sizes)}) {
    test::Weighted seen;
    for (const double number : numbers) seen.emplace_back(number, 1);
    const test::Parameters best = test::naive_best(family, seen, {});
    const Fit found = fitted(family, numbers);
    for (const auto& [name, value] : best) EXPECT_NEAR(parameter(found, name), value, 2e-6 * std::abs(value)) << name;
    EXPECT_TRUE(found.notes.empty());
  }
}

TEST(Estimate, OfStatesIsTheirShare) {
  EXPECT_NEAR(parameter(fitted(Family::bernoulli, {1, 0, 1, 1}), "probability"), 0.75, 1e-15);
  const Fit found = fitted(Family::categorical, {0, 2, 2, 1});
  const Tensor& probabilities = found.model.likelihoods.at("f").parameters.at("probabilities");
  EXPECT_EQ(probabilities.shape(), (Tensor::Shape{3}));
  EXPECT_EQ(probabilities.values(), (std::vector<double>{0.25, 0.25, 0.5}));
  EXPECT_EQ(found.parameters, 2);
}

TEST(Estimate, OfDegenerateNumbersIsHeldAndNamed) {
  const auto is_named = [](const Fit& found) {
    return found.notes.size() == 1 && found.notes[0].find("is degenerate") != std::string::npos;
  };
  for (const std::vector<double>& numbers : {std::vector<double>{0.25}, {0.25, 0.25, 0.25}}) {
    for (const Family family : {Family::gamma, Family::beta, Family::von_mises}) {
      const Fit found = fitted(family, numbers);
      EXPECT_TRUE(is_named(found)) << name(family);
      EXPECT_TRUE(std::isfinite(found.log_likelihood));
    }
  }
  const Fit gamma = fitted(Family::gamma, {1e300, 2e300, 5e299});
  EXPECT_NEAR(parameter(gamma, "shape") / parameter(gamma, "rate") / 1e300, 3.5 / 3, 1e-9);
  EXPECT_TRUE(gamma.notes.empty());
}

TEST(Estimate, OfInflatedZerosIsTheirShare) {
  for (const Family family : {Family::gamma, Family::beta, Family::von_mises}) {
    const std::vector<double> rest = {0.2, 0.5, 0.7};
    const Fit found = fitted(family, {0, 0.2, 0.5, 0.7}, true);
    EXPECT_NEAR(parameter(found, "zero"), 0.25, 1e-15);
    const Fit alone = fitted(family, rest);
    EXPECT_NEAR(found.log_likelihood, alone.log_likelihood + std::log(0.25) + 3 * std::log(0.75), 1e-9);
  }
}

}  // namespace
}  // namespace plated
