// Plans a model with its data, and counts: the gradient of ln Z by the logarithms of its factors.
#include "learn/counting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "graph/answer_axes.hpp"
#include "graph/barren.hpp"
#include "graph/derived.hpp"
#include "model/learning.hpp"
#include "model/run_evidence.hpp"
#include "model/sizes.hpp"
#include "plated/gradient.hpp"

namespace plated::learn {
namespace {

/// Row-major doubles of a tensor, with one more state along an axis where wanted, of weight one.
Tensor as_logs(const Tensor& numbers, Space space, std::optional<std::size_t> padded_axis) {
  Tensor::Shape shape = numbers.shape();
  std::int64_t inner = 1;
  for (std::size_t a = padded_axis.value_or(0) + 1; padded_axis && a < shape.size(); ++a) inner *= shape[a];
  const std::int64_t row = padded_axis ? shape[*padded_axis] * inner : numbers.elements();
  if (padded_axis) ++shape[*padded_axis];
  Tensor result(Dtype::float64, shape);
  auto* to = static_cast<double*>(result.mutable_data());
  std::int64_t copied = 0;
  for (const double value : numbers.values()) {
    *to++ = space == Space::log ? value : std::log(value);
    if (++copied % row == 0 && padded_axis) to += inner;
  }
  return result;
}

template <class T>
IntegerView as_type(const Integers& states) {
  const auto kept = std::make_shared<const std::vector<T>>(states.values.begin(), states.values.end());
  return IntegerView::view(kept->data(), states.shape).keeping(kept);
}

/// In as few bytes as so many states and −1 take: every E-step reads them.
IntegerView narrowed(Integers states, std::int64_t count) {
  const auto fits = [&]<class T>(T) { return count <= std::numeric_limits<T>::max(); };
  if (states.values.empty()) return states;
  if (fits(std::int8_t{})) return as_type<std::int8_t>(states);
  if (fits(std::int16_t{})) return as_type<std::int16_t>(states);
  if (fits(std::int32_t{})) return as_type<std::int32_t>(states);
  return states;
}

double total_of(const Tensor& batches) {
  const auto* const values = static_cast<const double*>(batches.data());
  return std::accumulate(values, values + batches.elements(), 0.0);
}

/// The one factor that holds a variable, if it is its distribution in the same plates.
std::optional<std::size_t> own_distribution(const Model& model, DimId variable, const std::vector<bool>& along_chains) {
  if (!along_chains.empty() && along_chains[variable]) return std::nullopt;
  std::optional<std::size_t> holder;
  for (std::size_t f = 0; f < model.graph.factors().size(); ++f) {
    const std::vector<DimId>& dims = model.graph.factors()[f].dims;
    const auto times = std::count(dims.begin(), dims.end(), variable);
    if (times > 1 || (times == 1 && holder)) return std::nullopt;
    if (times == 1) holder = f;
  }
  if (!holder || model.graph.factors()[*holder].distribution_of != variable) return std::nullopt;
  return model.graph.factor_plates(*holder) == model.graph.variable_plates()[variable] ? holder : std::nullopt;
}

}  // namespace

Counting::Counting(const Model& model, const Weights& weights, std::vector<bool> counted, std::int64_t memory_limit,
                   Missing missing)
    : missing_(missing),
      counted_(std::move(counted)),
      padded_(model.factors.size(), false),
      evidence_(model.evidence),
      run_({.semiring = Semiring::log, .memory_limit = memory_limit, .lengths = model.lengths, .weights = weights}),
      plan_(planned(prepared(model), evidence_, memory_limit)) {
  for (auto& [name, states] : evidence_) {
    const std::int64_t count = graph().dims()[*graph().find(name)].size;
    run_.evidence.emplace(name, narrowed(std::exchange(states, Integers()), count));
  }
}

FactorGraph Counting::prepared(const Model& model) {
  FactorGraph graph = graph::total_graph(model.graph);
  graph::Derived::state_plates(graph, model.graph.variable_plates());
  const std::vector<bool> along_chains = graph::named_along_chains(model.graph);
  for (const DimId variable : graph::variables(model.graph)) {
    const auto holder = own_distribution(model, variable, along_chains);
    if (!holder || !counted_[*holder]) continue;
    const Dim& dim = model.graph.dims()[variable];
    const auto [seen, latent] = evidence_.try_emplace(
        dim.name, model::sizes_of(model.graph, model.graph.variable_plates()[variable], false), -1);
    std::vector<std::int64_t>& states = seen->second.values;
    const bool has_missing = latent || std::find(states.begin(), states.end(), -1) != states.end();
    if (!has_missing && missing_ == Missing::known) continue;
    padded_[*holder] = true;
    missing_state_.emplace(dim.name, dim.size);
    graph::Derived::resize_variable(graph, variable, dim.size + 1);
    std::replace(states.begin(), states.end(), std::int64_t{-1}, dim.size);
  }
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    Factor factor = graph.factors()[f];
    // Tables are distributions by construction, and those with a further state are none.
    if (counted_[f] || padded_[f]) factor.distribution_of.reset();
    graph::Derived::put_factor(graph, f, std::move(factor));
    const auto axis = padded_[f] ? std::optional(model::child_axis(model, f)) : std::nullopt;
    factors_.push_back(as_logs(model.factors[f], model.space, axis));
  }
  evidence_ = model::run_evidence(graph, evidence_);
  return graph;
}

