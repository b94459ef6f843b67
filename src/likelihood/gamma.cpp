// The gamma distribution. Coordinates: the logarithms of the mean, in units of the spread, and of the shape.
#include <algorithm>
#include <cmath>

#include "likelihood/densities.hpp"
#include "likelihood/special.hpp"

namespace plated::likelihood {
namespace {

class Gamma final : public Density {
 public:
  explicit Gamma(Spread spread)
      : Density(spread), unit_(spread.centre > 0 ? spread.centre : 1), log_unit_(std::log(unit_)) {}

  [[nodiscard]] Form form() const override { return Form::linear; }
  [[nodiscard]] std::size_t features() const override { return 2; }
  [[nodiscard]] std::size_t coefficients() const override { return 3; }
  [[nodiscard]] std::size_t statistics() const override { return 3; }
  [[nodiscard]] std::size_t coordinates() const override { return 2; }

  [[nodiscard]] const char* support() const override { return "numbers above zero"; }
  [[nodiscard]] bool supports(double number) const override { return std::isfinite(number) && number > 0; }
  [[nodiscard]] const char* refused(std::span<const double> p) const override {
    const bool good = std::isfinite(p[0]) && p[0] > 0 && std::isfinite(p[1]) && p[1] > 0;
    return good ? nullptr : "a shape and a rate above zero";
  }

  void observe(double number, std::span<double> features, double& base) const override {
    features[0] = std::log(number) - log_unit_;
    features[1] = number / unit_;
    base = -std::log(number);
  }
  void from_parameters(std::span<const double> p, std::span<double> at) const override {
    at[0] = std::log(p[0]) - std::log(p[1]) - log_unit_;
    at[1] = std::log(p[0]);
  }
  void to_parameters(std::span<const double> at, std::span<double> p) const override {
    p[0] = std::exp(at[1]);
    p[1] = std::exp(at[1] - at[0] - log_unit_);
  }
  void coefficients_of(std::span<const double> at, std::span<double> c) const override {
    const double shape = std::exp(at[1]);
    c[0] = shape * (at[1] - at[0]) - log_gamma(shape);
    c[1] = shape;
    c[2] = -std::exp(at[1] - at[0]);
  }

  [[nodiscard]] Verdict estimate(std::span<const double> s, std::span<double> at) const override {
    if (!(s[0] > 0)) return Verdict::empty;
    at[0] = std::log(s[2] / s[0]);
    // How much the logarithm of the mean is above the mean logarithm: what ln shape − ψ(shape) must be.
    const double gap = at[0] - s[1] / s[0];
    at[1] =
        find_zero(log_least, log_most, gap > 0 ? -std::log(2 * gap) : log_most, [&](double log_shape, double& slope) {
          const double shape = std::exp(log_shape);
          slope = shape * trigamma(shape) - 1;
          return digamma(shape) - log_shape + gap;
        });
    return at[1] < log_most - 1e-6 && at[1] > log_least + 1e-6 ? Verdict::fine : Verdict::held;
  }
  void derive(std::span<const double> at, Derivatives& d) const override {
    const double shape = std::exp(at[1]);
    const double rate = std::exp(at[1] - at[0]);
    d.set_first(0, 0, at[1] - at[0] - digamma(shape));
    d.set_first(0, 1, 1);
    d.set_first(1, 0, shape / rate);
    d.set_first(1, 2, -1);
    d.set_second(0, 0, 0, -trigamma(shape));
    d.set_second(0, 1, 0, 1 / rate);
    d.set_second(1, 1, 0, -shape / (rate * rate));
    d.set_unit(1, 1 / unit_);
    d.set_held(0, at[1] >= log_most - 1e-6 || at[1] <= log_least + 1e-6);
  }
  void neutral(std::span<double> at) const override { at[0] = at[1] = 0; }
  void clamp(std::span<double> at) const override {
    at[0] = std::clamp(at[0], -700.0, 700.0);
    at[1] = std::clamp(at[1], log_least, log_most);
  }
  [[nodiscard]] const char* held() const override { return "its shape would be without bounds"; }

 private:
  static constexpr double log_least = -13.815510557964274;  // 1e-6
  static inline const double log_most = std::log(largest_shape);

  double unit_, log_unit_;
};

}  // namespace

std::unique_ptr<Density> gamma_density(Spread spread) { return std::make_unique<Gamma>(spread); }

}  // namespace plated::likelihood
