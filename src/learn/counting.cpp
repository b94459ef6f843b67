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
#include "tensor/check_entries.hpp"
#include "tensor/taken.hpp"
#include "tensor/visit_integers.hpp"

namespace plated::learn {
namespace {

/// Zeros of a shape, stored with one axis before all others.
Tensor zeros_with_first(std::size_t axis, const Tensor::Shape& shape) {
  Tensor::Shape stored = shape;
  const auto at = static_cast<std::ptrdiff_t>(axis);
  std::rotate(stored.begin(), stored.begin() + at, stored.begin() + at + 1);
  Tensor::Shape strides = Tensor::row_major(stored);
  std::rotate(strides.begin(), strides.begin() + 1, strides.begin() + at + 1);
  const Tensor storage(Dtype::float64, stored);
  const auto kept = std::make_shared<Tensor>(storage);
  return Tensor::view(static_cast<double*>(storage.mutable_data()), shape, strides).keeping(kept);
}

/// Puts row-major numbers where a tensor has them that is stored with an axis before all others.
void put_with_first(std::size_t axis, const Tensor::Shape& shape, const std::vector<double>& numbers, double* to) {
  std::size_t inner = 1;
  for (std::size_t a = axis + 1; a < shape.size(); ++a) inner *= static_cast<std::size_t>(shape[a]);
  const std::size_t row = static_cast<std::size_t>(shape[axis]) * inner;
  const std::size_t rest = numbers.size() / static_cast<std::size_t>(shape[axis]);
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    to[k % row / inner * rest + k / row * inner + k % inner] = numbers[k];
  }
}

/// A copy of states of another type, in which missing ones are `missing`.
template <class T>
IntegerView as_type(const IntegerView& states, std::int64_t missing) {
  const auto kept = std::make_shared<std::vector<T>>(std::max<std::size_t>(1, states.size()));
  const auto put = [&](const auto& entries) {
    for (std::size_t k = 0; k < states.size(); ++k) {
      const auto state = static_cast<std::int64_t>(entries[k]);
      (*kept)[k] = static_cast<T>(state < 0 ? missing : state);
    }
  };
  if (states.is_row_major()) {
    tensor::visit_integers(states, put);
  } else {
    put(states);
  }
  return IntegerView::view(kept->data(), states.shape()).keeping(kept);
}

/// The same in as few bytes as so many states and −1 take.
IntegerView narrowed(const IntegerView& states, std::int64_t count, std::int64_t missing) {
  const auto fits = [&]<class T>(T) { return count <= std::numeric_limits<T>::max(); };
  if (fits(std::int8_t{})) return as_type<std::int8_t>(states, missing);
  if (fits(std::int16_t{})) return as_type<std::int16_t>(states, missing);
  if (fits(std::int32_t{})) return as_type<std::int32_t>(states, missing);
  return as_type<std::int64_t>(states, missing);
}

/// Whether states take four times the bytes that they need, or more: every E-step reads them, so that a copy pays.
bool is_wide(const IntegerView& states, std::int64_t count) {
  const auto bits = static_cast<int>(8 * tensor::visit_integers(states, []<class T>(const T*) { return sizeof(T); }));
  return bits >= 32 && count <= std::int64_t{1} << (bits / 4 - 1);
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

Counting::Counting(Model model, const Weights& weights, std::vector<bool> counted, std::int64_t memory_limit,
                   std::vector<model::Listed> lists, Missing missing)
    : missing_(missing),
      counted_(std::move(counted)),
      padded_(model.factors.size(), false),
      child_(model.factors.size()),
      lists_(std::move(lists)),
      evidence_(std::move(model.evidence)),
      run_({.semiring = Semiring::log, .memory_limit = memory_limit, .lengths = model.lengths, .weights = weights}),
      plan_(planned(prepared(model), evidence_, memory_limit)) {
  for (auto& [name, states] : evidence_) {
    const std::int64_t count = graph().dims()[*graph().find(name)].size;
    if (is_wide(states, count)) states = narrowed(states, count, -1);
  }
  run_.evidence = std::move(evidence_);
}

FactorGraph Counting::prepared(const Model& model) {
  FactorGraph graph = graph::total_graph(model.graph);
  graph::Derived::state_plates(graph, model.graph.variable_plates());
  const std::vector<bool> along_chains = graph::named_along_chains(model.graph);
  for (const DimId variable : graph::variables(model.graph)) {
    const auto holder = own_distribution(model, variable, along_chains);
    if (!holder || !counted_[*holder]) continue;
    const Dim& dim = model.graph.dims()[variable];
    const auto seen = evidence_.find(dim.name);
    const bool has_missing = seen == evidence_.end() || tensor::range_of(seen->second).least < 0;
    if (!has_missing && missing_ == Missing::known) continue;
    padded_[*holder] = true;
    missing_state_.emplace(dim.name, dim.size);
    graph::Derived::resize_variable(graph, variable, dim.size + 1);
  }
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    Factor factor = graph.factors()[f];
    // Tables are distributions by construction, and those with a further state are none.
    if (counted_[f] || padded_[f]) factor.distribution_of.reset();
    graph::Derived::put_factor(graph, f, std::move(factor));
    const auto list =
        std::find_if(lists_.begin(), lists_.end(), [&](const model::Listed& of) { return of.factor() == f; });
    const Tensor& numbers = list == lists_.end() ? model.factors[f] : list->table();
    if (counted_[f] && list != lists_.end()) child_[f] = list->child_axis();
    if (counted_[f] && !model.children[f].empty()) child_[f] = model::child_axis(model, f);
    if (!child_[f] && model.space == Space::log && numbers.dtype() == Dtype::float64) {
      factors_.push_back(numbers);
      continue;
    }
    factors_.push_back(operand(f, numbers.shape()));
    std::vector<double> logs = numbers.values();
    if (model.space == Space::real) {
      std::transform(logs.begin(), logs.end(), logs.begin(), [](double x) { return std::log(x); });
    }
    put(f, numbers.shape(), logs, static_cast<double*>(factors_[f].mutable_data()));
  }
  evidence_ = as_planned(model.graph, std::move(evidence_));
  return graph;
}

Tensor Counting::operand(std::size_t factor, Tensor::Shape shape) const {
  if (!child_[factor]) return {Dtype::float64, std::move(shape)};
  if (padded_[factor]) ++shape[*child_[factor]];
  return zeros_with_first(*child_[factor], shape);
}

void Counting::put(std::size_t factor, const Tensor::Shape& shape, const std::vector<double>& numbers,
                   double* to) const {
  if (child_[factor] && !numbers.empty()) return put_with_first(*child_[factor], shape, numbers, to);
  std::copy(numbers.begin(), numbers.end(), to);
}

Tensor Counting::operand(std::size_t factor) const {
  Tensor::Shape shape = factors_[factor].shape();
  if (padded_[factor]) --shape[*child_[factor]];
  return operand(factor, std::move(shape));
}

Tensor Counting::start(std::size_t factor) const {
  if (!child_[factor]) {
    const Tensor& numbers = factors_[factor];
    Tensor copy = Tensor::uninitialised(Dtype::float64, numbers.shape());
    auto* const entries = static_cast<double*>(copy.mutable_data());
    if (numbers.strides() == Tensor::Shape(numbers.rank(), 0) && numbers.elements() > 0) {
      std::fill_n(entries, numbers.elements(), *static_cast<const double*>(numbers.data()));
    } else {
      const std::vector<double> values = numbers.values();
      std::copy(values.begin(), values.end(), entries);
    }
    return copy;
  }
  Tensor result = operand(factor);
  put(factor, result.shape(), factors_[factor].values(), static_cast<double*>(result.mutable_data()));
  return result;
}

Evidence Counting::as_planned(const FactorGraph& sizes, Evidence evidence) const {
  for (const auto& [name, missing] : missing_state_) {
    const auto seen = evidence.find(name);
    evidence.insert_or_assign(
        name, seen == evidence.end()
                  ? tensor::repeated(missing, model::sizes_of(sizes, sizes.variable_plates()[*sizes.find(name)], false))
                  : narrowed(seen->second, missing, missing));
  }
  return model::run_evidence(sizes, std::move(evidence));
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
      counts_(factors_.size(), nullptr),
      lists_(counting.lists_, threads) {
  run_.threads = threads;
  run_.cancelled = std::move(cancelled);
  run_.progress = std::move(progress);
  places_.gradients.resize(factors_.size());
  found_counts_.resize(factors_.size());
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    if (!counting.counted_[f]) continue;
    factors_[f] = counting.start(f);
    found_counts_[f] = places_.gradients[f] = counting.operand(f);
    logs_[f] = static_cast<double*>(factors_[f].mutable_data());
    counts_[f] = static_cast<const double*>(found_counts_[f].data());
  }
  operands_ = factors_;
  for (const model::Listed& list : counting.lists_) {
    const std::size_t f = list.factor();
    operands_[f] = Tensor(Dtype::float64, list.shape());
    if (counting.counted_[f]) places_.gradients[f] = Tensor(Dtype::float64, list.shape());
  }
  lists_.spread(factors_, operands_, std::vector<bool>(factors_.size(), true));
}

double Counts::count() {
  lists_.spread(factors_, operands_, counting_.counted_);
  if (!gradient_) gradient_.emplace(counting_.plan_, operands_, run_, places_);
  try {
    gradient_->ask(operands_, found_);
  } catch (...) {
    gradient_.reset();
    throw;
  }
  lists_.collect(places_.gradients, found_counts_, counting_.counted_);
  return total_of(found_.values[0]);
}

double Counts::log_total() const {
  lists_.spread(factors_, operands_, counting_.counted_);
  return total_of(counting_.plan_.run(operands_, run_)[0]);
}

void Counts::clear_direction() {
  if (direction_.empty()) {
    for (std::size_t f = 0; f < factors_.size(); ++f) {
      direction_.push_back(counting_.operand(f));
      curves_.push_back(counting_.operand(f));
    }
    run_direction_ = direction_;
    for (const model::Listed& list : counting_.lists_)
      run_direction_[list.factor()] = Tensor(Dtype::float64, list.shape());
    return;
  }
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    if (counting_.counted_[f]) std::fill_n(direction(f), direction_[f].elements(), 0.0);
  }
}

double* Counts::direction(std::size_t factor) const { return static_cast<double*>(direction_[factor].mutable_data()); }

const std::vector<Tensor>& Counts::curve() {
  if (!curving_) curving_.emplace(counting_.plan_);
  lists_.spread(factors_, operands_, counting_.counted_);
  lists_.spread(direction_, run_direction_, counting_.counted_);
  hessian_vector_product_into(curved_, counting_.plan_, operands_, run_direction_, *curving_, run_);
  lists_.collect(curved_.products, curves_, counting_.counted_);
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    if (counting_.is_listed(f)) continue;
    const Tensor& product = curved_.products[f];
    counting_.put(f, product.shape(), product.values(), static_cast<double*>(curves_[f].mutable_data()));
  }
  return curves_;
}

Tensor Counts::counts_of(std::size_t factor) const {
  const Tensor& all = found_counts_[factor];
  Tensor::Shape shape = all.shape();
  if (counting_.padded_[factor]) --shape[*counting_.child_[factor]];
  const Tensor kept = Tensor::view(counts_[factor], shape, all.strides());
  return Tensor::of(shape, kept.values());
}

}  // namespace plated::learn
