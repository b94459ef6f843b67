// The free parameters of a part that is learnt, as the observed information needs them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "learn/counts.hpp"
#include "learn/semidefinite.hpp"

namespace plated::learn {

/// The information is minus the Hessian of the objective: that of ln Z by the logarithms of factors, between their
/// derivatives by parameters, and the logarithms' own curvature under the counts. It is made at the parameters and the
/// counts of the fit.
class Curved {
 public:
  Curved() = default;
  Curved(const Curved&) = delete;
  Curved& operator=(const Curved&) = delete;
  virtual ~Curved() = default;

  /// How many are free.
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// What parameter i would tell if nothing were latent; above zero.
  [[nodiscard]] virtual double own(std::size_t i) const = 0;
  /// The derivative of the objective by parameter i.
  [[nodiscard]] virtual double score(std::size_t i) const = 0;
  /// Adds steps of its own free parameters to the part's numbers; whether what comes out is possible.
  [[nodiscard]] virtual bool move(std::span<const double> steps, std::span<double> parameters) const = 0;
  /// Puts the derivative of the logarithms by parameter i into the direction, which is zero.
  virtual void direct(std::size_t i, const Counts& counts) const = 0;
  /// Takes the derivatives by all parameters, of products of the Hessian with a direction, from a row.
  virtual void project(const std::vector<Tensor>& products, std::span<double> row) const = 0;
  /// Takes the logarithms' own curvature between parameter i and all from a row.
  virtual void curve(std::size_t i, std::span<double> row) const = 0;
  /// Parameter i is number offset + i of the scaled matrix that was inverted.
  virtual void take_errors(const Semidefinite& inverse, std::span<const double> scale, std::size_t offset) = 0;
  /// Puts the errors into the fit, and notes about those that there are none of.
  virtual void report(Fit& result, bool no_maximum) const = 0;
};

/// Why standard errors have no bound where the information cannot be inverted.
[[nodiscard]] inline std::string undetermined_note(bool no_maximum) {
  return no_maximum ? "have standard errors without bound: the information is not positive definite, so that the "
                      "numbers are no maximum"
                    : "have standard errors without bound: the information is singular, the data do not determine them";
}

/// Whether a probability is zero at the maximum, or on its way there: another step would make it smaller.
[[nodiscard]] inline bool is_at_zero(double value, double count, double total) {
  if (value < 1e-8) return true;
  return count < 0.01 && count < 0.99 * value * total;
}

}  // namespace plated::learn
