// Checks operands and turns evidence into operands.
#include "api/inputs.hpp"

#include <algorithm>

#include "adjoint/questions.hpp"
#include "api/chained.hpp"
#include "base/checked_size.hpp"
#include "engine/check_answers.hpp"
#include "engine/check_operands.hpp"
#include "engine/inspect.hpp"
#include "engine/thread_pool.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"
#include "semiring/dispatch.hpp"
#include "tensor/check_entries.hpp"

namespace plated::api {
namespace {

struct Units {
  double zero;
  double one;
};
Units units(Semiring semiring) {
  return semiring::dispatch(semiring, [](auto ring) {
    using Ring = decltype(ring);
    return Units{Ring::zero(), Ring::one()};
  });
}

using graph::quoted;

void check_evidence(const PlanImpl& plan, const Evidence& evidence) {
  for (const auto& [name, values] : evidence) {
    const auto v = plan.graph.find(name);
    if (!v || plan.graph.dims()[*v].kind != DimKind::variable) {
      throw UnknownNameError("evidence is given for " + quoted(name) + ", and the model has no such variable");
    }
    if (std::find(plan.observable.begin(), plan.observable.end(), *v) == plan.observable.end()) {
      throw OptionError("evidence is given for " + quoted(name) +
                        ", which the plan was not compiled to observe: name " + "it in PlanOptions::observable");
    }
  }
}

/// Ones where a state agrees with what was observed.
Tensor indicator(const PlanImpl& plan, DimId v, const Evidence& evidence, Semiring semiring, Dtype dtype) {
  const FactorGraph& graph = plan.graph;
  std::vector<std::int64_t> with_batch = sizes(graph, plan.axes(v, false));
  const std::size_t batch = adjoint::batch_axes(graph).size();
  const std::vector<std::int64_t> plates(with_batch.begin() + static_cast<std::ptrdiff_t>(batch), with_batch.end());
  const std::int64_t states = graph.dims()[v].size;
  std::vector<std::int64_t> shape = with_batch;
  shape.push_back(states);
  const auto found = evidence.find(graph.dims()[v].name);
  if (found == evidence.end()) return constant(units(semiring).one, dtype, shape);

  const Integers& observed = found->second;
  const std::string name = quoted(graph.dims()[v].name);
  if (observed.shape != with_batch && observed.shape != plates) {
    throw ShapeError("the evidence for " + name + " has the shape " + engine::shape_text(observed.shape) +
                     ", but its plates have " + engine::shape_text(plates) +
                     (batch > 0 ? ", or with batch dims " + engine::shape_text(with_batch) : ""));
  }
  const std::int64_t slices = base::checked_product(observed.shape);
  if (static_cast<std::int64_t>(observed.values.size()) != slices) {
    throw ShapeError("the evidence for " + name + " has " + std::to_string(observed.values.size()) +
                     " values, but its shape " + engine::shape_text(observed.shape) + " has " + std::to_string(slices));
  }
  tensor::check_states(observed, graph.dims()[v].name, states);
  const bool shared = observed.shape != with_batch;
  Tensor table(dtype, shared ? [&] {
    std::vector<std::int64_t> unbatched = plates;
    unbatched.push_back(states);
    return unbatched;
  }() : shape);
  const Units unit = units(semiring);
  for (std::size_t k = 0; k < observed.values.size(); ++k) {
    const std::int64_t value = observed.values[k];
    for (std::int64_t s = 0; s < states; ++s) {
      const double entry = value == -1 || value == s ? unit.one : unit.zero;
      const auto at = static_cast<std::int64_t>(k) * states + s;
      if (dtype == Dtype::float32) {
        static_cast<float*>(table.mutable_data())[at] = static_cast<float>(entry);
      } else {
        static_cast<double*>(table.mutable_data())[at] = entry;
      }
    }
  }
  return shared
             ? table.broadcast(std::vector(with_batch.begin(), with_batch.begin() + static_cast<std::ptrdiff_t>(batch)))
             : table;
}

/// Checks one operand and returns its magnitude; slices that a ragged chain does not have may hold anything.
double check_operand(const PlanImpl& plan, std::size_t f, const Tensor& operand, const RunOptions& options,
                     const chain::RaggedChains& lengths, int threads) {
  const Factor& factor = plan.graph.factors()[f];
  const bool has_padding = std::any_of(lengths.begin(), lengths.end(),
                                       [&](const auto& ragged) { return chain::holds(factor.dims, ragged.first); });
  engine::Inspection seen = engine::inspect(operand, options.semiring, threads);
  if (!seen.admitted) {
    const Tensor existing = without_padding(factor.dims, operand, lengths, options.semiring);
    if (has_padding) seen = engine::inspect(existing, options.semiring, threads);
    if (!seen.admitted) engine::refuse_values(plan.graph, f, existing, options.semiring);
  }
  const bool sums = options.semiring == Semiring::log || options.semiring == Semiring::real;
  if (sums && factor.distribution_of && !factor.trusted) {
    Tensor absent;
    if (has_padding) {
      const Tensor zeros = constant(0.0, Dtype::float64, operand.shape());
      absent = without_padding(factor.dims, zeros, lengths, Semiring::real);
    }
    engine::check_distribution(plan.graph, f, operand, options.semiring, absent, threads);
  }
  return seen.magnitude;
}

}  // namespace

Tensor constant(double value, Dtype dtype, const std::vector<std::int64_t>& shape) {
  const Tensor one = dtype == Dtype::float32 ? Tensor::scalar(static_cast<float>(value)) : Tensor::scalar(value);
  return one.broadcast(shape);
}

Tensor without_padding(const std::vector<DimId>& dims, const Tensor& operand, const chain::RaggedChains& lengths,
                       Semiring semiring) {
  Tensor result = operand;
  for (const auto& [chain, ragged] : lengths) result = chain::padded(result, dims, chain, 0, ragged, semiring);
  return result;
}

void check_inputs(const PlanImpl& plan, std::span<const Tensor> operands, const RunOptions& options,
                  std::vector<double>* magnitudes) {
  engine::check_shapes(plan.graph, operands);
  if (!options.lengths.empty() && !plan.chains) throw UnknownNameError("lengths are given, and the model has no chain");
  if (options.check == Check::all) {
    const chain::RaggedChains lengths = ragged_chains(plan, options.lengths);
    const int threads = options.threads == 0 ? engine::hardware_threads() : options.threads;
    for (std::size_t f = 0; f < operands.size(); ++f) {
      const double magnitude = check_operand(plan, f, operands[f], options, lengths, threads);
      if (magnitudes != nullptr) magnitudes->push_back(magnitude);
    }
  }
  check_evidence(plan, options.evidence);
}

void check_results(std::span<const Tensor> results, const char* what, Semiring semiring, const RunOptions& options) {
  if (options.check == Check::none) return;
  engine::check_results(results, what, semiring, options.threads == 0 ? engine::hardware_threads() : options.threads);
}

std::vector<Tensor> with_evidence(const PlanImpl& plan, std::span<const Tensor> operands, const RunOptions& options) {
  std::vector<Tensor> all;
  all.assign(operands.begin(), operands.end());
  const Dtype dtype = engine::element_dtype(operands);
  for (const DimId v : plan.observable) all.push_back(indicator(plan, v, options.evidence, options.semiring, dtype));
  return all;
}

Semiring selective(Semiring semiring) {
  switch (semiring) {
    case Semiring::log:
      return Semiring::max_plus;
    case Semiring::real:
      return Semiring::max_product;
    case Semiring::boolean:
      throw OptionError("the boolean semiring has no best assignment");
    default:
      return semiring;
  }
}

void check_possible(const FactorGraph& graph, const Tensor& total, Semiring semiring) {
  const std::vector<double> values = total.values();
  const double zero = units(semiring).zero;
  const auto found =
      std::find_if(values.begin(), values.end(), [&](double x) { return x == zero || !std::isfinite(x); });
  if (found == values.end()) return;
  std::string where;
  std::int64_t rest = found - values.begin();
  const std::vector<DimId> axes = adjoint::batch_axes(graph);
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    const Dim& dim = graph.dims()[axes[axis]];
    std::string place = dim.name + " = " + std::to_string(rest % dim.size);
    if (!where.empty()) place += ", " + where;
    where = std::move(place);
    rest /= dim.size;
  }
  if (*found != zero) {
    throw ValueError("the total" + (where.empty() ? "" : " at " + where) + " is " +
                     (std::isnan(*found) ? "NaN" : std::to_string(*found)) + engine::no_numbers);
  }
  const bool underflows = semiring == Semiring::max_product;
  throw ImpossibleError("no assignment has a weight" + (where.empty() ? "" : " at " + where) +
                        (underflows ? ", or none that a double can hold: ask in log space"
                                    : ": the model and its evidence contradict each other"));
}

}  // namespace plated::api
