// Log-probabilities, statistics and estimates of all components, with or without zero inflation.
#include "likelihood/components.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace plated::likelihood {
namespace {

double log_add(double a, double b) {
  const auto [low, high] = std::minmax(a, b);
  return std::isinf(low) ? high : high + std::log1p(std::exp(low - high));
}

/// Moves probabilities towards those of a step until none is below a hundredth of the step's: a zero would stay one.
void restrain_row(std::span<double> row, std::span<const double> step) {
  constexpr double least = 0.01;
  double share = 1;
  const auto limit = [&](double wanted, double kept) {
    const double room = kept * (1 - least);
    if (kept - wanted > room) share = std::min(share, room / (kept - wanted));
  };
  for (std::size_t k = 0; k < row.size(); ++k) limit(row[k], step[k]);
  if (row.size() == 1) limit(1 - row[0], 1 - step[0]);  // one of two states
  for (std::size_t k = 0; k < row.size(); ++k) row[k] = step[k] > 0 ? step[k] + share * (row[k] - step[k]) : 0;
  if (row.size() == 1) return;
  const double sum = std::accumulate(row.begin(), row.end(), 0.0);
  for (double& p : row) p /= sum;
}

}  // namespace

Components::Components(std::shared_ptr<const Density> density, bool inflated, std::size_t groups, std::size_t parents)
    : density_(std::move(density)), inflated_(inflated), groups_(groups), parents_(parents) {
  zero_features_.resize(density_->features() + 1);
  if (density_->counts_zero()) {
    density_->observe(0, std::span(zero_features_).first(density_->features()), zero_features_.back());
  }
}

void Components::prepare(std::span<const double> coordinates, std::size_t group, std::vector<double>& coefficients,
                         std::vector<double>& zero) const {
  const std::size_t many = density_->coefficients();
  coefficients.resize(many * parents_);
  std::vector<double> own(many);
  std::vector<double> inflation(parents_);
  for (std::size_t k = 0; k < parents_; ++k) {
    const std::span<const double> at = component(coordinates, group * parents_ + k);
    density_->coefficients_of(at.first(density_->coordinates()), own);
    const double rest = inflated_ ? std::log1p(-at.back()) : 0;
    if (inflated_) inflation[k] = std::log(at.back());
    for (std::size_t c = 0; c < many; ++c) {
      coefficients[c * parents_ + k] = own[c] + (c == 0 || density_->form() == Form::chosen ? rest : 0);
    }
  }
  zero = inflation;
  if (!inflated_ || !density_->counts_zero()) return;
  std::vector<double> seen(parents_);
  const Numbers one{.count = 1, .first = zero_features_.data(), .base = &zero_features_.back()};
  log_probabilities(density_->form(), one, parents_, coefficients.data(), seen.data());
  for (std::size_t k = 0; k < parents_; ++k) zero[k] = log_add(inflation[k], seen[k]);
}

Numbers Components::numbers_of(const Cells& cells, const Stretch& stretch) const {
  return {.count = stretch.end - stretch.begin,
          .first = cells.features(0) + stretch.feature,
          .second = density_->features() > 1 ? cells.features(1) + stretch.feature : nullptr,
          .base = cells.base() == nullptr ? nullptr : cells.base() + stretch.feature};
}

void Components::write(std::span<const double> coordinates, const Cells& cells, double* logs) const {
  std::vector<double> coefficients;
  std::vector<double> zero;
  std::size_t prepared = groups_;
  std::size_t done = 0;
  for (const Stretch& stretch : cells.stretches()) {
    if (stretch.group != prepared) prepare(coordinates, prepared = stretch.group, coefficients, zero);
    std::fill(logs + done * parents_, logs + stretch.begin * parents_, 0.0);
    done = stretch.end;
    if (!stretch.zeros) {
      log_probabilities(density_->form(), numbers_of(cells, stretch), parents_, coefficients.data(),
                        logs + stretch.begin * parents_);
      continue;
    }
    for (std::size_t cell = stretch.begin; cell < stretch.end; ++cell) {
      std::copy(zero.begin(), zero.end(), logs + cell * parents_);
    }
  }
  std::fill(logs + done * parents_, logs + cells.size() * parents_, 0.0);
}

