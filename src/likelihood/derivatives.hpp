// First and second derivatives of a component's log-probabilities by its parameters.
#pragma once

#include <cstddef>
#include <vector>

namespace plated::likelihood {

/// A derivative is a sum over the statistics of a number, each times a coefficient: the same sums that estimates are
/// made of give the derivatives of ln L. Parameters are those of parameter_names in units of their own; a list of
/// probabilities is one for each state, each by itself.
class Derivatives {
 public:
  Derivatives(std::size_t parameters, std::size_t statistics)
      : parameters_(parameters),
        statistics_(statistics),
        first_(parameters * statistics),
        second_(parameters * parameters * statistics),
        units_(parameters, 1.0),
        held_(parameters, false) {}

  [[nodiscard]] std::size_t parameters() const { return parameters_; }
  [[nodiscard]] std::size_t statistics() const { return statistics_; }

  [[nodiscard]] double first(std::size_t p, std::size_t s) const { return first_[p * statistics_ + s]; }
  [[nodiscard]] double second(std::size_t p, std::size_t q, std::size_t s) const {
    return second_[(p * parameters_ + q) * statistics_ + s];
  }
  void set_first(std::size_t p, std::size_t s, double value) { first_[p * statistics_ + s] = value; }
  void set_second(std::size_t p, std::size_t q, std::size_t s, double value) {
    second_[(p * parameters_ + q) * statistics_ + s] = value;
    second_[(q * parameters_ + p) * statistics_ + s] = value;
  }

  /// How much one unit of a parameter is.
  [[nodiscard]] double unit(std::size_t p) const { return units_[p]; }
  void set_unit(std::size_t p, double unit) { units_[p] = unit; }
  /// Whether a parameter is at a bound that estimates are held at.
  [[nodiscard]] bool held(std::size_t p) const { return held_[p]; }
  void set_held(std::size_t p, bool held) { held_[p] = held; }

 private:
  std::size_t parameters_, statistics_;
  std::vector<double> first_, second_, units_;
  std::vector<bool> held_;
};

}  // namespace plated::likelihood
