// The beta distribution. Coordinates: the logarithms of alpha and beta.
#include <algorithm>
#include <cmath>

#include "likelihood/densities.hpp"
#include "likelihood/special.hpp"

namespace plated::likelihood {
namespace {

constexpr double least_beta = 1e-6;
constexpr double most_together = largest_shape;  // alpha and beta

/// Maximises (a − 1) x + (b − 1) y − ln B(a, b), which is concave: Newton's steps, halved until they gain.
class BetaSearch {
 public:
  BetaSearch(double x, double y) : x_(x), y_(y) {}

  void run(double& a, double& b) const {
    double now = value(a, b);
    for (int k = 0; k < 100; ++k) {
      const double da = x_ - digamma(a) + digamma(a + b);
      const double db = y_ - digamma(b) + digamma(a + b);
      const double both = trigamma(a + b);
      const double aa = both - trigamma(a);
      const double bb = both - trigamma(b);
      const double determinant = aa * bb - both * both;
      double step_a = -(bb * da - both * db) / determinant;
      double step_b = -(aa * db - both * da) / determinant;
      if (!std::isfinite(step_a) || !std::isfinite(step_b)) return;
      bool gained = false;
      for (int halves = 0; halves < 60 && !gained; ++halves, step_a *= 0.5, step_b *= 0.5) {
        const double next_a = a + step_a;
        const double next_b = b + step_b;
        if (!(next_a >= least_beta && next_b >= least_beta && next_a + next_b <= most_together)) continue;
        const double next = value(next_a, next_b);
        if (!(next >= now)) continue;
        gained = true;
        const bool settled = std::abs(next_a - a) <= 1e-14 * a && std::abs(next_b - b) <= 1e-14 * b;
        a = next_a;
        b = next_b;
        now = next;
        if (settled) return;
      }
      if (!gained) return;
    }
  }

  /// The best of those that are as large together as is allowed; returns whether the best of all are no smaller.
  [[nodiscard]] bool run_on_bound(double& a, double& b) const {
    const double start = std::exp(x_) / (std::exp(x_) + std::exp(y_)) * most_together;
    a = find_zero(least_beta, most_together - least_beta, start, [&](double at, double& slope) {
      slope = trigamma(at) + trigamma(most_together - at);
      return digamma(at) - digamma(most_together - at) - (x_ - y_);
    });
    b = most_together - a;
    return x_ - digamma(a) + digamma(most_together) >= 0;
  }

 private:
  [[nodiscard]] double value(double a, double b) const { return (a - 1) * x_ + (b - 1) * y_ - log_beta(a, b); }

  double x_, y_;
};

class Beta final : public Density {
 public:
  explicit Beta(Spread spread) : Density(spread) {}

  [[nodiscard]] Form form() const override { return Form::linear; }
  [[nodiscard]] std::size_t features() const override { return 2; }
  [[nodiscard]] std::size_t coefficients() const override { return 3; }
  [[nodiscard]] std::size_t statistics() const override { return 3; }
  [[nodiscard]] std::size_t coordinates() const override { return 2; }

  [[nodiscard]] const char* support() const override { return "numbers between 0 and 1"; }
  [[nodiscard]] bool supports(double number) const override { return number > 0 && number < 1; }
  [[nodiscard]] const char* refused(std::span<const double> p) const override {
    const bool good = std::isfinite(p[0]) && p[0] > 0 && std::isfinite(p[1]) && p[1] > 0;
    return good ? nullptr : "an alpha and a beta above zero";
  }

  void observe(double number, std::span<double> features, double& base) const override {
    features[0] = std::log(number);
    features[1] = std::log1p(-number);
    base = -features[0] - features[1];
  }
  void from_parameters(std::span<const double> p, std::span<double> at) const override {
    at[0] = std::log(p[0]);
    at[1] = std::log(p[1]);
  }
  void to_parameters(std::span<const double> at, std::span<double> p) const override {
    p[0] = std::exp(at[0]);
    p[1] = std::exp(at[1]);
  }
  void coefficients_of(std::span<const double> at, std::span<double> c) const override {
    c[1] = std::exp(at[0]);
    c[2] = std::exp(at[1]);
    c[0] = -log_beta(c[1], c[2]);
  }

  [[nodiscard]] Verdict estimate(std::span<const double> s, std::span<double> at) const override {
    if (!(s[0] > 0)) return Verdict::empty;
    const double x = s[1] / s[0];
    const double y = s[2] / s[0];
    // The geometric means of all numbers and of what they lack to 1: together 1 where all numbers are alike, and
    // 1 − 1 / (2 (alpha + beta)) where they nearly are.
    const double low = std::exp(x);
    const double high = std::exp(y);
    const double room = 1 - low - high;
    const double together = room > 0 ? 0.5 / room : 2 * most_together;
    const BetaSearch search(x, y);
    double a = std::exp(at[0]);
    double b = std::exp(at[1]);
    const bool bound = together > 0.5 * most_together && search.run_on_bound(a, b);
    if (!bound) {
      if (together > 4) {  // a good start where they are nearly alike
        a = std::min(together, 0.99 * most_together) * low / (low + high);
        b = std::min(together, 0.99 * most_together) * high / (low + high);
      }
      search.run(a, b);
    }
    at[0] = std::log(a);
    at[1] = std::log(b);
    return bound || std::min(a, b) <= 1.01 * least_beta ? Verdict::held : Verdict::fine;
  }
  void derive(std::span<const double> at, Derivatives& d) const override {
    const double together = std::exp(at[0]) + std::exp(at[1]);
    const double both = trigamma(together);
    for (std::size_t p = 0; p < 2; ++p) {
      d.set_first(p, 0, digamma(together) - digamma(std::exp(at[p])));
      d.set_first(p, p + 1, 1);
      d.set_second(p, p, 0, both - trigamma(std::exp(at[p])));
      d.set_held(p, together >= most_together * (1 - 1e-6) || std::exp(at[p]) <= 1.01 * least_beta);
    }
    d.set_second(0, 1, 0, both);
  }
  void neutral(std::span<double> at) const override { at[0] = at[1] = 0; }
  void clamp(std::span<double> at) const override {
    const double most = std::log(most_together);
    for (double& c : at) c = std::clamp(c, std::log(least_beta), most);
    const double over = std::log(std::exp(at[0]) + std::exp(at[1])) - most;
    if (!(over > 0)) return;
    for (double& c : at) c = std::max(c - over, std::log(least_beta));
  }
  [[nodiscard]] const char* held() const override { return "its alpha or beta would be without bounds"; }
};

}  // namespace

std::unique_ptr<Density> beta_density(Spread spread) { return std::make_unique<Beta>(spread); }

}  // namespace plated::likelihood