void Components::count(std::span<const double> coordinates, const Cells& cells, const double* counts,
                       std::span<double> statistics) const {
  std::vector<double> coefficients;
  std::vector<double> zero;
  std::size_t prepared = groups_;
  for (const Stretch& stretch : cells.stretches()) {
    if (stretch.group != prepared) prepare(coordinates, prepared = stretch.group, coefficients, zero);
    const std::size_t each = Components::statistics() / groups_;
    double* const own = statistics.data() + stretch.group * each;
    if (!stretch.zeros) {
      add_statistics(density_->form(), numbers_of(cells, stretch), parents_, coefficients.data(),
                     counts + stretch.begin * parents_, own);
      continue;
    }
    double* const zeros = own + density_->statistics() * parents_;
    for (std::size_t cell = stretch.begin; cell < stretch.end; ++cell) {
      for (std::size_t k = 0; k < parents_; ++k) zeros[k] += counts[cell * parents_ + k];
    }
  }
}

void Components::estimate(std::span<const double> statistics, std::span<double> coordinates,
                          std::span<Verdict> verdicts) const {
  const std::size_t rows = density_->statistics();
  std::vector<double> coefficients;
  std::vector<double> zero;
  std::vector<double> own(rows * parents_);
  std::vector<double> row(rows);
  std::vector<double> left(parents_);  // zeros that are not the inflation's
  for (std::size_t group = 0; group < groups_; ++group) {
    const double* const from = statistics.data() + group * (Components::statistics() / groups_);
    const double* const zeros = from + rows * parents_;
    std::copy(from, zeros, own.begin());
    if (inflated_ && density_->counts_zero()) {
      prepare(coordinates, group, coefficients, zero);
      for (std::size_t k = 0; k < parents_; ++k) {
        const double inflation = std::log(component(coordinates, group * parents_ + k).back());
        left[k] = zeros[k] > 0 ? zeros[k] * std::max(0.0, -std::expm1(inflation - zero[k])) : 0;
      }
      const Numbers one{.count = 1, .first = zero_features_.data()};
      add_statistics(density_->form(), one, parents_, coefficients.data(), left.data(), own.data());
    }
    for (std::size_t k = 0; k < parents_; ++k) {
      const std::span<double> at = component(coordinates, group * parents_ + k);
      for (std::size_t s = 0; s < rows; ++s) row[s] = own[s * parents_ + k];
      const double weight = density_->form() == Form::chosen ? std::accumulate(row.begin(), row.end(), 0.0) : row[0];
      // Next to nothing is nothing: its products with features may have been rounded to zero.
      verdicts[group * parents_ + k] =
          weight > 1e-200 ? density_->estimate(row, at.first(density_->coordinates())) : Verdict::empty;
      if (!inflated_) continue;
      const double inflation = zeros[k] - left[k];
      if (weight + inflation > 0) at.back() = inflation / (weight + inflation);
    }
  }
}

double Components::weight(std::span<const double> statistics, std::size_t k) const {
  const std::size_t rows = density_->statistics();
  double sum = inflated_ ? statistics[statistic(k, rows)] : 0;
  for (std::size_t s = 0; s < (density_->form() == Form::chosen ? rows : 1); ++s) sum += statistics[statistic(k, s)];
  return sum;
}

void Components::recentre(std::span<const double> from, std::span<const double> to,
                          std::span<double> statistics) const {
  const std::size_t rows = density_->statistics();
  std::vector<double> row(rows);
  for (std::size_t k = 0; k < count(); ++k) {
    for (std::size_t s = 0; s < rows; ++s) row[s] = statistics[statistic(k, s)];
    density_->recentre(component(from, k).first(density_->coordinates()),
                       component(to, k).first(density_->coordinates()), row);
    for (std::size_t s = 0; s < rows; ++s) statistics[statistic(k, s)] = row[s];
  }
}

void Components::clamp(std::span<double> coordinates) const {
  for (std::size_t k = 0; k < count(); ++k) density_->clamp(component(coordinates, k).first(density_->coordinates()));
}

void Components::restrain(std::span<double> coordinates, std::span<const double> step) const {
  constexpr double furthest = 2;  // in units of the spread, or of logarithms
  for (std::size_t k = 0; k < count(); ++k) {
    const std::span<double> at = component(coordinates, k);
    const std::span<const double> from = component(step, k);
    const std::size_t own = density_->coordinates();
    if (inflated_) restrain_row(at.last(1), from.last(1));
    if (density_->probabilities()) {
      restrain_row(at.first(own), from.first(own));
      continue;
    }
    for (std::size_t c = 0; c < own; ++c) at[c] = from[c] + std::clamp(at[c] - from[c], -furthest, furthest);
    density_->clamp(at.first(own));
  }
}

}  // namespace plated::likelihood
