// Draws starts: every component sees its own stretch of the sorted numbers best.
#include "likelihood/starts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace plated::likelihood {
namespace {

/// The estimate of weighted numbers, from a neutral component.
void estimate_one(const Density& density, std::span<const double> numbers, std::span<const double> weights,
                  std::span<double> at) {
  density.neutral(at);
  std::vector<double> coefficients(density.coefficients());
  std::vector<double> statistics(density.statistics());
  std::array<double, 2> features{};
  double base = 0;
  density.coefficients_of(at, coefficients);
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    density.observe(numbers[n], std::span(features).first(density.features()), base);
    const Numbers one{
        .count = 1, .first = features.data(), .second = density.features() > 1 ? features.data() + 1 : nullptr};
    add_statistics(density.form(), one, 1, coefficients.data(), &weights[n], statistics.data());
  }
  (void)density.estimate(statistics, at);
  density.clamp(at);
}

}  // namespace

Sampled sampled(const Components& components, std::span<const std::vector<double>> numbers) {
  constexpr std::size_t most = 8192;
  constexpr std::size_t kept = 1024;
  Sampled result;
  double seen = 0;
  double zeros = 0;
  const auto look = [&](double number) {
    if (std::isnan(number)) return;
    ++seen;
    if (number == 0) ++zeros;
    if (number != 0 || components.density().supports(0)) result.numbers.push_back(number);
  };
  for (const std::vector<double>& some : numbers) {
    base::Random stream(some.size());
    for (std::size_t k = 0; some.size() > most && k < most; ++k) {
      look(some[static_cast<std::size_t>(stream.uniform() * static_cast<double>(some.size()))]);
    }
    // All of them where there are few, or where nearly all are missing.
    if (some.size() <= most || result.numbers.size() < kept) std::for_each(some.begin(), some.end(), look);
  }
  if (seen > 0) result.zeros = zeros / seen;
  std::sort(result.numbers.begin(), result.numbers.end());
  const std::size_t all = result.numbers.size();
  if (all > kept) {
    for (std::size_t k = 0; k < kept; ++k) result.numbers[k] = result.numbers[(2 * k + 1) * all / (2 * kept)];
    result.numbers.resize(kept);
  }
  return result;
}

void draw(const Components& components, const Sampled& sample, base::Random& random, std::span<double> coordinates) {
  constexpr double elsewhere = 0.05;  // the weight of numbers outside of the stretch
  const Density& density = components.density();
  const std::size_t parents = components.parents();
  const std::size_t count = sample.numbers.size();
  std::vector<double> weights(count);
  std::vector<std::size_t> order(parents);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t k = 0; k < components.count(); ++k) {
    if (k % parents == 0) {
      for (std::size_t j = parents; j > 1; --j) {
        std::swap(order[j - 1], order[random.below(static_cast<std::uint32_t>(j))]);
      }
    }
    const double middle = (static_cast<double>(order[k % parents]) + random.uniform()) / static_cast<double>(parents);
    const double reach = 0.5 / static_cast<double>(parents) * (0.5 + random.uniform());
    for (std::size_t n = 0; n < count; ++n) {
      const double place = (static_cast<double>(n) + 0.5) / static_cast<double>(count);
      weights[n] = std::abs(place - middle) <= reach ? 1 : elsewhere;
    }
    const std::span<double> at = components.component(coordinates, k);
    estimate_one(density, sample.numbers, weights, at.first(density.coordinates()));
    if (components.inflated()) at.back() = std::min(0.95, sample.zeros * (0.1 + 0.9 * random.uniform()));
  }
}

}  // namespace plated::likelihood
