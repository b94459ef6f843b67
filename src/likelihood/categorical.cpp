// The Bernoulli and the categorical distribution. Coordinates: the probability of 1, or those of all states.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "likelihood/densities.hpp"

namespace plated::likelihood {
namespace {

class Categorical final : public Density {
 public:
  /// With two states and one probability it is a Bernoulli distribution.
  Categorical(Spread spread, std::size_t states, bool single)
      : Density(spread), states_(states), coordinates_(single ? 1 : states) {}

  [[nodiscard]] Form form() const override { return Form::chosen; }
  [[nodiscard]] std::size_t features() const override { return 1; }
  [[nodiscard]] std::size_t coefficients() const override { return states_; }
  [[nodiscard]] std::size_t statistics() const override { return states_; }
  [[nodiscard]] std::size_t coordinates() const override { return coordinates_; }
  [[nodiscard]] std::size_t free() const override { return states_ - 1; }
  [[nodiscard]] bool counts_zero() const override { return true; }
  [[nodiscard]] bool probabilities() const override { return true; }

  [[nodiscard]] const char* support() const override {
    return coordinates_ == 1 ? "zeros and ones" : "whole numbers from 0 below its number of probabilities";
  }
  [[nodiscard]] bool supports(double number) const override {
    return number >= 0 && number < static_cast<double>(states_) && number == std::floor(number);
  }
  [[nodiscard]] const char* refused(std::span<const double> p) const override {
    const bool good = std::all_of(p.begin(), p.end(), [](double one) { return one >= 0 && one <= 1; });
    if (coordinates_ == 1) return good ? nullptr : "a probability";
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    return good && std::abs(sum - 1) <= 2e-6 ? nullptr : "probabilities that sum to one";
  }

  void observe(double number, std::span<double> features, double& base) const override {
    features[0] = number;
    base = 0;
  }
  void from_parameters(std::span<const double> p, std::span<double> at) const override {
    std::copy_n(p.begin(), coordinates_, at.begin());
  }
  void to_parameters(std::span<const double> at, std::span<double> p) const override {
    std::copy_n(at.begin(), coordinates_, p.begin());
  }
  void coefficients_of(std::span<const double> at, std::span<double> c) const override {
    if (coordinates_ == 1) {
      c[0] = std::log1p(-at[0]);
      c[1] = std::log(at[0]);
      return;
    }
    std::transform(at.begin(), at.end(), c.begin(), [](double p) { return std::log(p); });
  }

  [[nodiscard]] Verdict estimate(std::span<const double> s, std::span<double> at) const override {
    const double weight = std::accumulate(s.begin(), s.end(), 0.0);
    if (!(weight > 0)) return Verdict::empty;
    for (std::size_t k = 0; k < coordinates_; ++k) at[k] = s[coordinates_ == 1 ? 1 : k] / weight;
    return Verdict::fine;
  }
  void derive(std::span<const double> at, Derivatives& d) const override {
    const auto put = [&](std::size_t p, std::size_t state, double probability, double sign) {
      if (!(probability > 0)) return;
      d.set_first(p, state, sign / probability);
      d.set_second(p, p, state, -1 / (probability * probability));
    };
    for (std::size_t p = 0; p < coordinates_; ++p) put(p, coordinates_ == 1 ? 1 : p, at[p], 1);
    if (coordinates_ == 1) put(0, 0, 1 - at[0], -1);
  }
  void neutral(std::span<double> at) const override {
    std::fill(at.begin(), at.end(), 1 / static_cast<double>(states_));
  }
  void clamp(std::span<double> /*at*/) const override {}
  [[nodiscard]] const char* held() const override { return ""; }

 private:
  std::size_t states_, coordinates_;
};

}  // namespace

std::unique_ptr<Density> bernoulli_density(Spread spread) { return std::make_unique<Categorical>(spread, 2, true); }

std::unique_ptr<Density> categorical_density(Spread spread, std::size_t states) {
  return std::make_unique<Categorical>(spread, std::max<std::size_t>(states, 2), false);
}

}  // namespace plated::likelihood
