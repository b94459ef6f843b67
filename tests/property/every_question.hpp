// Every question about one model with chains, in log space, against the unrolled graph.
#pragma once

#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/count_samples.hpp"
#include "property/derivatives.hpp"
#include "property/expect_close.hpp"

namespace plated::test {

/// A model that was made by hand, with random operands in double.
class EveryQuestion {
 public:
  EveryQuestion(FactorGraph graph, Lengths lengths = {}, Semiring semiring = Semiring::log, std::uint64_t seed = 17)
      : graph_(std::move(graph)), lengths_(std::move(lengths)), semiring_(semiring), plan_(compile(graph_)) {
    Random random(seed);
    const bool weights = semiring == Semiring::real;
    operands_.emplace(graph_, random, OperandOptions{.semiring = weights ? Semiring::max_product : semiring});
  }

  [[nodiscard]] testing::AssertionResult all() {
    testing::AssertionResult good = value();
    if (good) good = gradient();
    if (good) good = marginal();
    if (good) good = moments();
    if (good) good = samples();
    if (good) good = best();
    return good;
  }

  [[nodiscard]] testing::AssertionResult value() {
    const auto want = oracle::unrolled(graph_, tensors(), semiring_, lengths_);
    return close(plan_.run(tensors(), run()), want, semiring_, 1e-13);
  }

  [[nodiscard]] testing::AssertionResult gradient() {
    const auto got = value_and_gradient(plan_, tensors(), run());
    oracle::Question q{
        .semiring = semiring_, .operands = numbers(tensors()), .direction = {}, .cotangents = {}, .lengths = lengths_};
    for (const Numbers& operand : q.operands) q.direction.emplace_back(operand.size(), 0);
    for (const Output& output : graph_.outputs()) {
      std::size_t entries = 1;
      for (const DimId d : output.dims) entries *= static_cast<std::size_t>(graph_.dims()[d].size);
      q.cotangents.emplace_back(entries, 1);
    }
    const auto exact = oracle::derivative(graph_, q);
    const auto magnitude = oracle::derivative(graph_, oracle::absolute(q));
    for (std::size_t f = 0; f < tensors().size(); ++f) {
      const auto good = near("gradient " + std::to_string(f), got.gradients.at(f), tensors()[f].shape(),
                             values_of(exact.gradients[f]), values_of(magnitude.gradients[f]), {1e-12, 1e-300});
      if (!good) return good;
    }
    return testing::AssertionSuccess();
  }

  [[nodiscard]] testing::AssertionResult marginal(const MarginalOptions& wanted = {.factors = true}) {
    oracle::Posterior posterior(graph_, tensors(), semiring_, lengths_);
    const Marginals got = marginals(plan_, tensors(), run(), wanted);
    const Numbers log_z = logarithms(posterior.table({}));
    auto good =
        near("log Z", got.log_partition, posterior.shape(posterior.axes({})), log_z, log_magnitude(log_z), {1e-13, 0});
    for (const DimId v : variables()) {
      if (!good) return good;
      const auto chain = wanted.filtered ? oracle::Slices(graph_, {}).outermost_chain(v) : std::nullopt;
      const Numbers want = chain ? posterior.filtered(v, *chain) : posterior.marginal({v});
      good = near_probabilities("marginal of " + graph_.dims()[v].name, got.variables.at(graph_.dims()[v].name),
                                posterior.shape(posterior.axes({v})), want, wanted.log, {1e-12, 1e-300});
    }
    for (std::size_t f = 0; f < got.factors.size() && good; ++f) {
      Numbers want = posterior.factor(f);
      const Numbers count = posterior.shared_by(f);
      for (std::size_t k = 0; k < want.size(); ++k) want[k] /= std::max(count[k], 1.0L);
      good = near_probabilities("posterior of factor " + std::to_string(f), got.factors[f], tensors()[f].shape(), want,
                                wanted.log, {1e-12, 1e-300});
    }
    return good;
  }

