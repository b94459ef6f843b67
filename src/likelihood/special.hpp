// Special functions that densities and their estimates need.
#pragma once

namespace plated::likelihood {

/// The logarithm of Γ(x) for x > 0. Unlike std::lgamma it writes to nothing that threads share.
[[nodiscard]] double log_gamma(double x);
/// Of B(a, b), without the digits that large arguments would cancel.
[[nodiscard]] double log_beta(double a, double b);
/// The first and second derivative of log_gamma.
[[nodiscard]] double digamma(double x);
[[nodiscard]] double trigamma(double x);

/// The logarithm of e^−x I₀(x), the modified Bessel function, for x ≥ 0.
[[nodiscard]] double log_scaled_bessel(double x);
/// I₁(x) / I₀(x): the length of the mean direction of a von Mises distribution.
[[nodiscard]] double bessel_ratio(double x);

/// Where an increasing function is zero, between bounds; the bound where it is not. `function(x, slope)`.
template <class Function>
double find_zero(double low, double high, double start, const Function& function) {
  double x = start > low && start < high ? start : 0.5 * (low + high);
  for (int k = 0; k < 200; ++k) {
    double slope = 0;
    const double value = function(x, slope);
    if (value == 0) return x;
    (value > 0 ? high : low) = x;
    const double newton = x - value / slope;
    // Newton where it stays inside, halves where it does not.
    const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
    const double reached = next - x;
    x = next;
    if (reached < 1e-15 * (1 + (x < 0 ? -x : x)) && reached > -1e-15 * (1 + (x < 0 ? -x : x))) return x;
  }
  return x;
}

}  // namespace plated::likelihood
