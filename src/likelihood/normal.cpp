// The normal distribution. Coordinates: the mean and the logarithm of the deviation, both in units of the spread.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "likelihood/densities.hpp"

namespace plated::likelihood {
namespace {

class Normal final : public Density {
 public:
  explicit Normal(Spread spread)
      : Density(spread),
        least_((spread.least - spread.centre) / spread.scale),
        most_((spread.most - spread.centre) / spread.scale) {}

  [[nodiscard]] Form form() const override { return Form::squared; }
  [[nodiscard]] std::size_t features() const override { return 1; }
  [[nodiscard]] std::size_t coefficients() const override { return 4; }
  [[nodiscard]] std::size_t statistics() const override { return 3; }
  [[nodiscard]] std::size_t coordinates() const override { return 2; }

  [[nodiscard]] const char* support() const override { return "finite numbers"; }
  [[nodiscard]] bool supports(double number) const override { return std::isfinite(number); }
  [[nodiscard]] const char* refused(std::span<const double> p) const override {
    return std::isfinite(p[0]) && std::isfinite(p[1]) && p[1] > 0 ? nullptr
                                                                  : "a finite mean, and a deviation above zero";
  }

  void observe(double number, std::span<double> features, double& base) const override {
    // Not (number − centre) / scale: the difference may overflow.
    features[0] = number / spread().scale - spread().centre / spread().scale;
    base = 0;
  }
  void from_parameters(std::span<const double> p, std::span<double> at) const override {
    at[0] = p[0] / spread().scale - spread().centre / spread().scale;
    at[1] = std::log(p[1]) - std::log(spread().scale);
  }
  void to_parameters(std::span<const double> at, std::span<double> p) const override {
    p[0] = spread().centre + at[0] * spread().scale;
    p[1] = std::exp(at[1]) * spread().scale;
  }
  void coefficients_of(std::span<const double> at, std::span<double> c) const override {
    c[0] = -0.5 * std::log(2 * std::numbers::pi) - at[1] - std::log(spread().scale);
    c[1] = at[0];
    c[2] = std::exp(-at[1]);
    // Moments are taken about a point among the numbers, near the mean once it has settled: no digits cancel.
    c[3] = point(at);
  }

  [[nodiscard]] Verdict estimate(std::span<const double> s, std::span<double> at) const override {
    if (!(s[0] > 0)) return Verdict::empty;
    const double about = point(at);
    const double shift = s[1] / s[0];
    const double variance = s[2] / s[0] - shift * shift;
    at[0] = about + shift;
    at[1] = variance > 0 ? 0.5 * std::log(variance) : -std::numeric_limits<double>::infinity();
    if (at[1] > log_least) return Verdict::fine;
    at[1] = log_least;
    return Verdict::held;
  }
  void derive(std::span<const double> at, Derivatives& d) const override {
    const double off = point(at) - at[0];  // (number − mean) = (number − point) + off
    const double one = std::exp(-at[1]);
    const double two = one * one;
    d.set_first(0, 0, off * two);
    d.set_first(0, 1, two);
    d.set_first(1, 0, (off * off * two - 1) * one);
    d.set_first(1, 1, 2 * off * two * one);
    d.set_first(1, 2, two * one);
    d.set_second(0, 0, 0, -two);
    d.set_second(0, 1, 0, -2 * off * two * one);
    d.set_second(0, 1, 1, -2 * two * one);
    d.set_second(1, 1, 0, two - 3 * off * off * two * two);
    d.set_second(1, 1, 1, -6 * off * two * two);
    d.set_second(1, 1, 2, -3 * two * two);
    d.set_unit(0, spread().scale);
    d.set_unit(1, spread().scale);
    d.set_held(1, at[1] <= log_least + 1e-6);
  }
  void recentre(std::span<const double> from, std::span<const double> to, std::span<double> s) const override {
    const double shift = point(from) - point(to);
    s[2] += shift * (2 * s[1] + shift * s[0]);
    s[1] += shift * s[0];
  }
  void neutral(std::span<double> at) const override { at[0] = at[1] = 0; }
  void clamp(std::span<double> at) const override { at[1] = std::clamp(at[1], log_least, 700.0); }
  [[nodiscard]] const char* held() const override { return "its deviation would be next to zero"; }

 private:
  static constexpr double log_least = -13.815510557964274;  // a millionth of the spread

  [[nodiscard]] double point(std::span<const double> at) const { return std::clamp(at[0], least_, most_); }

  double least_, most_;
};

}  // namespace

std::unique_ptr<Density> normal_density(Spread spread) { return std::make_unique<Normal>(spread); }

}  // namespace plated::likelihood
