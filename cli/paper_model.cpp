// Draws the factors, and eliminates by hand: c and e in each slice, b in each i and d in each j, then a.
#include "paper_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace plated::cli {
namespace {

/// Uniform in ±3: a hash of the entry's number.
float entry(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9u;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EBu;
  return static_cast<float>((number ^ (number >> 31)) >> 40) * 0x1p-24f * 6.0f - 3.0f;
}

double log_sum_exp(const std::vector<double>& terms) {
  const double top = *std::max_element(terms.begin(), terms.end());
  double sum = 0;
  for (const double term : terms) sum += std::exp(term - top);
  return top + std::log(sum);
}

double best(const std::vector<double>& terms) { return *std::max_element(terms.begin(), terms.end()); }

/// The weight of each state of a, all else eliminated by `add`.
template <class Add>
std::vector<double> weights_of_a(const std::vector<Tensor>& factors, const Add& add) {
  std::vector<double> weights = factors[0].values();
  const std::int64_t domain = factors[0].shape()[0];
  std::vector<double> terms(static_cast<std::size_t>(domain));
  const auto eliminated = [&](const auto& term) {
    for (std::int64_t state = 0; state < domain; ++state) terms[static_cast<std::size_t>(state)] = term(state);
    return add(terms);
  };
  for (const bool of_j : {false, true}) {
    const Tensor& outer = factors[of_j ? 3 : 1];  // a, b, i, or a, d, j
    const Tensor& inner = factors[of_j ? 4 : 2];  // b, c, i, j, or d, e, i, j
    const std::int64_t size = outer.shape()[2];
    for (std::int64_t plate = 0; plate < size; ++plate) {
      std::vector<double> message(static_cast<std::size_t>(domain));
      for (std::int64_t v = 0; v < domain; ++v) {
        for (std::int64_t other = 0; other < size; ++other) {
          message[static_cast<std::size_t>(v)] += eliminated([&](std::int64_t state) {
            return of_j ? inner.at({v, state, other, plate}) : inner.at({v, state, plate, other});
          });
        }
      }
      for (std::int64_t a = 0; a < domain; ++a) {
        weights[static_cast<std::size_t>(a)] += eliminated([&](std::int64_t v) {
          return outer.at({a, v, plate}) + message[static_cast<std::size_t>(v)];
        });
      }
    }
  }
  return weights;
}

}  // namespace

std::vector<Tensor> paper_factors(std::int64_t size) {
  const std::int64_t n = paper_domain;
  std::vector<Tensor> factors;
  std::uint64_t number = 0;
  for (const Tensor::Shape& shape :
       {Tensor::Shape{n}, {n, n, size}, {n, n, size, size}, {n, n, size}, {n, n, size, size}}) {
    Tensor& factor = factors.emplace_back(Tensor::uninitialised(Dtype::float32, shape));
    auto* const first = static_cast<float*>(factor.mutable_data());
    std::generate(first, first + factor.elements(), [&] { return entry(++number); });
  }
  return factors;
}

PaperAnswers paper_answers(const std::vector<Tensor>& factors) {
  PaperAnswers answers;
  const std::vector<double> weights = weights_of_a(factors, log_sum_exp);
  answers.ln_z = log_sum_exp(weights);
  answers.ln_best = best(weights_of_a(factors, best));
  for (const double weight : weights) answers.marginal.push_back(std::exp(weight - answers.ln_z));
  return answers;
}

}  // namespace plated::cli
