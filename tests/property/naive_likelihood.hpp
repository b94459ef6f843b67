// Densities and weighted estimates by hand, in long double and by search: what likelihoods are held against.
#pragma once

#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "plated/likelihood.hpp"
#include "property/random_case.hpp"

namespace plated::test {

using Weighted = std::vector<std::pair<double, long double>>;
using Parameters = std::map<std::string, double>;

inline Parameters parameters_at(const Likelihood& likelihood, std::size_t entry) {
  Parameters result;
  for (const auto& [name, numbers] : likelihood.parameters) result[name] = numbers.values()[entry];
  return result;
}

inline void put_parameters_at(Likelihood& likelihood, std::size_t entry, const Parameters& parameters) {
  for (auto& [name, numbers] : likelihood.parameters) {
    std::vector<double> values = numbers.values();
    values[entry] = parameters.at(name);
    numbers = Tensor::of<double>(numbers.shape(), values);
  }
}

/// ln I_0(k), by its expansion where the function itself would overflow.
inline long double naive_log_bessel(long double k) {
  if (k < 1000) return std::log(std::cyl_bessel_i(0.0L, k));
  const long double y = 1 / (8 * k);
  return k - std::log(2 * std::numbers::pi_v<long double> * k) / 2 +
         std::log1p(y * (1 + y * (9.0L / 2 + y * (225.0L / 6 + y * 11025 / 24))));
}

inline long double naive_density(Family family, const Parameters& p, double x) {
  const long double number = x;
  switch (family) {
    case Family::normal: {
      const long double away = (number - p.at("mean")) / p.at("deviation");
      return -away * away / 2 - std::log(static_cast<long double>(p.at("deviation"))) -
             std::log(2 * std::numbers::pi_v<long double>) / 2;
    }
    case Family::poisson:
      return number * std::log(static_cast<long double>(p.at("rate"))) - p.at("rate") - std::lgamma(number + 1);
    case Family::gamma: {
      const long double shape = p.at("shape");
      const long double rate = p.at("rate");
      return shape * std::log(rate) + (shape - 1) * std::log(number) - rate * number - std::lgamma(shape);
    }
    case Family::beta: {
      const long double a = p.at("alpha");
      const long double b = p.at("beta");
      return (a - 1) * std::log(number) + (b - 1) * std::log1p(-number) -
             (std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b));
    }
    case Family::von_mises: {
      const long double concentration = p.at("concentration");
      return concentration * std::cos(number - p.at("mean")) - std::log(2 * std::numbers::pi_v<long double>) -
             naive_log_bessel(concentration);
    }
    case Family::bernoulli:
      return std::log(static_cast<long double>(x == 1 ? p.at("probability") : 1 - p.at("probability")));
    case Family::categorical:
      return 0;  // random_likelihood draws none: its parameters have an axis of their own
  }
  return 0;
}

inline bool counts_zero(Family family) { return family == Family::poisson || family == Family::bernoulli; }

/// The largest value of a function with a single peak, by golden sections.
template <class Function>
double highest(double low, double high, const Function& function, double tolerance = 1e-8) {
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  while (high - low > tolerance * (1 + std::abs(low))) {
    const double a = high - ratio * (high - low);
    const double b = low + ratio * (high - low);
    if (function(a) < function(b)) {
      low = a;
    } else {
      high = b;
    }
  }
  return (low + high) / 2;
}

/// The best alpha and beta, by a search for the best mean inside a search for their sum: where numbers are nearly alike
/// the sum is large, and the mean is then far better determined than it is.
template <class Score>
std::pair<double, double> highest_pair(const Score& score) {
  const auto pair = [](double log_sum, double logit) {
    return std::pair{std::exp(log_sum) / (1 + std::exp(-logit)), std::exp(log_sum) / (1 + std::exp(logit))};
  };
  const auto scored = [&](double log_sum, double logit) {
    const auto [a, b] = pair(log_sum, logit);
    return score(a, b);
  };
  const auto mean = [&](double log_sum) {
    return highest(
        -12, 12, [&](double logit) { return scored(log_sum, logit); }, 1e-12);
  };
  const double sum = highest(-12, 19, [&](double log_sum) { return scored(log_sum, mean(log_sum)); });
  return pair(sum, mean(sum));
}

inline long double naive_log(const Likelihood& likelihood, const Parameters& p, double x) {
  if (!likelihood.zero_inflated) return naive_density(likelihood.family, p, x);
  const long double zero = p.at("zero");
  if (x != 0) return std::log(1 - zero) + naive_density(likelihood.family, p, x);
  const long double own = counts_zero(likelihood.family) ? std::exp(naive_density(likelihood.family, p, 0)) : 0;
  return std::log(zero + (1 - zero) * own);
}