  [[nodiscard]] testing::AssertionResult moments() {
    oracle::Posterior posterior(graph_, tensors(), semiring_, lengths_);
    Random random(5);
    std::vector<Tensor> statistics;
    for (const Tensor& t : tensors()) statistics.push_back(signed_tensor(t.shape(), random));
    const Tensor::Shape batch = posterior.shape(posterior.axes({}));
    const Numbers h = posterior.entropy(), mean = posterior.expectation(numbers(statistics));
    const Numbers size(h.size(), 100);
    const auto good = near("entropy", entropy(plan_, tensors(), run()), batch, h, size, {1e-13, 0});
    if (!good) return good;
    return near("expectation", expectation(plan_, tensors(), statistics, run()), batch, mean, size, {1e-13, 0});
  }

  [[nodiscard]] testing::AssertionResult samples() {
    const oracle::Posterior posterior(graph_, tensors(), semiring_, lengths_);
    const std::int64_t count = 2000;
    return plausible(posterior, sample(plan_, tensors(), {.count = count, .seed = 3}, run()), count);
  }

  /// The best assignment, and max-marginals.
  [[nodiscard]] testing::AssertionResult best() {
    const Semiring ring = semiring_ == Semiring::log ? Semiring::max_plus : Semiring::max_product;
    oracle::Posterior posterior(graph_, tensors(), ring, lengths_);
    const Numbers score = posterior.table({});
    const MapResult got = map(plan_, tensors(), run());
    const Numbers magnitude = ring == Semiring::max_plus ? log_magnitude(score) : score;
    auto good = near("score", got.score, posterior.shape(posterior.axes({})), score, magnitude, {1e-13, 0});
    for (std::size_t n = 0; n < posterior.batches() && good; ++n) {
      const long double weight = posterior.weight(n, posterior.states(n, got.assignment));
      if (std::abs(weight - score[n]) > 1e-12L * magnitude[n]) good = testing::AssertionFailure() << "not the best";
    }
    const auto each = max_marginals(plan_, tensors(), run());
    for (const DimId v : variables()) {
      if (!good) return good;
      const Numbers want = posterior.table({v});
      good = near("max-marginal of " + graph_.dims()[v].name, each.at(graph_.dims()[v].name),
                  posterior.shape(posterior.axes({v})), want, ring == Semiring::max_plus ? log_magnitude(want) : want,
                  {1e-13, 0});
    }
    return good;
  }

  /// Entries in slices that a ragged plate does not have become NaN: they must not be read.
  void spoil_padding() {
    const oracle::Slices slices(graph_, lengths_);
    for (std::size_t f = 0; f < tensors().size(); ++f) {
      const std::vector<DimId>& dims = graph_.factors()[f].dims;
      if (std::set<DimId>(dims.begin(), dims.end()).size() < dims.size()) continue;
      std::vector<DimId> shared = slices.batch();
      const auto is_empty = [&](DimId d) { return graph_.dims()[d].size == 0; };
      if (std::any_of(shared.begin(), shared.end(), is_empty)) continue;
      std::erase_if(shared, [&](DimId d) { return oracle::contains(dims, d); });
      oracle::Index at(graph_.dims().size(), 0);
      auto* value = static_cast<double*>(tensors()[f].mutable_data());
      oracle::for_each_index(graph_, dims, at, [&] {
        for (const DimId plate : slices.of_kind(dims, DimKind::plate)) {
          bool exists = false;
          oracle::for_each_index(graph_, shared, at, [&] { exists = exists || slices.exists(plate, dims, at); });
          if (!exists) *value = std::numeric_limits<double>::quiet_NaN();
        }
        ++value;
      });
    }
  }

