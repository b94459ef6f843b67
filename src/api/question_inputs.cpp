// Takes logarithms, recentres, and puts back what was subtracted.
#include "api/question_inputs.hpp"

#include <algorithm>
#include <new>

#include "api/erase.hpp"
#include "api/inputs.hpp"
#include "base/checked_size.hpp"
#include "engine/logarithms.hpp"
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

/// Fills `reduced` and `offsets` where magnitudes are large.
void recentre(const Call& call, const std::vector<double>& magnitudes, Semiring semiring, Inputs& inputs) {
  const FactorGraph& graph = call.plan.observed;
  for (std::size_t f = 0; f < magnitudes.size() && f < call.graph.factors().size(); ++f) {
    const auto offsets_of = [&](const Tensor& operand) {
      return engine::large_offsets(graph, call.extents(), f, operand, magnitudes[f], semiring, call.threads());
    };
    Tensor operand = inputs.given[f];
    std::optional<engine::Offsets> offsets = offsets_of(operand);
    if (offsets && !call.options.lengths.empty()) {
      // What is large may lie in slices that do not exist.
      operand = without_padding(graph.factors()[f].dims, operand, call.lengths(), semiring);
      offsets = offsets_of(operand);
    }
    if (!offsets) continue;
    if (inputs.reduced.empty()) {
      inputs.reduced = inputs.given;
      inputs.offsets.resize(call.graph.factors().size());
    }
    inputs.copied = base::checked_sum(inputs.copied, engine::recentred_bytes(graph, f, operand));
    within_limit("copies", inputs.copied, call.options.memory_limit,
                 [&] { inputs.reduced[f] = engine::recentred(graph, f, operand, *offsets, call.threads()); });
    inputs.offsets[f] = std::move(offsets);
  }
}

/// The lengths of those chains that are among the dims, for each index of these dims.
chain::RaggedChains lengths_over(const Call& call, const std::vector<DimId>& dims) {
  chain::RaggedChains result;
  for (const auto& [chain, ragged] : call.lengths()) {
    if (!chain::holds(dims, chain)) continue;
    std::vector<DimId> kept;
    for (const DimId d : ragged.dims) {
      if (chain::holds(dims, d)) kept.push_back(d);
    }
    result[chain] = ragged.over(kept, call.shape(kept));
  }
  return result;
}

}  // namespace

Inputs question_inputs(const Call& call, Semiring semiring) {
  std::vector<double> magnitudes;
  check_inputs(call, semiring, &magnitudes);
  Inputs inputs{.given = with_evidence(call, semiring), .reduced = {}, .offsets = {}, .copied = padding_bytes(call)};
  const bool adds = semiring == Semiring::log || semiring == Semiring::max_plus || semiring == Semiring::min_plus;
  if (!adds) magnitudes.clear();
  recentre(call, magnitudes, semiring, inputs);
  return inputs;
}

Inputs given_inputs(const Call& call, Semiring semiring) {
  check_inputs(call, semiring);
  Inputs inputs{.given = with_evidence(call, semiring), .reduced = {}, .offsets = {}, .copied = padding_bytes(call)};
  return inputs;
}

Inputs log_inputs(const Call& call) {
  const RunOptions& options = call.options;
  if (options.semiring == Semiring::log) return question_inputs(call, Semiring::log);
  if (options.semiring != Semiring::real) {
    throw OptionError("a posterior is asked for in the " + std::string(name(options.semiring)) +
                      " semiring: only log and real have one");
  }
  check_inputs(call, Semiring::real);
  Inputs inputs{.given = with_evidence(call, Semiring::real), .reduced = {}, .offsets = {}};
  const std::span<Tensor> operands(inputs.given.data(), call.plan.observed.factors().size());  // not the exponents
  for (const Tensor& t : operands) {
    inputs.copied = base::checked_sum(inputs.copied, base::checked_product(t.elements(), sizeof(double)));
  }
  std::vector<double> magnitudes;
  within_limit("the logarithms", inputs.copied, options.memory_limit, [&] {
    for (std::size_t f = 0; f < operands.size(); ++f) {
      const Tensor weights =
          without_padding(call.plan.observed.factors()[f].dims, operands[f], call.lengths(), Semiring::real);
      engine::Logarithms taken = engine::logarithms(weights, "operand " + std::to_string(f));
      operands[f] = std::move(taken.tensor);
      magnitudes.push_back(taken.magnitude);
    }
  });
  if (options.check == Check::none) magnitudes.clear();
  recentre(call, magnitudes, Semiring::log, inputs);
  return inputs;
}

void add_offsets(const Call& call, const Inputs& inputs, const std::vector<std::size_t>& factors,
                 const std::vector<DimId>& axes, Tensor& answer) {
  const FactorGraph& graph = call.graph;
  auto* const values = static_cast<double*>(answer.mutable_data());
  std::vector<std::int64_t> stride(graph.dims().size(), 0);
  for (std::size_t axis = 0; axis < axes.size(); ++axis) stride[axes[axis]] = answer.strides()[axis];
  for (const std::size_t f : factors) {
    if (inputs.offsets.empty() || !inputs.offsets[f]) continue;
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
    const chain::RaggedChains own = lengths_over(call, loops);
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
    // How many copies of the factor a slice stands for.
    const std::vector<double> copies =
        call.exponents().empty() ? std::vector<double>{} : product_over(call, call.exponents(), loops);
    std::size_t slice = 0;
    for (bool more = base::checked_product(call.shape(loops)) > 0; more; ++slice) {
      std::int64_t source = 0;
      std::int64_t target = 0;
      for (const DimId d : loops) {
        source += at[d] * from[d];
        target += at[d] * stride[d];
      }
      const double count = copies.empty() ? 1.0 : copies[slice];
      if (exists() && count != 0) values[target] += count * offset[source];
      more = false;
      for (std::size_t k = loops.size(); k-- > 0 && !more;) {
        more = ++at[loops[k]] < call.extents()[loops[k]];
        if (!more) at[loops[k]] = 0;
      }
    }
  }
}

}  // namespace plated::api
