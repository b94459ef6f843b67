// Holds answers against each other and against the plain posterior.
#include "workload/adjoint_checks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <stdexcept>

#include "workload/reference.hpp"

namespace bench {
namespace {

using plated::Tensor;

// Of probabilities: float32 sums of 32 make the messages, whose products over a plate are kept in double.
constexpr double tolerance = 2e-5;

std::span<const float> entries(const Tensor& tensor) {
  if (tensor.dtype() != plated::Dtype::float32 || tensor.strides() != Tensor::row_major(tensor.shape())) {
    throw std::runtime_error("answers of a float32 model must be float32 in row-major order");
  }
  return {static_cast<const float*>(tensor.data()), at(tensor.elements())};
}

void require_all_close(const std::string& what, std::span<const float> found, std::span<const double> expected) {
  if (found.size() != expected.size()) throw std::runtime_error("wrong number of entries of " + what);
  for (std::size_t n = 0; n < found.size(); ++n) {
    if (std::abs(static_cast<double>(found[n]) - expected[n]) <= tolerance) continue;  // false for NaN
    require_close(what + " at entry " + std::to_string(n), static_cast<double>(found[n]), expected[n], tolerance);
  }
}

/// Every slice of a variable's marginal sums to one.
void check_normalised(const std::string& variable, const Tensor& marginal, std::int64_t domain) {
  const std::span<const float> probabilities = entries(marginal);
  for (std::size_t begin = 0; begin < probabilities.size(); begin += at(domain)) {
    double total = 0;
    for (const float p : probabilities.subspan(begin, at(domain))) total += static_cast<double>(p);
    require_close("the sum of " + variable + "'s marginal", total, 1, tolerance);
  }
}

/// A gradient summed over all but one of its variables is that one's marginal, in every slice of the factor's plates.
/// The factor's axes are the two variables and the slices; `outer_plate` maps a slice to the outer variable's.
template <class Plate>
void check_sums(const TreeModel& model, const Tensor& gradient, const Tensor& outer, const Tensor& inner,
                const Plate& outer_plate) {
  const std::int64_t domain = model.sizes().domain;
  const std::int64_t slices = gradient.elements() / (domain * domain);
  const float* entry = entries(gradient).data();
  const std::span<const float> of_outer = entries(outer);
  std::vector<double> of_inner(at(domain * slices));  // [inner, slice]
  std::vector<double> sum(at(slices));
  for (std::int64_t o = 0; o < domain; ++o) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::int64_t n = 0; n < domain; ++n) {
      for (std::int64_t s = 0; s < slices; ++s, ++entry) {
        sum[at(s)] += static_cast<double>(*entry);
        of_inner[at(n * slices + s)] += static_cast<double>(*entry);
      }
    }
    for (std::int64_t s = 0; s < slices; ++s) {
      const double expected = static_cast<double>(of_outer[at(outer_plate(s) * domain + o)]);
      if (std::abs(sum[at(s)] - expected) <= tolerance) continue;
      require_close("a gradient's sum over its inner variable", sum[at(s)], expected, tolerance);
    }
  }
  const std::span<const float> marginal = entries(inner);
  for (std::int64_t n = 0; n < domain; ++n) {
    for (std::int64_t s = 0; s < slices; ++s) {
      const double expected = static_cast<double>(marginal[at(s * domain + n)]);
      const double found = of_inner[at(n * slices + s)];
      if (std::abs(found - expected) <= tolerance) continue;
      require_close("a gradient's sum over its outer variable", found, expected, tolerance);
    }
  }
}

void check_posterior(const TreeModel& model, const AdjointRunner& runner, const std::optional<Posterior>& expected) {
  const TreeSizes& n = model.sizes();
  const auto& of = runner.marginals.variables;
  for (const auto& [variable, marginal] : of) {
    check_normalised(variable, marginal, n.domain);
    if (expected) require_all_close(variable + "'s marginal", entries(marginal), expected->variables.at(variable));
  }
  const std::vector<Tensor>& gradients = runner.gradients();
  if (expected) {
    for (std::size_t f = 0; f < gradients.size(); ++f) {
      require_all_close("the gradient of factor " + std::to_string(f), entries(gradients[f]), expected->factors[f]);
    }
  }
  const auto shared = [](std::int64_t) { return std::int64_t{0}; };
  check_sums(model, gradients[1], of.at("a"), of.at("b"), shared);
  check_sums(model, gradients[2], of.at("b"), of.at("c"), [&](std::int64_t slice) { return slice / n.j; });
  check_sums(model, gradients[3], of.at("a"), of.at("d"), shared);
  check_sums(model, gradients[4], of.at("d"), of.at("e"), [&](std::int64_t slice) { return slice % n.j; });
}

