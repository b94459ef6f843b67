// The Poisson distribution. Coordinate: the logarithm of the rate.
#include <algorithm>
#include <cmath>

#include "likelihood/densities.hpp"
#include "likelihood/special.hpp"

namespace plated::likelihood {
namespace {

class Poisson final : public Density {
 public:
  explicit Poisson(Spread spread) : Density(spread), least_(std::log(1e-10 * std::max(spread.centre, 1e-10))) {}

  [[nodiscard]] Form form() const override { return Form::linear; }
  [[nodiscard]] std::size_t features() const override { return 1; }
  [[nodiscard]] std::size_t coefficients() const override { return 2; }
  [[nodiscard]] std::size_t statistics() const override { return 2; }
  [[nodiscard]] std::size_t coordinates() const override { return 1; }
  [[nodiscard]] bool counts_zero() const override { return true; }

  [[nodiscard]] const char* support() const override { return "whole numbers from 0"; }
  [[nodiscard]] bool supports(double number) const override {
    return std::isfinite(number) && number >= 0 && number == std::floor(number);
  }
  [[nodiscard]] const char* refused(std::span<const double> p) const override {
    return std::isfinite(p[0]) && p[0] > 0 ? nullptr : "a rate above zero";
  }

  void observe(double number, std::span<double> features, double& base) const override {
    features[0] = number;
    base = -log_gamma(number + 1);
  }
  void from_parameters(std::span<const double> p, std::span<double> at) const override { at[0] = std::log(p[0]); }
  void to_parameters(std::span<const double> at, std::span<double> p) const override { p[0] = std::exp(at[0]); }
  void coefficients_of(std::span<const double> at, std::span<double> c) const override {
    c[0] = -std::exp(at[0]);
    c[1] = at[0];
  }

  [[nodiscard]] Verdict estimate(std::span<const double> s, std::span<double> at) const override {
    if (!(s[0] > 0)) return Verdict::empty;
    at[0] = s[1] > 0 ? std::log(s[1] / s[0]) : least_;
    if (at[0] > least_) return Verdict::fine;
    at[0] = least_;
    return Verdict::held;
  }
  void derive(std::span<const double> at, Derivatives& d) const override {
    d.set_first(0, 0, -1);
    d.set_first(0, 1, std::exp(-at[0]));
    d.set_second(0, 0, 1, -std::exp(-2 * at[0]));
    d.set_held(0, at[0] <= least_ + 1e-6);
  }
  void neutral(std::span<double> at) const override { at[0] = 0; }
  void clamp(std::span<double> at) const override { at[0] = std::clamp(at[0], least_, 709.0); }
  [[nodiscard]] const char* held() const override { return "its rate would be zero"; }

 private:
  double least_;
};

}  // namespace

std::unique_ptr<Density> poisson_density(Spread spread) { return std::make_unique<Poisson>(spread); }

}  // namespace plated::likelihood
