// Makes the data, and solves the model with plain loops over probabilities.
#include "hidden_markov.hpp"

#include <cmath>
#include <utility>

namespace bench {
namespace {

/// Divides by the sum, which it returns.
double normalise(std::vector<double>& weights) {
  double total = 0;
  for (const double weight : weights) total += weight;
  for (double& weight : weights) weight /= total;
  return total;
}

std::vector<double> exponentials(const float* from, std::int64_t count) {
  std::vector<double> result;
  for (std::int64_t k = 0; k < count; ++k) result.push_back(std::exp(static_cast<double>(from[k])));
  return result;
}

/// One sequence, added to what others have left in `result`.
void add_sequence(const HiddenMarkov& model, const std::vector<double>& matrix, std::int64_t n,
                  PlainPosterior& result) {
  const auto [states, length, sequences] = model.size;
  const auto width = static_cast<std::size_t>(states);
  const float* emissions = model.emissions() + n * length * states;
  std::vector<std::vector<double>> forward = {exponentials(model.prior(), states)};
  result.log_total += std::log(normalise(forward.back()));
  for (std::int64_t t = 0; t < length; ++t) {
    std::vector<double> next(width);
    for (std::size_t a = 0; a < width; ++a) {
      for (std::size_t b = 0; b < width; ++b) next[b] += forward.back()[a] * matrix[a * width + b];
    }
    const std::vector<double> emission = exponentials(emissions + t * states, states);
    for (std::size_t b = 0; b < width; ++b) next[b] *= emission[b];
    result.log_total += std::log(normalise(next));
    forward.push_back(next);
  }
  std::vector<double> backward(width, 1.0);
  for (std::int64_t t = length - 1; t >= 0; --t) {
    const std::vector<double>& before = forward[static_cast<std::size_t>(t)];
    std::vector<double> after = exponentials(emissions + t * states, states);
    for (std::size_t b = 0; b < width; ++b) after[b] *= backward[b];
    double total = 0;
    std::vector<double> earlier(width), mass(width);
    for (std::size_t a = 0; a < width; ++a) {
      for (std::size_t b = 0; b < width; ++b) {
        earlier[a] += matrix[a * width + b] * after[b];
        mass[b] += before[a] * matrix[a * width + b] * after[b];
      }
      total += before[a] * earlier[a];
    }
    for (std::size_t a = 0; a < width; ++a) {
      for (std::size_t b = 0; b < width; ++b) {
        result.transition[a * width + b] += before[a] * matrix[a * width + b] * after[b] / total;
      }
    }
    for (std::size_t b = 0; b < width; ++b) {
      result.emissions[static_cast<std::size_t>((n * length + t) * states) + b] = mass[b] / total;
    }
    backward = earlier;
    normalise(backward);
  }
  std::vector<double> first = forward.front();
  for (std::size_t a = 0; a < width; ++a) first[a] *= backward[a];
  normalise(first);
  for (std::size_t a = 0; a < width; ++a) result.prior[a] += first[a];
}

}  // namespace

float hashed_uniform(std::uint64_t stream, std::uint64_t index) {
  std::uint64_t bits = ((stream << 48) + index + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  bits ^= bits >> 31;
  return static_cast<float>(bits >> 40) * 0x1p-24f;
}

plated::Tensor random_distributions(std::uint64_t stream, plated::Tensor::Shape shape) {
  auto result = plated::Tensor::uninitialised(plated::Dtype::float32, std::move(shape));
  auto* to = static_cast<float*>(result.mutable_data());
  const std::int64_t states = result.shape().back();
  const std::int64_t count = result.elements();
  for (std::int64_t row = 0; row < count; row += states) {
    std::vector<double> weights;
    for (std::int64_t k = 0; k < states; ++k) {
      const float logit = 6 * hashed_uniform(stream, static_cast<std::uint64_t>(row + k)) - 3;
      weights.push_back(std::exp(static_cast<double>(logit)));
    }
    normalise(weights);
    for (std::int64_t k = 0; k < states; ++k) {
      to[row + k] = static_cast<float>(std::log(weights[static_cast<std::size_t>(k)]));
    }
  }
  return result;
}

plated::Tensor random_emissions(std::uint64_t stream, plated::Tensor::Shape shape) {
  auto result = plated::Tensor::uninitialised(plated::Dtype::float32, std::move(shape));
  auto* to = static_cast<float*>(result.mutable_data());
  const std::int64_t count = result.elements();
  for (std::int64_t k = 0; k < count; ++k) {
    to[k] = 6 * hashed_uniform(stream, static_cast<std::uint64_t>(k)) - 6;
  }
  return result;
}

HiddenMarkov::HiddenMarkov(ChainSize sizes) : size(sizes) {
  factors.push_back(random_distributions(1, {size.states}));
  factors.push_back(random_distributions(2, {size.states, size.states}));
  factors.push_back(random_emissions(3, {size.sequences, size.length, size.states}));
}

plated::Plan compiled(const ChainSize& size) {
  const std::vector<std::vector<std::int64_t>> shapes = {
      {size.states}, {size.states, size.states}, {size.sequences, size.length, size.states}};
  return compile(plated::FactorGraph::from_equation("(n) a, (n t) a b, n t b ->", shapes,
                                                    {.plates = "n", .chains = {{"t", {"a->b"}}}}));
}

PlainPosterior plain_posterior(const HiddenMarkov& model) {
  const auto [states, length, sequences] = model.size;
  PlainPosterior result;
  result.prior.resize(static_cast<std::size_t>(states));
  result.transition.resize(static_cast<std::size_t>(states * states));
  result.emissions.resize(static_cast<std::size_t>(sequences * length * states));
  const std::vector<double> matrix = exponentials(model.transition(), states * states);
  for (std::int64_t n = 0; n < sequences; ++n) add_sequence(model, matrix, n, result);
  return result;
}

}  // namespace bench