IntegersByName Counting::as_planned(const FactorGraph& sizes, Evidence evidence) const {
  for (const auto& [name, state] : missing_state_) {
    const auto seen =
        evidence.try_emplace(name, model::sizes_of(sizes, sizes.variable_plates()[*sizes.find(name)], false), state);
    std::vector<std::int64_t>& states = seen.first->second.values;
    std::replace(states.begin(), states.end(), std::int64_t{-1}, state);
  }
  return model::run_evidence(sizes, evidence);
}

Plan Counting::planned(const FactorGraph& graph, const Evidence& evidence, std::int64_t memory_limit) {
  PlanOptions options{.memory_limit = memory_limit};
  for (const auto& [variable, states] : evidence) options.observable.push_back(variable);
  return compile(graph, options);
}

Counts::Counts(const Counting& counting, int threads, std::function<bool()> cancelled,
               std::function<void(double)> progress)
    : counting_(counting),
      factors_(counting.factors_),
      run_(counting.run_),
      logs_(factors_.size(), nullptr),
      counts_(factors_.size(), nullptr) {
  run_.threads = threads;
  run_.cancelled = std::move(cancelled);
  run_.progress = std::move(progress);
  places_.gradients.resize(factors_.size());
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    if (!counting.counted_[f]) continue;
    factors_[f] = Tensor::of(factors_[f].shape(), factors_[f].values());  // its own copy, which M-steps change
    places_.gradients[f] = Tensor(Dtype::float64, factors_[f].shape());
    logs_[f] = static_cast<double*>(factors_[f].mutable_data());
    counts_[f] = static_cast<const double*>(places_.gradients[f].data());
  }
}

double Counts::count() {
  if (!gradient_) gradient_.emplace(counting_.plan_, factors_, run_, places_);
  try {
    gradient_->ask(factors_, found_);
  } catch (...) {
    gradient_.reset();
    throw;
  }
  return total_of(found_.values[0]);
}

double Counts::log_total() const { return total_of(counting_.plan_.run(factors_, run_)[0]); }

void Counts::clear_direction() {
  if (direction_.empty()) {
    for (const Tensor& factor : factors_) direction_.emplace_back(Dtype::float64, factor.shape());
    return;
  }
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    if (counting_.counted_[f]) std::fill_n(direction(f), direction_[f].elements(), 0.0);
  }
}

double* Counts::direction(std::size_t factor) const { return static_cast<double*>(direction_[factor].mutable_data()); }

const std::vector<Tensor>& Counts::curve() {
  if (!curving_) curving_.emplace(counting_.plan_);
  hessian_vector_product_into(curved_, counting_.plan_, factors_, direction_, *curving_, run_);
  return curved_.products;
}

Tensor Counts::counts_of(std::size_t factor, std::size_t child_axis) const {
  const Tensor& all = places_.gradients[factor];
  if (!counting_.padded_[factor]) return all;
  Tensor::Shape shape = all.shape();
  --shape[child_axis];
  const Tensor kept = Tensor::view(counts_[factor], shape, all.strides());
  return Tensor::of(shape, kept.values());
}

}  // namespace plated::learn
