// Takes logarithms, recentres, and puts back what was subtracted.
#include "api/question_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "adjoint/questions.hpp"
#include "api/chained.hpp"
#include "api/inputs.hpp"
#include "base/checked_size.hpp"
#include "base/watch.hpp"
#include "engine/check_operands.hpp"
#include "plated/error.hpp"

namespace plated::api {
namespace {

/// Makes copies of operands unless they are over the limit, whether it is the caller's or the machine's.
template <class Copy>
void within_limit(const char* what, std::int64_t bytes, std::int64_t limit, Copy copy) {
  const std::string needed = std::string(what) + " of the operands need " + std::to_string(bytes) + " bytes, ";
  if (limit > 0 && bytes > limit) {
    throw MemoryLimitError(needed + "and the limit is " + std::to_string(limit), bytes, limit);
  }
  try {
    copy();
  } catch (const std::bad_alloc&) {
    throw MemoryLimitError(needed + "which the machine refused", bytes, limit);
  }
}

// About, in nanoseconds.
constexpr std::int64_t work_of_a_logarithm = 16;

/// Copies of the operands that hold their logarithms, in double: a rounded logarithm would count once for each slice.
/// Returns their magnitudes.
std::vector<double> take_logarithms(std::vector<Tensor>& operands) {
  std::vector<double> magnitudes;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    std::vector<double> values = operands[k].values();
    double magnitude = 0;
    base::Pace pace;
    for (double& x : values) {
      if (pace.stops(work_of_a_logarithm)) base::check_wanted();
      if (x < 0) {
        throw ValueError("operand " + std::to_string(k) + " has a negative entry, and a posterior needs weights");
      }
      x = std::log(x);
      if (std::isfinite(x)) magnitude = std::max(magnitude, std::abs(x));
    }
    operands[k] = Tensor::of(operands[k].shape(), values);
    magnitudes.push_back(magnitude);
  }
  return magnitudes;
}

/// Fills `centred` and `offsets`.
void recentre(const PlanImpl& plan, const std::vector<double>& magnitudes, Semiring semiring, const RunOptions& options,
              Inputs& inputs) {
  const FactorGraph& graph = plan.observed;
  const int threads = settings_of(options).threads;
  inputs.centred = inputs.given;
  inputs.offsets.resize(plan.graph.factors().size());
  for (std::size_t f = 0; f < inputs.offsets.size() && f < magnitudes.size(); ++f) {
    inputs.offsets[f] = engine::large_offsets(graph, f, inputs.given[f], magnitudes[f], semiring, threads);
    if (inputs.offsets[f] && !options.lengths.empty()) {
      // What is large may lie in slices that do not exist.
      inputs.centred[f] =
          without_padding(graph.factors()[f].dims, inputs.given[f], ragged_chains(plan, options.lengths), semiring);
      inputs.offsets[f] = engine::large_offsets(graph, f, inputs.centred[f], magnitudes[f], semiring, threads);
    }
    if (!inputs.offsets[f]) continue;
    inputs.copied = base::checked_sum(inputs.copied, engine::recentred_bytes(graph, f, inputs.centred[f]));
    within_limit("copies", inputs.copied, options.memory_limit, [&] {
      inputs.centred[f] = engine::recentred(graph, f, inputs.centred[f], *inputs.offsets[f], threads);
    });
  }
}

/// The lengths of those chains that are among the dims, for each index of these dims.
chain::RaggedChains lengths_over(const FactorGraph& graph, const std::vector<DimId>& dims,
                                 const chain::RaggedChains& lengths) {
  chain::RaggedChains result;
  for (const auto& [chain, ragged] : lengths) {
    if (!chain::holds(dims, chain)) continue;
    std::vector<DimId> kept;
    for (const DimId d : ragged.dims) {
      if (chain::holds(dims, d)) kept.push_back(d);
    }
    result[chain] = ragged.over(kept, sizes(graph, kept));
  }
  return result;
}

}  // namespace

bool Inputs::recentred() const {
  return std::any_of(offsets.begin(), offsets.end(), [](const auto& list) { return list.has_value(); });
}

Inputs question_inputs(const PlanImpl& plan, std::span<const Tensor> operands, const RunOptions& options) {
  std::vector<double> magnitudes;
  check_inputs(plan, operands, options, &magnitudes);
  Inputs inputs{.given = with_evidence(plan, operands, options), .centred = {}, .offsets = {}};
  const Semiring semiring = options.semiring;
  const bool adds = semiring == Semiring::log || semiring == Semiring::max_plus || semiring == Semiring::min_plus;
  if (!adds) magnitudes.clear();
  recentre(plan, magnitudes, semiring, options, inputs);
  return inputs;
}

