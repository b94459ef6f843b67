// Mixtures of two components of each family, and numbers that they might have drawn.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "plated/fit.hpp"
#include "plated/model.hpp"
#include "property/written_case.hpp"

namespace plated::test {

inline constexpr double missing = std::numeric_limits<double>::quiet_NaN();

struct Mixture {
  Likelihood start;
  double (*number)(bool first, Random& random);
};

inline Tensor two(double a, double b) { return Tensor::of<double>({2}, {a, b}); }

inline double sum_of_uniforms(Random& random) {
  double sum = 0;
  for (int k = 0; k < 12; ++k) sum += random.uniform(-0.5, 0.5);
  return sum;
}

inline std::vector<Mixture> mixtures() {
  return {
      {{.family = Family::normal, .parameters = {{"mean", two(-1, 1)}, {"deviation", Tensor::scalar(1.0)}}},
       [](bool first, Random& random) { return (first ? -2 : 3) + sum_of_uniforms(random); }},
      {{.family = Family::poisson, .parameters = {{"rate", two(1, 4)}}},
       [](bool first, Random& random) { return static_cast<double>(random.below(first ? 4 : 14)); }},
      {{.family = Family::poisson,
        .zero_inflated = true,
        .parameters = {{"rate", two(2, 6)}, {"zero", Tensor::scalar(0.2)}}},
       [](bool first, Random& random) {
         return static_cast<double>(random.chance(30) ? 0 : random.below(first ? 6 : 16));
       }},
      {{.family = Family::gamma, .parameters = {{"shape", two(2, 3)}, {"rate", two(1, 0.5)}}},
       [](bool first, Random& random) { return (first ? 1 : 6) * std::exp(0.3 * sum_of_uniforms(random)); }},
      {{.family = Family::gamma,
        .zero_inflated = true,
        .parameters = {{"shape", two(2, 3)}, {"rate", two(1, 0.5)}, {"zero", two(0.1, 0.5)}}},
       [](bool first, Random& random) {
         return random.chance(first ? 10 : 40) ? 0 : (first ? 1 : 6) * std::exp(0.3 * sum_of_uniforms(random));
       }},
      {{.family = Family::beta, .parameters = {{"alpha", two(2, 3)}, {"beta", two(4, 2)}}},
       [](bool first, Random& random) { return random.uniform(first ? 0.05 : 0.5, first ? 0.4 : 0.95); }},
      {{.family = Family::von_mises, .parameters = {{"mean", two(0, 2)}, {"concentration", two(1, 2)}}},
       [](bool first, Random& random) { return (first ? 0.5 : 2.5) + 0.4 * sum_of_uniforms(random); }},
      {{.family = Family::bernoulli, .parameters = {{"probability", two(0.3, 0.6)}}},
       [](bool first, Random& random) { return random.chance(first ? 10 : 85) ? 1.0 : 0.0; }},
      {{.family = Family::categorical,
        .parameters = {{"probabilities", Tensor::of<double>({2, 3}, {0.5, 0.3, 0.2, 0.2, 0.3, 0.5})}}},
       [](bool first, Random& random) {
         const double place = random.uniform(0, 1);
         const double low = place < 0.8 ? 0 : place < 0.9 ? 1 : 2;
         return first ? low : 2 - low;
       }},
  };
}

/// Rows with a hidden kind, each with three numbers.
inline Model rows_model(std::int64_t rows, const Likelihood& start) {
  FactorGraph graph;
  graph.plate("row", rows);
  graph.plate("question", 3);
  graph.variable("kind", 2, {"row"});
  graph.factor("kinds", {"kind"}, {.tied = {"row"}, .distribution_of = "kind"});
  graph.factor("numbers", {"kind"}, {.tied = {"row", "question"}});
  return make_model(graph, {{"kinds", two(0.5, 0.5)}}, {.space = Space::real, .likelihoods = {{"numbers", start}}});
}

inline Tensor drawn(std::int64_t rows, const Mixture& mixture, int missing_percent) {
  Random random(11);
  std::vector<double> numbers;
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool first = random.chance(35);
    for (int q = 0; q < 3; ++q) {
      const double number = mixture.number(first, random);
      numbers.push_back(random.chance(missing_percent) ? missing : number);
    }
  }
  return Tensor::of<double>({rows, 3}, numbers);
}

/// A fifth of the numbers missing, and a weight for each row.
inline Data drawn_with_weights(std::int64_t rows, const Mixture& mixture) {
  Random random(3);
  std::vector<double> weights;
  for (std::int64_t row = 0; row < rows; ++row) weights.push_back(random.uniform(0.5, 3));
  return {.measurements = {{"numbers", drawn(rows, mixture, 20)}},
          .weights = {{"row", Tensor::of<double>({rows}, weights)}}};
}

}  // namespace plated::test