  /// Tangents of outputs and products of the second derivatives with a random direction.
  [[nodiscard]] testing::AssertionResult hessian() {
    Random random(29);
    std::vector<Tensor> direction, cotangents;
    for (const Tensor& t : tensors()) direction.push_back(signed_tensor(t.shape(), random));
    for (const Output& output : graph_.outputs()) {
      cotangents.push_back(signed_tensor(shape_of(graph_, output), random));
    }
    const auto got = hessian_vector_product(plan_, tensors(), direction, run(), cotangents);
    const oracle::Question q{.semiring = semiring_,
                             .operands = numbers(tensors()),
                             .direction = numbers(direction),
                             .cotangents = numbers(cotangents),
                             .lengths = lengths_};
    const auto exact = oracle::derivative(graph_, q);
    const auto magnitude = oracle::derivative(graph_, oracle::absolute(q));
    const auto slopes = [](const std::vector<oracle::Dual>& list) {
      Numbers result;
      for (const oracle::Dual& dual : list) result.push_back(std::isnan(dual.slope) ? 0 : dual.slope);
      return result;
    };
    testing::AssertionResult good = testing::AssertionSuccess();
    for (std::size_t o = 0; o < got.tangents.size() && good; ++o) {
      good = near("tangent " + std::to_string(o), got.tangents[o], cotangents[o].shape(), slopes(exact.outputs[o]),
                  slopes(magnitude.outputs[o]), {1e-11, 1e-300});
    }
    for (std::size_t f = 0; f < got.products.size() && good; ++f) {
      good = near("product " + std::to_string(f), got.products[f], tensors()[f].shape(), slopes(exact.gradients[f]),
                  slopes(magnitude.gradients[f]), {1e-11, 1e-300});
    }
    return good;
  }

  /// log Z − log Z without each slice of a plate.
  [[nodiscard]] testing::AssertionResult without_slices_of(const std::string& plate) {
    oracle::Posterior posterior(graph_, tensors(), semiring_, lengths_);
    const DimId d = *graph_.find(plate);
    std::vector<DimId> axes = posterior.axes({});
    axes.push_back(d);
    return left_out(leave_one_out(plan_, tensors(), plate, run()), posterior.shape(axes), posterior,
                    posterior.without_each_slice(d));
  }

  /// log Z − log Z without a factor in each slice of a chain.
  [[nodiscard]] testing::AssertionResult without_factor(const std::string& chain, std::size_t factor) {
    oracle::Posterior posterior(graph_, tensors(), semiring_, lengths_);
    const DimId d = *graph_.find(chain);
    std::vector<DimId> axes = posterior.axes({});
    for (const DimId around : oracle::Slices(graph_, {}).around(d)) axes.push_back(around);
    axes.push_back(d);
    return left_out(leave_one_out(plan_, tensors(), chain, run(), {graph_.factors()[factor].name}),
                    posterior.shape(axes), posterior, posterior.without_factors(d, {factor}));
  }

  [[nodiscard]] const std::vector<Tensor>& tensors() const { return operands_->tensors(); }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] RunOptions run() const { return {.semiring = semiring_, .threads = 1, .lengths = lengths_}; }

 private:
  [[nodiscard]] std::vector<DimId> variables() const {
    std::vector<DimId> result;
    for (DimId v = 0; v < graph_.dims().size(); ++v) {
      if (graph_.dims()[v].kind == DimKind::variable && graph_.dims()[v].end == End::none) result.push_back(v);
    }
    return result;
  }
  /// Of the chains that a variable lies in.
  [[nodiscard]] static testing::AssertionResult left_out(const Tensor& got, const Tensor::Shape& shape,
                                                         oracle::Posterior& posterior, const Numbers& without) {
    const Numbers log_z = logarithms(posterior.table({}));
    Numbers want = logarithms(without);
    const std::size_t each = want.size() / log_z.size();
    for (std::size_t k = 0; k < want.size(); ++k) want[k] = log_z[k / each] - want[k];
    return near("leave-one-out", got, shape, want, Numbers(want.size(), 100), {1e-13, 0});
  }

  FactorGraph graph_;
  Lengths lengths_;
  Semiring semiring_;
  Plan plan_;
  std::optional<Operands> operands_;
};

}  // namespace plated::test
