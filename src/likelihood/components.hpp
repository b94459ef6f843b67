// All components of a likelihood: one for each group of slices and each state of the parents.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "likelihood/cells.hpp"
#include "likelihood/derivatives.hpp"
#include "likelihood/loops.hpp"

namespace plated::likelihood {

/// Coordinates are those of component (group, parents' states) one behind the other, each with the probability of
/// zero last where it is inflated. Parameters are lists by name, each of one number (or one for each state) per
/// component.
class Components {
 public:
  Components(std::shared_ptr<const Density> density, bool inflated, std::size_t groups, std::size_t parents);

  [[nodiscard]] const Density& density() const { return *density_; }
  [[nodiscard]] bool inflated() const { return inflated_; }
  [[nodiscard]] std::size_t parents() const { return parents_; }
  [[nodiscard]] std::size_t count() const { return groups_ * parents_; }
  [[nodiscard]] std::size_t coordinates() const { return density_->coordinates() + (inflated_ ? 1 : 0); }
  [[nodiscard]] std::size_t size() const { return count() * coordinates(); }
  [[nodiscard]] std::size_t free() const { return count() * (density_->free() + (inflated_ ? 1 : 0)); }
  [[nodiscard]] std::size_t statistics() const { return count() * (density_->statistics() + (inflated_ ? 1 : 0)); }
  /// Where statistic s of component k is among those of all.
  [[nodiscard]] std::size_t statistic(std::size_t k, std::size_t s) const {
    return k / parents_ * (statistics() / groups_) + s * parents_ + k % parents_;
  }
  /// How much all cells of component k count together.
  [[nodiscard]] double weight(std::span<const double> statistics, std::size_t k) const;
  /// A number may be seen.
  [[nodiscard]] bool supports(double number) const { return (inflated_ && number == 0) || density_->supports(number); }

  /// The coordinates of component k among those of all.
  template <class Numbers>
  [[nodiscard]] auto component(Numbers numbers, std::size_t k) const {
    return numbers.subspan(k * coordinates(), coordinates());
  }

  /// Log-probabilities of all cells, as entries (cell, parents' states); zeros where a cell is missing.
  void write(std::span<const double> coordinates, const Cells& cells, double* logs) const;
  /// Adds the statistics of cells that count as `counts` say, laid out as logs are.
  void count(std::span<const double> coordinates, const Cells& cells, const double* counts,
             std::span<double> statistics) const;
  /// The best coordinates for statistics that were counted under those that come in; one verdict per component.
  void estimate(std::span<const double> statistics, std::span<double> coordinates, std::span<Verdict> verdicts) const;
  /// Statistics that were counted under some coordinates become those under others.
  void recentre(std::span<const double> from, std::span<const double> to, std::span<double> statistics) const;
  /// Of component k: by its parameters, with the probability of zero last, as sums of its statistics, with the weight
  /// of zeros last.
  [[nodiscard]] Derivatives derivatives(std::span<const double> coordinates, std::size_t k) const;
  /// The entries of component k become the sums of its statistics in each cell, each times a weight; others stay.
  void write_sums(std::span<const double> coordinates, const Cells& cells, std::size_t k,
                  std::span<const double> weights, double* entries) const;
  void clamp(std::span<double> coordinates) const;
  /// Moves extrapolated coordinates towards those of a step until they are possible.
  void restrain(std::span<double> coordinates, std::span<const double> step) const;

 private:
  /// Coefficients of a group's components, laid out as loops want them, and their log-probabilities of a zero.
  void prepare(std::span<const double> coordinates, std::size_t group, std::vector<double>& coefficients,
               std::vector<double>& zero) const;
  void derive_zero(std::span<const double> at, Derivatives& result) const;
  [[nodiscard]] Numbers numbers_of(const Cells& cells, const Stretch& stretch) const;

  std::shared_ptr<const Density> density_;
  bool inflated_;
  std::size_t groups_, parents_;
  std::vector<double> zero_features_;  // of a zero that the density sees
};

}  // namespace plated::likelihood
