// Series and asymptotic expansions (Abramowitz and Stegun 6.1.41, 6.3.18, 6.4.12, 9.6.12, 9.7.1).
#include "likelihood/special.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace plated::likelihood {
namespace {

constexpr double far = 12;  // from here on seven terms of the expansions are exact to rounding

/// What Stirling's formula (x − ½) ln x − x + ½ ln 2π lacks, for x ≥ far.
double stirling_rest(double x) {
  const double y = 1 / (x * x);
  return (1.0 / 12 -
          y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y * (1.0 / 1188 - y * (691.0 / 360360 - y / 156)))))) /
         x;
}

const double half_log_two_pi = 0.5 * std::log(2 * std::numbers::pi);

}  // namespace

double log_gamma(double x) {
  double product = 1;
  double rest = 0;
  for (; x < far; ++x) {
    product *= x;
    if (product < 1e-290) {
      rest += std::log(product);
      product = 1;
    }
  }
  return (x - 0.5) * std::log(x) - x + half_log_two_pi + stirling_rest(x) - std::log(product) - rest;
}

double log_beta(double a, double b) {
  const auto [low, high] = std::minmax(a, b);
  if (low >= far) {
    // Stirling's formula with what cancels left out.
    return half_log_two_pi - 0.5 * std::log(high) + (low - 0.5) * std::log(low / (low + high)) -
           high * std::log1p(low / high) + stirling_rest(low) + stirling_rest(high) - stirling_rest(low + high);
  }
  if (high >= far) {
    return log_gamma(low) + (high - 0.5) * -std::log1p(low / high) - low * std::log(low + high) + low +
           stirling_rest(high) - stirling_rest(low + high);
  }
  return log_gamma(low) + log_gamma(high) - log_gamma(low + high);
}

double digamma(double x) {
  double sum = 0;
  for (; x < far; ++x) sum -= 1 / x;
  const double y = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x -
         y * (1.0 / 12 -
              y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760 - y / 12))))));
}

double trigamma(double x) {
  double sum = 0;
  for (; x < far; ++x) sum += 1 / (x * x);
  const double y = 1 / (x * x);
  return sum + 1 / x + 0.5 * y +
         y / x *
             (1.0 / 6 -
              y * (1.0 / 30 - y * (1.0 / 42 - y * (1.0 / 30 - y * (5.0 / 66 - y * (691.0 / 2730 - y * 7.0 / 6))))));
}

namespace {

/// e^−x I_order(x) √(2πx) for large x, by its expansion; order 0 or 1.
double bessel_expansion(double x, int order) {
  const double mu = 4.0 * order * order;
  double term = 1;
  double sum = 1;
  for (int k = 1; k < 40; ++k) {
    const double odd = 2 * k - 1;
    const double next = term * -(mu - odd * odd) / (8 * x * k);
    if (std::abs(next) >= std::abs(term) || std::abs(next) < 1e-18) break;
    sum += term = next;
  }
  return sum;
}

/// Σ (x²/4)^k / (k! (k + order)!), all of whose terms are above zero.
double bessel_series(double x, int order) {
  const double y = 0.25 * x * x;
  double term = 1;
  double sum = 1;
  for (int k = 1; k < 500 && term > 1e-18 * sum; ++k) sum += term *= y / (k * (k + order));
  return sum;
}

constexpr double far_bessel = 30;

}  // namespace

double log_scaled_bessel(double x) {
  if (x < far_bessel) return std::log(bessel_series(x, 0)) - x;
  return std::log(bessel_expansion(x, 0)) - 0.5 * std::log(2 * std::numbers::pi * x);
}

double bessel_ratio(double x) {
  if (x < far_bessel) return 0.5 * x * bessel_series(x, 1) / bessel_series(x, 0);
  return bessel_expansion(x, 1) / bessel_expansion(x, 0);
}

}  // namespace plated::likelihood
