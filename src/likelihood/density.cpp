// Chooses densities, and finds the spread of numbers.
#include "likelihood/density.hpp"

#include <algorithm>
#include <cmath>

#include "likelihood/densities.hpp"

namespace plated::likelihood {

Spread spread_of(std::span<const double> numbers) {
  if (numbers.empty()) return {};
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  Spread spread{.least = *least, .most = *most};
  const double largest = std::max(std::abs(*least), std::abs(*most));
  if (!(largest > 0)) return spread;
  const auto count = static_cast<double>(numbers.size());
  // In units of the largest: neither sums nor squares overflow.
  double sum = 0;
  for (const double number : numbers) sum += number / largest;
  const double mean = sum / count;
  double squares = 0;
  for (const double number : numbers) squares += (number / largest - mean) * (number / largest - mean);
  const double deviation = std::sqrt(squares / count);
  // Where all numbers are alike, to rounding, they are their own unit.
  const double unit = deviation > 1e-14 * std::abs(mean) ? deviation : std::abs(mean);
  spread.centre = mean * largest;
  spread.scale = std::max(unit * largest, 1e-300);
  return spread;
}

std::unique_ptr<Density> make_density(Family family, Spread spread, std::size_t states) {
  switch (family) {
    case Family::normal:
      return normal_density(spread);
    case Family::poisson:
      return poisson_density(spread);
    case Family::gamma:
      return gamma_density(spread);
    case Family::beta:
      return beta_density(spread);
    case Family::von_mises:
      return von_mises_density(spread);
    case Family::bernoulli:
      return bernoulli_density(spread);
    case Family::categorical:
      return categorical_density(spread, states);
  }
  return nullptr;
}

}  // namespace plated::likelihood
