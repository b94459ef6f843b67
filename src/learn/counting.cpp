// Plans a model, with states for missing cells, in log space.
#include "learn/counting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "graph/answer_axes.hpp"
#include "graph/barren.hpp"
#include "graph/derived.hpp"
#include "model/learning.hpp"
#include "model/run_evidence.hpp"
#include "model/sizes.hpp"
#include "tensor/check_entries.hpp"
#include "tensor/compact.hpp"
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

/// A copy of states in as few bytes as so many states and −1 take, in which missing ones are `missing`.
IntegerView narrowed(const IntegerView& states, std::int64_t count, std::int64_t missing) {
  const auto copy = [&]<class T>(T) {
    return tensor::compacted<T>(states, [missing](auto entry) {
      const auto state = static_cast<std::int64_t>(entry);
      return static_cast<T>(state < 0 ? missing : state);
    });
  };
  const auto fits = [&]<class T>(T) { return count <= std::numeric_limits<T>::max(); };
  if (fits(std::int8_t{})) return copy(std::int8_t{});
  if (fits(std::int16_t{})) return copy(std::int16_t{});
  if (fits(std::int32_t{})) return copy(std::int32_t{});
  return copy(std::int64_t{});
}

/// Whether states take four times the bytes that they need, or more: every E-step reads them, so that a copy pays.
bool is_wide(const IntegerView& states, std::int64_t count) {
  const auto bits = static_cast<int>(8 * tensor::visit_integers(states, []<class T>(const T*) { return sizeof(T); }));
  return bits >= 32 && count <= std::int64_t{1} << (bits / 4 - 1);
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

Counting::Counting(const Model& model, std::vector<bool> counted, std::int64_t memory_limit,
                   const std::vector<model::Listed>& lists)
    : counted_(std::move(counted)),
      listed_(model.factors.size(), false),
      padded_(model.factors.size(), false),
      child_(model.factors.size()),
      plan_(planned(prepared(model, lists), model.evidence, memory_limit)) {}

FactorGraph Counting::prepared(const Model& model, const std::vector<model::Listed>& lists) {
  FactorGraph graph = graph::total_graph(model.graph);
  graph::Derived::state_plates(graph, model.graph.variable_plates());
  const std::vector<bool> along_chains = graph::named_along_chains(model.graph);
  for (const DimId variable : graph::variables(model.graph)) {
    const auto holder = own_distribution(model, variable, along_chains);
    if (!holder || !counted_[*holder]) continue;
    const Dim& dim = model.graph.dims()[variable];
    const auto seen = model.evidence.find(dim.name);
    if (seen != model.evidence.end() && tensor::range_of(seen->second).least >= 0) continue;
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
        std::find_if(lists.begin(), lists.end(), [&](const model::Listed& of) { return of.factor() == f; });
    listed_[f] = list != lists.end();
    const Tensor& numbers = listed_[f] ? list->table() : model.factors[f];
    if (counted_[f] && listed_[f]) child_[f] = list->child_axis();
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

Tensor::Shape Counting::without_missing(std::size_t factor, Tensor::Shape shape) const {
  if (padded_[factor]) --shape[*child_[factor]];
  return shape;
}

Tensor Counting::operand(std::size_t factor) const {
  return operand(factor, without_missing(factor, factors_[factor].shape()));
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

Evidence Counting::kept_as_planned(const FactorGraph& sizes, Evidence evidence) const {
  Evidence kept = as_planned(sizes, std::move(evidence));
  for (auto& [name, states] : kept) {
    const std::int64_t count = graph().dims()[*graph().find(name)].size;
    if (is_wide(states, count)) states = narrowed(states, count, -1);
  }
  return kept;
}

Plan Counting::planned(const FactorGraph& graph, const Evidence& evidence, std::int64_t memory_limit) const {
  PlanOptions options{.memory_limit = memory_limit};
  for (const auto& [variable, states] : evidence) options.observable.push_back(variable);
  for (const auto& [variable, state] : missing_state_) {
    if (!evidence.contains(variable)) options.observable.push_back(variable);
  }
  return compile(graph, options);
}

}  // namespace plated::learn
