// Derivatives of components with or without zero inflation, and sums of statistics as entries of cells.
#include <cmath>

#include "likelihood/components.hpp"

namespace plated::likelihood {

Derivatives Components::derivatives(std::span<const double> coordinates, std::size_t k) const {
  const std::size_t own = density_->coordinates();
  const std::size_t rows = density_->statistics();
  Derivatives result(Components::coordinates(), rows + (inflated_ ? 1 : 0));
  const std::span<const double> at = component(coordinates, k);
  density_->derive(at.first(own), result);
  if (!inflated_) return result;
  const double zero = at.back();
  result.set_held(own, zero <= 0 || zero >= 1);
  if (result.held(own)) return result;
  // Numbers that the density sees have the logarithm of 1 − zero besides: on the sum of their weights.
  const std::size_t weights = density_->form() == Form::chosen ? rows : 1;
  for (std::size_t s = 0; s < weights; ++s) {
    result.set_first(own, s, -1 / (1 - zero));
    result.set_second(own, own, s, -1 / ((1 - zero) * (1 - zero)));
  }
  if (density_->counts_zero()) {
    derive_zero(at, result);
  } else {
    result.set_first(own, rows, 1 / zero);
    result.set_second(own, own, rows, -1 / (zero * zero));
  }
  return result;
}

// ln(z + (1 − z) p), where p is the probability of a zero under the density, whose logarithm has derivatives g and h.
void Components::derive_zero(std::span<const double> at, Derivatives& result) const {
  const std::size_t own = density_->coordinates();
  const std::size_t rows = density_->statistics();
  std::vector<double> coefficients(density_->coefficients());
  density_->coefficients_of(at.first(own), coefficients);
  const Numbers one{.count = 1, .first = zero_features_.data(), .base = &zero_features_.back()};
  double log_density = 0;
  log_probabilities(density_->form(), one, 1, coefficients.data(), &log_density);
  std::vector<double> seen(rows);
  const double weight = 1;
  add_statistics(density_->form(), one, 1, coefficients.data(), &weight, seen.data());
  const auto sum = [&](const auto& derivative) {
    double total = 0;
    for (std::size_t s = 0; s < rows; ++s) total += seen[s] == 0 ? 0 : seen[s] * derivative(s);
    return total;
  };
  const double zero = at.back();
  const double p = std::exp(log_density);
  const double all = zero + (1 - zero) * p;
  const double share = (1 - zero) * p / all;  // of zeros that are not the inflation's
  const double rise = (1 - p) / all;
  result.set_first(own, rows, rise);
  result.set_second(own, own, rows, -rise * rise);
  std::vector<double> g(own);
  for (std::size_t i = 0; i < own; ++i) {
    g[i] = sum([&](std::size_t s) { return result.first(i, s); });
    result.set_first(i, rows, share * g[i]);
    result.set_second(i, own, rows, -g[i] * p / all - rise * share * g[i]);
  }
  for (std::size_t i = 0; i < own; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double h = sum([&](std::size_t s) { return result.second(i, j, s); });
      result.set_second(i, j, rows, share * (h + g[i] * g[j]) - share * share * g[i] * g[j]);
    }
  }
}

void Components::write_sums(std::span<const double> coordinates, const Cells& cells, std::size_t k,
                            std::span<const double> weights, double* entries) const {
  std::vector<double> coefficients(density_->coefficients());
  density_->coefficients_of(component(coordinates, k).first(density_->coordinates()), coefficients);
  const auto sum = [&](const Numbers& numbers, std::size_t n) {
    const double x = numbers.first[n];
    switch (density_->form()) {
      case Form::linear:
        return weights[0] + weights[1] * x + (numbers.second == nullptr ? 0 : weights[2] * numbers.second[n]);
      case Form::squared:
        return weights[0] + (x - coefficients[3]) * (weights[1] + (x - coefficients[3]) * weights[2]);
      case Form::chosen:
        break;
    }
    return weights[static_cast<std::size_t>(x)];
  };
  for (const Stretch& stretch : cells.stretches()) {
    if (stretch.group != k / parents_) continue;
    const Numbers numbers = numbers_of(cells, stretch);
    for (std::size_t cell = stretch.begin; cell < stretch.end; ++cell) {
      entries[cell * parents_ + k % parents_] = stretch.zeros ? weights.back() : sum(numbers, cell - stretch.begin);
    }
  }
}

}  // namespace plated::likelihood
