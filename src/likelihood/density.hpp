// One family of distributions as EM needs it: coordinates, log-probabilities and weighted maximum likelihood.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "likelihood/derivatives.hpp"
#include "plated/likelihood.hpp"

namespace plated::likelihood {

/// Where the observed numbers lie. Densities compute in units of it, so that huge and tiny numbers neither overflow nor
/// lose digits, and steps of EM have one size.
struct Spread {
  double centre = 0;
  double scale = 1;  ///< above zero
  double least = 0;  ///< of the numbers themselves
  double most = 0;
};

/// The spread of numbers, all finite; the unit where there are none.
[[nodiscard]] Spread spread_of(std::span<const double> numbers);

/// How log-probabilities follow from an observation's features f and a component's coefficients c.
enum class Form : std::uint8_t {
  linear,   ///< c0 + c1 f0 + c2 f1; statistics: the sums of the weights, of f0 and of f1
  squared,  ///< c0 − ((f0 − c1) c2)² / 2; statistics: the sums of the weights, and of f0 − c3 and its square
  chosen,   ///< c[f0]; statistics: the sums of the weights of each f0
};

/// How an estimate ended.
enum class Verdict : std::uint8_t {
  fine,
  held,   ///< the best parameters are beyond what is allowed, and are held there
  empty,  ///< no weight: the coordinates are as they were
};

/// A family. A component is one distribution of it, which has a few coordinates: any numbers that clamp() leaves as
/// they are make one.
class Density {
 public:
  explicit Density(Spread spread) : spread_(spread) {}
  Density(const Density&) = delete;
  Density& operator=(const Density&) = delete;
  virtual ~Density() = default;

  [[nodiscard]] const Spread& spread() const { return spread_; }
  [[nodiscard]] virtual Form form() const = 0;
  [[nodiscard]] virtual std::size_t features() const = 0;
  [[nodiscard]] virtual std::size_t coefficients() const = 0;
  [[nodiscard]] virtual std::size_t statistics() const = 0;
  [[nodiscard]] virtual std::size_t coordinates() const = 0;
  /// Coordinates that are free.
  [[nodiscard]] virtual std::size_t free() const { return coordinates(); }
  /// Zero has a probability under the density itself.
  [[nodiscard]] virtual bool counts_zero() const { return false; }
  /// Coordinates are probabilities, those of all states where there are several.
  [[nodiscard]] virtual bool probabilities() const { return false; }

  /// Which numbers have a density: "numbers above zero".
  [[nodiscard]] virtual const char* support() const = 0;
  [[nodiscard]] virtual bool supports(double number) const = 0;
  /// Which parameters are possible, as "a deviation above zero"; nullptr where these are.
  [[nodiscard]] virtual const char* refused(std::span<const double> parameters) const = 0;

  /// The features of a number, and what its log-probability has besides the coefficients' share.
  virtual void observe(double number, std::span<double> features, double& base) const = 0;
  /// In the order of parameter_names; a list of probabilities is one for each state.
  virtual void from_parameters(std::span<const double> parameters, std::span<double> coordinates) const = 0;
  virtual void to_parameters(std::span<const double> coordinates, std::span<double> parameters) const = 0;
  virtual void coefficients_of(std::span<const double> coordinates, std::span<double> coefficients) const = 0;
  /// Weighted maximum likelihood. The coordinates come in as those whose coefficients the statistics were taken with.
  [[nodiscard]] virtual Verdict estimate(std::span<const double> statistics, std::span<double> coordinates) const = 0;
  /// By the parameters; zeros for probabilities that are zero or one.
  virtual void derive(std::span<const double> coordinates, Derivatives& derivatives) const = 0;
  /// Statistics that were taken with the coefficients of some coordinates become those of others.
  virtual void recentre(std::span<const double> /*from*/, std::span<const double> /*to*/,
                        std::span<double> /*statistics*/) const {}
  /// A component for want of data.
  virtual void neutral(std::span<double> coordinates) const = 0;
  /// Moves coordinates to the nearest that are allowed.
  virtual void clamp(std::span<double> coordinates) const = 0;
  /// What a component that is held has come to: "its deviation is next to zero".
  [[nodiscard]] virtual const char* held() const = 0;

 private:
  Spread spread_;
};

/// `states` is the number of them where the family has states.
[[nodiscard]] std::unique_ptr<Density> make_density(Family family, Spread spread, std::size_t states);

}  // namespace plated::likelihood