/// The best parameters without inflation.
inline Parameters naive_best(Family family, const Weighted& seen, Parameters before) {
  long double weight = 0;
  long double sum = 0;
  for (const auto& [x, w] : seen) {
    weight += w;
    sum += w * x;
  }
  if (!(weight > 0)) return before;
  const long double mean = sum / weight;
  switch (family) {
    case Family::normal: {
      long double squares = 0;
      for (const auto& [x, w] : seen) squares += w * (x - mean) * (x - mean);
      before["mean"] = static_cast<double>(mean);
      before["deviation"] = static_cast<double>(std::sqrt(squares / weight));
      return before;
    }
    case Family::poisson:
      before["rate"] = static_cast<double>(mean);
      return before;
    case Family::bernoulli:
      before["probability"] = static_cast<double>(mean);
      return before;
    case Family::von_mises: {
      long double cosines = 0;
      long double sines = 0;
      for (const auto& [x, w] : seen) {
        cosines += w * std::cos(static_cast<long double>(x));
        sines += w * std::sin(static_cast<long double>(x));
      }
      const long double length = std::sqrt(cosines * cosines + sines * sines) / weight;
      before["mean"] = static_cast<double>(std::atan2(sines, cosines));
      before["concentration"] = std::exp(highest(-18, 19, [&](double log_k) {
        const long double k = std::exp(static_cast<long double>(log_k));
        return k * length - naive_log_bessel(k);
      }));
      return before;
    }
    case Family::gamma: {
      long double logs = 0;
      for (const auto& [x, w] : seen) logs += w * std::log(static_cast<long double>(x));
      const double shape = std::exp(highest(-12, 18, [&](double log_shape) {
        const long double a = std::exp(static_cast<long double>(log_shape));
        return a * std::log(a / mean) - std::lgamma(a) + (a - 1) * logs / weight - a;
      }));
      before["shape"] = shape;
      before["rate"] = static_cast<double>(shape / mean);
      return before;
    }
    case Family::beta: {
      long double logs = 0;
      long double rests = 0;
      for (const auto& [x, w] : seen) {
        logs += w / weight * std::log(static_cast<long double>(x));
        rests += w / weight * std::log1p(-static_cast<long double>(x));
      }
      std::tie(before["alpha"], before["beta"]) = highest_pair([&](long double a, long double b) {
        return (a - 1) * logs + (b - 1) * rests - (std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b));
      });
      return before;
    }
    case Family::categorical:
      break;
  }
  return before;
}

/// An M-step: zeros are shared between inflation and the distribution by what they were expected to be.
inline Parameters naive_estimate(const Likelihood& likelihood, const Parameters& before, const Weighted& seen) {
  if (!likelihood.zero_inflated) return naive_best(likelihood.family, seen, before);
  const long double zero = before.at("zero");
  const long double own = counts_zero(likelihood.family) ? std::exp(naive_density(likelihood.family, before, 0)) : 0;
  const long double share = zero > 0 ? zero / (zero + (1 - zero) * own) : 0;
  Weighted rest;
  long double inflation = 0;
  long double weight = 0;
  for (const auto& [x, w] : seen) {
    weight += w;
    if (x == 0) inflation += w * share;
    if (x != 0 || counts_zero(likelihood.family)) rest.emplace_back(x, x == 0 ? w * (1 - share) : w);
  }
  Parameters best = naive_best(likelihood.family, rest, before);
  if (weight > 0) best["zero"] = static_cast<double>(inflation / weight);
  return best;
}

inline Likelihood random_likelihood(const Tensor::Shape& shape, Random& random) {
  std::vector<std::string> families = family_names();
  families.pop_back();  // categorical
  Likelihood likelihood{.family = *family_named(random.pick(families)), .zero_inflated = random.chance(40)};
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  for (const std::string& name : parameter_names(likelihood.family, likelihood.zero_inflated)) {
    std::vector<double> values;
    for (std::int64_t k = 0; k < elements; ++k) {
      values.push_back(name == "zero" || name == "probability" ? random.uniform(0.1, 0.6)
                       : name == "mean"                        ? random.uniform(-2, 2)
                                                               : random.uniform(0.5, 3));
    }
    likelihood.parameters.emplace(name, Tensor::of<double>(shape, values));
  }
  return likelihood;
}

/// A number in the support.
inline double random_number(const Likelihood& likelihood, Random& random) {
  if (likelihood.zero_inflated && random.chance(30)) return 0;
  switch (likelihood.family) {
    case Family::normal:
      return random.uniform(-4, 4);
    case Family::poisson:
      return static_cast<double>(random.below(6));
    case Family::gamma:
      return random.uniform(0.2, 5);
    case Family::beta:
      return random.uniform(0.05, 0.95);
    case Family::von_mises:
      return random.uniform(-3, 3);
    case Family::bernoulli:
    case Family::categorical:
      return static_cast<double>(random.below(2));
  }
  return 0;
}

}  // namespace plated::test
