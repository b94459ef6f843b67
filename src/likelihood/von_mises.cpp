// The von Mises distribution of angles. Coordinates: a vector in the direction of the mean that is as long as the
// logarithm of one more than the concentration, so that no angle is beside its neighbours.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "likelihood/densities.hpp"
#include "likelihood/special.hpp"

namespace plated::likelihood {
namespace {

class VonMises final : public Density {
 public:
  explicit VonMises(Spread spread) : Density(spread) {}

  [[nodiscard]] Form form() const override { return Form::linear; }
  [[nodiscard]] std::size_t features() const override { return 2; }
  [[nodiscard]] std::size_t coefficients() const override { return 3; }
  [[nodiscard]] std::size_t statistics() const override { return 3; }
  [[nodiscard]] std::size_t coordinates() const override { return 2; }

  [[nodiscard]] const char* support() const override { return "finite angles"; }
  [[nodiscard]] bool supports(double number) const override { return std::isfinite(number); }
  [[nodiscard]] const char* refused(std::span<const double> p) const override {
    const bool good = std::isfinite(p[0]) && std::isfinite(p[1]) && p[1] >= 0;
    return good ? nullptr : "a finite mean, and a concentration from 0";
  }

  void observe(double number, std::span<double> features, double& base) const override {
    features[0] = std::cos(number);
    features[1] = std::sin(number);
    base = 0;
  }
  void from_parameters(std::span<const double> p, std::span<double> at) const override { put(p[0], p[1], at); }
  void to_parameters(std::span<const double> at, std::span<double> p) const override {
    p[0] = std::atan2(at[1], at[0]);
    p[1] = std::expm1(std::hypot(at[0], at[1]));
  }
  void coefficients_of(std::span<const double> at, std::span<double> c) const override {
    const double mean = std::atan2(at[1], at[0]);
    const double concentration = std::expm1(std::hypot(at[0], at[1]));
    c[0] = -std::log(2 * std::numbers::pi) - log_scaled_bessel(concentration) - concentration;
    c[1] = concentration * std::cos(mean);
    c[2] = concentration * std::sin(mean);
  }

  [[nodiscard]] Verdict estimate(std::span<const double> s, std::span<double> at) const override {
    if (!(s[0] > 0)) return Verdict::empty;
    const double mean = std::atan2(s[2], s[1]);
    const double length = std::hypot(s[1], s[2]) / s[0];
    // For large concentrations the length is 1 − 1 / (2 concentration).
    const double start = length < 1 ? length * (2 - length * length) / (1 - length * length) : most;
    const double found =
        length <= bessel_ratio(least) ? 0 : find_zero(least, most, start, [&](double k, double& slope) {
          const double ratio = bessel_ratio(k);
          slope = 1 - ratio / k - ratio * ratio;
          return ratio - length;
        });
    const bool inside = found < most * (1 - 1e-6);
    put(mean, std::min(found, most), at);
    return inside ? Verdict::fine : Verdict::held;
  }
  void derive(std::span<const double> at, Derivatives& d) const override {
    const double mean = std::atan2(at[1], at[0]);
    const double concentration = std::expm1(std::hypot(at[0], at[1]));
    const double cosine = std::cos(mean);
    const double sine = std::sin(mean);
    d.set_first(0, 1, -concentration * sine);
    d.set_first(0, 2, concentration * cosine);
    d.set_first(1, 0, -bessel_ratio(concentration));
    d.set_first(1, 1, cosine);
    d.set_first(1, 2, sine);
    d.set_second(0, 0, 1, -concentration * cosine);
    d.set_second(0, 0, 2, -concentration * sine);
    d.set_second(0, 1, 1, -sine);
    d.set_second(0, 1, 2, cosine);
    d.set_second(1, 1, 0, -slope_of_ratio(concentration));
    d.set_held(1, concentration <= least || concentration >= most * (1 - 1e-6));
  }
  void neutral(std::span<double> at) const override { at[0] = at[1] = 0; }
  void clamp(std::span<double> at) const override {
    const double length = std::hypot(at[0], at[1]);
    if (length <= std::log1p(most)) return;
    for (double& c : at) c *= std::log1p(most) / length;
  }
  [[nodiscard]] const char* held() const override { return "its concentration would be without bounds"; }

 private:
  static constexpr double least = 1e-8;
  static constexpr double most = largest_shape;

  /// The derivative of bessel_ratio.
  static double slope_of_ratio(double k) {
    if (k <= least) return 0.5;
    if (k > 500) return (0.5 + (0.25 + (0.375 + 25.0 / 32 / k) / k) / k) / (k * k);  // nothing cancels
    const double ratio = bessel_ratio(k);
    return 1 - ratio / k - ratio * ratio;
  }

  static void put(double mean, double concentration, std::span<double> at) {
    at[0] = std::log1p(concentration) * std::cos(mean);
    at[1] = std::log1p(concentration) * std::sin(mean);
  }
};

}  // namespace

std::unique_ptr<Density> von_mises_density(Spread spread) { return std::make_unique<VonMises>(spread); }

}  // namespace plated::likelihood
