// Handwritten forward and backward recursions for flat chains, which the examples check Plated's answers against.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

/// A chain of `states` states that begins in given probabilities; `transition` is [state, state], probabilities, and
/// `emission` [step, state], logarithms. Step t's emission is that of the state after t + 1 transitions.
struct FlatPosterior {
  double log_likelihood = 0;
  std::vector<double> posterior;  // [step, state]
};

inline FlatPosterior flat_forward_backward(const std::vector<double>& start, const std::vector<double>& transition,
                                           const std::vector<double>& emission) {
  const std::size_t states = start.size();
  const std::size_t steps = emission.size() / states;
  FlatPosterior result;
  // Weights of each step, relative to its best emission; messages are scaled to sum to one.
  std::vector<double> weight(emission.size()), forward(emission.size()), scale(steps);
  std::vector<double> before = start;
  for (std::size_t t = 0; t < steps; ++t) {
    const double* e = emission.data() + t * states;
    const double best = *std::max_element(e, e + states);
    for (std::size_t k = 0; k < states; ++k) weight[t * states + k] = std::exp(e[k] - best);
    double* now = forward.data() + t * states;
    for (std::size_t j = 0; j < states; ++j) {
      for (std::size_t k = 0; k < states; ++k) now[k] += before[j] * transition[j * states + k];
    }
    for (std::size_t k = 0; k < states; ++k) scale[t] += now[k] *= weight[t * states + k];
    for (std::size_t k = 0; k < states; ++k) now[k] /= scale[t];
    result.log_likelihood += std::log(scale[t]) + best;
    before.assign(now, now + states);
  }
  result.posterior = forward;
  std::vector<double> after(states, 1.0);
  for (std::size_t t = steps; t-- > 0;) {
    for (std::size_t k = 0; k < states; ++k) result.posterior[t * states + k] *= after[k];
    std::vector<double> earlier(states, 0.0);
    for (std::size_t j = 0; j < states; ++j) {
      for (std::size_t k = 0; k < states; ++k) {
        earlier[j] += transition[j * states + k] * weight[t * states + k] * after[k] / scale[t];
      }
    }
    after = earlier;
  }
  return result;
}