Inputs log_inputs(const PlanImpl& plan, std::span<const Tensor> operands, const RunOptions& options) {
  if (options.semiring == Semiring::log) return question_inputs(plan, operands, options);
  if (options.semiring != Semiring::real) {
    throw OptionError("a posterior is asked for in the " + std::string(name(options.semiring)) +
                      " semiring: only log and real have one");
  }
  check_inputs(plan, operands, options);
  Inputs inputs{.given = with_evidence(plan, operands, options), .centred = {}, .offsets = {}};
  for (const Tensor& t : inputs.given) {
    inputs.copied = base::checked_sum(inputs.copied, base::checked_product(t.elements(), sizeof(double)));
  }
  std::vector<double> magnitudes;
  within_limit("the logarithms", inputs.copied, options.memory_limit, [&] {
    const chain::RaggedChains lengths = ragged_chains(plan, options.lengths);
    for (std::size_t f = 0; f < inputs.given.size(); ++f) {
      inputs.given[f] = without_padding(plan.observed.factors()[f].dims, inputs.given[f], lengths, Semiring::real);
    }
    magnitudes = take_logarithms(inputs.given);
  });
  if (options.check == Check::none) magnitudes.clear();
  recentre(plan, magnitudes, Semiring::log, options, inputs);
  return inputs;
}

engine::Settings question_settings(const RunOptions& options, const Inputs& inputs, Semiring semiring) {
  engine::Settings settings = settings_of(options);
  settings.semiring = semiring;
  settings.output_bytes = inputs.copied;
  return settings;
}

std::vector<Tensor> given_outputs(const PlanImpl& plan, const Inputs& inputs, const RunOptions& options,
                                  engine::Settings settings, Dtype dtype) {
  std::vector<Tensor> places = output_shapes(plan.graph, dtype);
  if (!plan.chains) return plan.value->run(std::move(places), inputs.given, settings);
  return chain::outputs(*plan.chains, std::move(places), inputs.given, ChainCall(plan, options, settings));
}

Tensor given_total(const PlanImpl& plan, const Inputs& inputs, const RunOptions& options, engine::Settings settings,
                   Dtype dtype) {
  const Tensor place = shape_only(dtype, sizes(plan.graph, adjoint::batch_axes(plan.graph)));
  std::vector<Tensor> total;
  if (plan.chains) {
    total = chain::outputs(*total_program(plan), {place}, inputs.given, ChainCall(plan, options, settings));
  } else {
    // A score has the bits of einsum; log Z is summed in double.
    const bool keep_sums = settings.semiring == Semiring::log;
    const auto runnable = plan.question(keep_sums ? "log Z alone" : "score alone", [&] {
      planner::Options how = plan.options;
      how.sums_only = false;
      how.keep_sums = keep_sums;
      return planner::plan(adjoint::total_graph(plan.observed), how);
    });
    total = runnable->run({place}, inputs.given, settings);
  }
  check_results(total, "the total, output", settings.semiring, options);
  return total[0];
}

void add_offsets(const PlanImpl& plan, const Inputs& inputs, const std::vector<std::size_t>& factors,
                 const std::vector<DimId>& axes, const chain::RaggedChains& lengths, Tensor& answer) {
  const FactorGraph& graph = plan.graph;
  auto* const values = static_cast<double*>(answer.mutable_data());
  std::vector<std::int64_t> stride(graph.dims().size(), 0);
  for (std::size_t axis = 0; axis < axes.size(); ++axis) stride[axes[axis]] = answer.strides()[axis];
  for (const std::size_t f : factors) {
    if (!inputs.offsets[f]) continue;
    const engine::Offsets& offsets = *inputs.offsets[f];
    const auto* const offset = static_cast<const double*>(offsets.values.data());
    std::vector<std::int64_t> from(graph.dims().size(), 0);
    for (std::size_t axis = 0; axis < offsets.dims.size(); ++axis) {
      from[offsets.dims[axis]] = offsets.values.strides()[axis];
    }
    // Every slice of the unrolled factor, for each index of the answer.
    std::vector<DimId> loops = axes;
    for (const DimId d : graph.factor_plates(f)) {
      if (!chain::holds(loops, d)) loops.push_back(d);
    }
    const chain::RaggedChains own = lengths_over(graph, loops, lengths);
    std::vector<std::int64_t> at(graph.dims().size(), 0);
    const auto exists = [&] {
      return std::all_of(own.begin(), own.end(), [&](const auto& ragged) {
        std::int64_t row = 0;
        for (std::size_t k = 0; k < ragged.second.dims.size(); ++k) {
          row = row * ragged.second.sizes[k] + at[ragged.second.dims[k]];
        }
        return at[ragged.first] < ragged.second.values[static_cast<std::size_t>(row)];
      });
    };
    for (bool more = base::checked_product(sizes(graph, loops)) > 0; more;) {
      std::int64_t source = 0;
      std::int64_t target = 0;
      for (const DimId d : loops) {
        source += at[d] * from[d];
        target += at[d] * stride[d];
      }
      if (exists()) values[target] += offset[source];
      more = false;
      for (std::size_t k = loops.size(); k-- > 0 && !more;) {
        more = ++at[loops[k]] < graph.dims()[loops[k]].size;
        if (!more) at[loops[k]] = 0;
      }
    }
  }
}

}  // namespace plated::api
