// Hidden Markov models: "(n) a, (n t) a b, n t b ->" with a chain t, its data, and its answers by plain loops.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plated/plated.hpp"

namespace bench {

/// One of the sizes that are measured.
struct ChainSize {
  std::int64_t states = 2;
  std::int64_t length = 100;
  std::int64_t sequences = 1;

  /// Slices of all sequences.
  [[nodiscard]] std::int64_t steps() const { return length * sequences; }
  [[nodiscard]] std::int64_t emission_bytes() const { return 4 * steps() * states; }
};

/// State 0 of a sequence follows the prior; each of `length` steps moves on and emits. All factors are float32
/// logarithms: prior and transition normalised, emissions uniform in −6 … 0. Entries are a hash of their index, so that
/// programs in other languages can make the same ones.
struct HiddenMarkov {
  explicit HiddenMarkov(ChainSize sizes);

  ChainSize size;
  std::vector<plated::Tensor> factors;  ///< prior [a], transition [a, b], emissions [n, t, b]

  [[nodiscard]] const float* prior() const { return static_cast<const float*>(factors[0].data()); }
  [[nodiscard]] const float* transition() const { return static_cast<const float*>(factors[1].data()); }
  [[nodiscard]] const float* emissions() const { return static_cast<const float*>(factors[2].data()); }
};

/// The model's plan, made from its sizes alone.
[[nodiscard]] plated::Plan compiled(const ChainSize& size);

/// Uniform in 0 … 1, with 24 bits: the mixing function of SplitMix64.
[[nodiscard]] float hashed_uniform(std::uint64_t stream, std::uint64_t index);

/// Rows that sum to one, as logarithms.
[[nodiscard]] plated::Tensor random_distributions(std::uint64_t stream, plated::Tensor::Shape shape);
/// Uniform in −6 … 0.
[[nodiscard]] plated::Tensor random_emissions(std::uint64_t stream, plated::Tensor::Shape shape);

/// log Z and its derivatives by each factor, from plain loops over probabilities in double.
struct PlainPosterior {
  double log_total = 0;
  std::vector<double> prior, transition, emissions;
};

[[nodiscard]] PlainPosterior plain_posterior(const HiddenMarkov& model);

}  // namespace bench
