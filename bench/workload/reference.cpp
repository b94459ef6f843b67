// Eliminates the model's variables one after the other, in double.
#include "workload/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace bench {
namespace {

using plated::Semiring;

double log_sum_exp(const std::vector<double>& terms) {
  const double top = *std::max_element(terms.begin(), terms.end());
  double sum = 0;
  for (const double term : terms) sum += std::exp(term - top);
  return top + std::log(sum);
}

/// For each state of the outer variable and each index of its plate (i, or with `of_j` j): the product over the other
/// plates of the sum over the inner variable, as a logarithm.
std::vector<double> messages(const TreeModel& model, std::size_t factor, bool of_j, Semiring semiring,
                             Reference& result) {
  const TreeSizes& n = model.sizes();
  const std::int64_t rest = n.slices() / (n.i * n.j);
  const std::int64_t plate = of_j ? n.j : n.i;
  const float* entry = model.entries(factor);
  std::vector<double> message(static_cast<std::size_t>(n.domain * plate));
  std::vector<double> terms(static_cast<std::size_t>(n.domain));
  for (std::int64_t outer = 0; outer < n.domain; ++outer) {
    for (std::int64_t slice = 0; slice < n.slices(); ++slice) {
      for (std::int64_t inner = 0; inner < n.domain; ++inner) {
        terms[static_cast<std::size_t>(inner)] = entry[(outer * n.domain + inner) * n.slices() + slice];
      }
      const double logs = log_sum_exp(terms);
      double sum = 0;
      for (const double term : terms) sum += term;
      result.log_sum_exps += logs;
      result.sum += sum;
      const std::int64_t index = of_j ? slice / rest % n.j : slice / rest / n.j;
      message[static_cast<std::size_t>(outer * plate + index)] += semiring == Semiring::log ? logs : std::log(sum);
    }
  }
  return message;
}

}  // namespace

Reference reference(const TreeModel& model, Semiring semiring) {
  const TreeSizes& n = model.sizes();
  Reference result;
  const auto entry = [&](std::size_t factor, std::int64_t at) {
    const double x = model.entries(factor)[at];
    return semiring == Semiring::log ? x : std::log(x);
  };
  std::vector<double> of_a(static_cast<std::size_t>(n.domain));
  for (std::int64_t a = 0; a < n.domain; ++a) of_a[static_cast<std::size_t>(a)] = entry(0, a);
  for (const bool of_j : {false, true}) {
    const std::int64_t plate = of_j ? n.j : n.i;
    const std::vector<double> message = messages(model, of_j ? 4 : 2, of_j, semiring, result);
    for (std::int64_t a = 0; a < n.domain; ++a) {
      for (std::int64_t p = 0; p < plate; ++p) {
        std::vector<double> terms;
        for (std::int64_t v = 0; v < n.domain; ++v) {
          terms.push_back(entry(of_j ? 3 : 1, (a * n.domain + v) * plate + p) +
                          message[static_cast<std::size_t>(v * plate + p)]);
        }
        of_a[static_cast<std::size_t>(a)] += log_sum_exp(terms);
      }
    }
  }
  result.log_total = log_sum_exp(of_a);
  return result;
}

void require_close(const std::string& what, double found, double expected, double tolerance) {
  if (std::abs(found - expected) <= tolerance * std::max(1.0, std::abs(expected))) return;  // false for NaN
  char text[128];
  std::snprintf(text, sizeof(text), ": %.9g, but it must be %.9g within %.1g", found, expected, tolerance);
  throw std::runtime_error("wrong result of " + what + text);
}

}  // namespace bench