void check_map(const TreeModel& model, const AdjointRunner& runner) {
  const Tensor expected = runner.max_plus();
  if (expected.dtype() != runner.best.score.dtype() ||
      std::memcmp(expected.data(), runner.best.score.data(), size_of(expected.dtype())) != 0) {
    throw std::runtime_error("the score of the best assignment is not the max-plus value bit for bit");
  }
  const TreeSizes& n = model.sizes();
  const auto state = [&](const char* variable, std::int64_t slice) {
    return runner.best.assignment.at(variable).values.at(at(slice));
  };
  const std::int64_t a = state("a", 0);
  double score = model.entries(0)[a];
  for (std::int64_t i = 0; i < n.i; ++i) score += model.entries(1)[(a * n.domain + state("b", i)) * n.i + i];
  for (std::int64_t j = 0; j < n.j; ++j) score += model.entries(3)[(a * n.domain + state("d", j)) * n.j + j];
  for (std::int64_t slice = 0; slice < n.slices(); ++slice) {
    score += model.entries(2)[(state("b", slice / n.j) * n.domain + state("c", slice)) * n.slices() + slice];
    score += model.entries(4)[(state("d", slice % n.j) * n.domain + state("e", slice)) * n.slices() + slice];
  }
  require_close("the best assignment's score", score, expected.item(), 1e-6);
}

/// How often a state occurs in a sample, over all slices, against what the marginals promise: samples are independent,
/// so that their own spread tells how far their mean may be off.
void check_frequencies(const std::string& variable, const plated::Integers& states, const Tensor& marginal,
                       std::int64_t samples, std::int64_t domain) {
  const std::span<const float> probabilities = entries(marginal);
  const std::size_t slices = probabilities.size() / at(domain);
  if (states.values.size() != at(samples) * slices) throw std::runtime_error("wrong number of states of " + variable);
  std::vector<double> sum(at(domain));
  std::vector<double> squares(at(domain));
  std::vector<double> counts(at(domain));
  for (std::size_t s = 0; s < at(samples); ++s) {
    std::fill(counts.begin(), counts.end(), 0.0);
    for (const std::int64_t state : std::span(states.values).subspan(s * slices, slices)) {
      if (state < 0 || state >= domain) throw std::runtime_error("a sample of " + variable + " is out of range");
      ++counts[at(state)];
    }
    for (std::size_t k = 0; k < counts.size(); ++k) {
      sum[k] += counts[k];
      squares[k] += counts[k] * counts[k];
    }
  }
  if (samples < 100) return;  // too few to know their spread
  for (std::size_t k = 0; k < counts.size(); ++k) {
    double expected = 0;
    for (std::size_t slice = 0; slice < slices; ++slice) {
      expected += static_cast<double>(probabilities[slice * at(domain) + k]);
    }
    const auto n = static_cast<double>(samples);
    const double mean = sum[k] / n;
    const double spread = std::sqrt(std::max(0.0, squares[k] / n - mean * mean) / n);
    if (std::abs(mean - expected) <= 6 * spread + 10 / n) continue;  // the latter for states that hardly ever occur
    throw std::runtime_error("samples of " + variable + " have state " + std::to_string(k) + " " +
                             std::to_string(mean) + " times, but " + std::to_string(expected) + " were expected");
  }
}

}  // namespace

void check_adjoints(const TreeModel& model, AdjointRunner& runner, const std::optional<Posterior>& expected,
                    std::int64_t samples) {
  runner.ask_value();
  runner.ask_gradient();
  runner.ask_marginals();
  for (const Tensor* value : {&runner.log_partition, &runner.marginals.log_partition}) {
    require_close("log Z", value->item(), runner.value.item(), 1e-6);
  }
  check_posterior(model, runner, expected);
  runner.ask_map();
  check_map(model, runner);
  runner.ask_samples(samples);
  for (const auto& [variable, states] : runner.samples) {
    check_frequencies(variable, states, runner.marginals.variables.at(variable), samples, model.sizes().domain);
  }
  runner.samples.clear();
}

}  // namespace bench
