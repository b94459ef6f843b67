// A hidden Markov model by hand: the forward–backward recursions in double, each slice scaled to sum to one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace plated::test {

/// Logarithms; `emission` has a row of states for each slice, and state 0 of the chain has none.
struct HandHmm {
  std::size_t states = 0;
  std::vector<double> prior, transition, emission;
};

struct HandPosterior {
  double log_partition = 0;
  std::vector<double> before;    // of slice t's source, t by states
  std::vector<double> after;     // of slice t's target
  std::vector<double> filtered;  // the same, given slices up to t
};

inline HandPosterior forward_backward(const HandHmm& hmm) {
  const std::size_t k = hmm.states, slices = hmm.emission.size() / k;
  HandPosterior result;
  std::vector<double> forward{}, backward((slices + 1) * k, 1), step(k * k);
  for (std::size_t e = 0; e < k * k; ++e) step[e] = std::exp(hmm.transition[e]);
  // Makes a list sum to one, and returns the logarithm of its sum.
  const auto scale = [](double* first, std::size_t count) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += first[i];
    for (std::size_t i = 0; i < count; ++i) first[i] /= sum;
    return std::log(sum);
  };
  // Σ of a million terms near −10: a second double keeps what the first would round away.
  double lost = 0;
  const auto accumulate = [&](double x) {
    const double sum = result.log_partition + (x - lost);
    lost = (sum - result.log_partition) - (x - lost);
    result.log_partition = sum;
  };
  for (std::size_t s = 0; s < k; ++s) forward.push_back(std::exp(hmm.prior[s]));
  accumulate(scale(forward.data(), k));
  // Emissions are taken relative to the slice's largest, which may be far below what a double can exponentiate.
  const auto relative = [&](std::size_t t, std::vector<double>& weights) {
    const double* row = &hmm.emission[t * k];
    const double most = *std::max_element(row, row + k);
    for (std::size_t s = 0; s < k; ++s) weights[s] = std::exp(row[s] - most);
    return most;
  };
  std::vector<double> weights(k);
  for (std::size_t t = 0; t < slices; ++t) {
    const double most = relative(t, weights);
    forward.resize((t + 2) * k, 0);
    double* next = &forward[(t + 1) * k];
    for (std::size_t s = 0; s < k; ++s) {
      for (std::size_t r = 0; r < k; ++r) next[s] += forward[t * k + r] * step[r * k + s] * weights[s];
    }
    accumulate(scale(next, k) + most);
  }
  for (std::size_t t = slices; t-- > 0;) {
    relative(t, weights);
    for (std::size_t r = 0; r < k; ++r) {
      double sum = 0;
      for (std::size_t s = 0; s < k; ++s) sum += step[r * k + s] * weights[s] * backward[(t + 1) * k + s];
      backward[t * k + r] = sum;
    }
    scale(&backward[t * k], k);
  }
  std::vector<double> smoothed((slices + 1) * k);
  for (std::size_t t = 0; t <= slices; ++t) {
    for (std::size_t s = 0; s < k; ++s) smoothed[t * k + s] = forward[t * k + s] * backward[t * k + s];
    scale(&smoothed[t * k], k);
  }
  result.before.assign(smoothed.begin(), smoothed.end() - static_cast<std::ptrdiff_t>(k));
  result.after.assign(smoothed.begin() + static_cast<std::ptrdiff_t>(k), smoothed.end());
  result.filtered.assign(forward.begin() + static_cast<std::ptrdiff_t>(k), forward.end());
  return result;
}

}  // namespace plated::test
