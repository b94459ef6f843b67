// Checks operands and turns evidence into operands.
#include "api/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "adjoint/questions.hpp"
#include "api/chained.hpp"
#include "base/checked_size.hpp"
#include "engine/check_answers.hpp"
#include "engine/check_operands.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"
#include "semiring/dispatch.hpp"
#include "tensor/check_entries.hpp"

namespace plated::api {
namespace {

std::int64_t most_checked(Check check) {
  switch (check) {
    case Check::none:
      return -1;
    case Check::small:
      return 65536;
    case Check::all:
      break;
  }
  return std::numeric_limits<std::int64_t>::max();
}

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

/// Operands of at most `most` elements with the semiring's ones where a ragged chain has no slices.
std::vector<Tensor> without_padding(const PlanImpl& plan, std::vector<Tensor> operands, const RunOptions& options,
                                    Semiring semiring, std::int64_t most) {
  if (!plan.chains) throw UnknownNameError("lengths are given, and the model has no chain");
  for (const auto& [chain, ragged] : ragged_chains(plan, options.lengths)) {
    for (std::size_t f = 0; f < operands.size(); ++f) {
      if (operands[f].elements() > most) continue;
      operands[f] = chain::padded(operands[f], plan.observed.factors()[f].dims, chain, 0, ragged, semiring);
    }
  }
  return operands;
}

/// Copies of the operands that hold their logarithms, in double: a rounded logarithm would count once for each slice.
void take_logarithms(std::vector<Tensor>& operands) {
  for (std::size_t k = 0; k < operands.size(); ++k) {
    std::vector<double> values = operands[k].values();
    for (double& x : values) {
      if (x < 0) {
        throw ValueError("operand " + std::to_string(k) + " has a negative entry, and a posterior needs weights");
      }
      x = std::log(x);
    }
    operands[k] = Tensor::of(operands[k].shape(), values);
  }
}

std::int64_t bytes_of(std::span<const Tensor> tensors) {
  std::int64_t bytes = 0;
  for (const Tensor& t : tensors) {
    bytes =
        base::checked_sum(bytes, base::checked_product(t.elements(), static_cast<std::int64_t>(size_of(t.dtype()))));
  }
  return bytes;
}

}  // namespace

Tensor constant(double value, Dtype dtype, const std::vector<std::int64_t>& shape) {
  const Tensor one = dtype == Dtype::float32 ? Tensor::scalar(static_cast<float>(value)) : Tensor::scalar(value);
  return one.broadcast(shape);
}

void check_inputs(const PlanImpl& plan, std::span<const Tensor> operands, const RunOptions& options) {
  engine::check_shapes(plan.graph, operands);
  const std::int64_t most = most_checked(options.check);
  if (options.lengths.empty()) {
    engine::check_values(plan.graph, operands, options.semiring, most);
  } else {
    engine::check_values(plan.graph,
                         without_padding(plan, {operands.begin(), operands.end()}, options, options.semiring, most),
                         options.semiring, most);
  }
  check_evidence(plan, options.evidence);
}

std::vector<Tensor> inputs(const PlanImpl& plan, std::span<const Tensor> operands, const RunOptions& options) {
  check_inputs(plan, operands, options);
  return with_evidence(plan, operands, options);
}

std::vector<Tensor> with_evidence(const PlanImpl& plan, std::span<const Tensor> operands, const RunOptions& options) {
  std::vector<Tensor> all;
  all.assign(operands.begin(), operands.end());
  const Dtype dtype = engine::element_dtype(operands);
  for (const DimId v : plan.observable) all.push_back(indicator(plan, v, options.evidence, options.semiring, dtype));
  return all;
}

std::vector<Tensor> log_inputs(const PlanImpl& plan, std::span<const Tensor> operands, const RunOptions& options) {
  if (options.semiring == Semiring::log) return inputs(plan, operands, options);
  if (options.semiring != Semiring::real) {
    throw OptionError("a posterior is asked for in the " + std::string(name(options.semiring)) +
                      " semiring: only log and real have one");
  }
  std::vector<Tensor> all = inputs(plan, operands, options);
  std::int64_t needed = 0;
  for (const Tensor& t : all) needed = base::checked_sum(needed, base::checked_product(t.elements(), sizeof(double)));
  if (options.memory_limit > 0 && needed > options.memory_limit) {
    throw MemoryLimitError("the logarithms of the operands need " + std::to_string(needed) +
                               " bytes, and the limit is " + std::to_string(options.memory_limit),
                           needed, options.memory_limit);
  }
  if (!options.lengths.empty()) {
    all = without_padding(plan, std::move(all), options, Semiring::real, std::numeric_limits<std::int64_t>::max());
  }
  try {
    take_logarithms(all);
  } catch (const std::bad_alloc&) {
    throw MemoryLimitError(
        "the logarithms of the operands need " + std::to_string(needed) + " bytes, which the machine refused", needed,
        options.memory_limit);
  }
  return all;
}

engine::Settings log_settings(const RunOptions& options, std::span<const Tensor> inputs) {
  engine::Settings settings = settings_of(options);
  settings.semiring = Semiring::log;
  if (options.semiring == Semiring::real) settings.output_bytes = bytes_of(inputs);
  return settings;
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
    throw ValueError("the total" + (where.empty() ? "" : " at " + where) + " is " + std::to_string(*found) +
                     engine::no_numbers);
  }
  const bool underflows = semiring == Semiring::max_product;
  throw ImpossibleError("no assignment has a weight" + (where.empty() ? "" : " at " + where) +
                        (underflows ? ", or none that a double can hold: ask in log space"
                                    : ": the model and its evidence contradict each other"));
}

}  // namespace plated::api
