// Densities and weighted estimates by hand, in long double and by search: what likelihoods are held against.
#pragma once

#include <cmath>
#include <map>
#include <numbers>
#include <string>
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
  }
  return 0;
}

inline bool counts_zero(Family family) { return family == Family::poisson; }

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
  const std::vector<std::string> families = family_names();
  Likelihood likelihood{.family = *family_named(random.pick(families)), .zero_inflated = random.chance(40)};
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  for (const std::string& name : parameter_names(likelihood.family, likelihood.zero_inflated)) {
    std::vector<double> values;
    for (std::int64_t k = 0; k < elements; ++k) {
      values.push_back(name == "zero"   ? random.uniform(0.1, 0.6)
                       : name == "mean" ? random.uniform(-2, 2)
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
  }
  return 0;
}

}  // namespace plated::test
