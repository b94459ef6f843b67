// Draws the row, and solves it with plain loops over probabilities.
#include "row/chain.hpp"

#include <cmath>
#include <random>

namespace bench {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Divides by the sum, which it returns.
double normalise(std::vector<double>& weights) {
  double total = 0;
  for (const double weight : weights) total += weight;
  for (double& weight : weights) weight /= total;
  return total;
}

}  // namespace

Chain::Chain(std::int64_t variables, std::int64_t states) : length(variables), domain(states) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> entry(-3.0f, 3.0f);
  for (std::int64_t v = 0; v + 1 < length; ++v) {
    equation += (v == 0 ? "x" : ", x") + std::to_string(v) + " x" + std::to_string(v + 1);
    factors.emplace_back(plated::Dtype::float32, plated::Tensor::Shape{domain, domain});
    auto* to = static_cast<float*>(factors.back().mutable_data());
    for (std::int64_t n = 0; n < domain * domain; ++n) to[n] = entry(random);
  }
  equation += " ->";
}

const float* Chain::entries(std::int64_t factor) const { return static_cast<const float*>(factors[at(factor)].data()); }

plated::Plan Chain::compiled() const {
  std::vector<std::vector<std::int64_t>> shapes;
  for (const plated::Tensor& factor : factors) shapes.push_back(factor.shape());
  return compile(plated::FactorGraph::from_equation(equation, shapes));
}

ChainPosterior posterior(const Chain& chain) {
  const std::int64_t n = chain.domain;
  // forward[t]: of the variable at t given the factors before it; backward: what the factors after t say about it.
  std::vector<std::vector<double>> forward = {std::vector<double>(at(n), 1.0 / static_cast<double>(n))};
  ChainPosterior result;
  result.log_total = std::log(static_cast<double>(n));
  for (std::int64_t t = 0; t + 1 < chain.length; ++t) {
    std::vector<double> next(at(n));
    for (std::int64_t x = 0; x < n; ++x) {
      for (std::int64_t y = 0; y < n; ++y) {
        next[at(y)] += forward.back()[at(x)] * std::exp(static_cast<double>(chain.entries(t)[x * n + y]));
      }
    }
    result.log_total += std::log(normalise(next));
    forward.push_back(next);
  }
  result.factors.resize(chain.factors.size());
  std::vector<double> backward(at(n), 1.0);
  for (std::int64_t t = chain.length - 2; t >= 0; --t) {
    std::vector<double>& joint = result.factors[at(t)];
    std::vector<double> before(at(n));
    for (std::int64_t x = 0; x < n; ++x) {
      for (std::int64_t y = 0; y < n; ++y) {
        const double weight = std::exp(static_cast<double>(chain.entries(t)[x * n + y])) * backward[at(y)];
        joint.push_back(forward[at(t)][at(x)] * weight);
        before[at(x)] += weight;
      }
    }
    normalise(joint);
    normalise(before);
    backward = before;
  }
  return result;
}

}  // namespace bench
