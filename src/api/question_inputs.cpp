// Takes logarithms and recentres.
#include "api/question_inputs.hpp"

#include <new>

#include "api/inputs.hpp"
#include "base/checked_size.hpp"
#include "engine/logarithms.hpp"
#include "plated/error.hpp"

namespace plated::api {
namespace {

/// Makes copies of operands unless they are over the limit. Where they are, nothing is copied: the run that reads them
/// is refused, with the bytes of both.
template <class Copy, class Shape>
void within_limit(const char* what, std::int64_t bytes, std::int64_t limit, Copy copy, Shape shape) {
  if (limit > 0 && bytes > limit) return shape();
  try {
    copy();
  } catch (const std::bad_alloc&) {
    throw MemoryLimitError(
        std::string(what) + " of the operands need " + std::to_string(bytes) + " bytes, which the machine refused",
        bytes, limit);
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
      operand = engine::without_padding(graph.factors()[f].dims, operand, call.lengths(), semiring);
      offsets = offsets_of(operand);
    }
    if (!offsets) continue;
    if (inputs.reduced.empty()) {
      inputs.reduced = inputs.given;
      inputs.offsets.resize(call.graph.factors().size());
    }
    inputs.copied = base::checked_sum(inputs.copied, engine::recentred_bytes(graph, f, operand));
    within_limit(
        "copies", inputs.copied, call.options.memory_limit,
        [&] { inputs.reduced[f] = engine::recentred(graph, f, operand, *offsets, call.threads()); },
        [&] { inputs.reduced[f] = shape_only(operand.dtype(), operand.shape()); });
    inputs.offsets[f] = std::move(offsets);
  }
}

}  // namespace

namespace {

/// Puts operands into `given`, in a semiring; evidence, which is there in another one, only where it has changed.
void take_given(const Call& call, Semiring semiring, Semiring of_evidence, Inputs& inputs) {
  if (inputs.given.empty()) {
    inputs.given = with_evidence(call, semiring, inputs.padded);
  } else {
    renew_operands(call, semiring, inputs.padded, inputs.given);
    if (inputs.taken_changes != inputs.changes) renew_evidence(call, of_evidence, inputs.given);
  }
  inputs.taken_changes = inputs.changes;
}

/// Checked operands and evidence, where some may be left to a run.
void take_inputs(const Call& call, Semiring semiring, const LeftToRun* left, Inputs& inputs) {
  inputs.magnitudes.clear();
  inputs.left_to_run = check_inputs(call, semiring, left, &inputs.magnitudes);
  take_given(call, semiring, semiring, inputs);
  inputs.reduced.clear();
  inputs.offsets.clear();
  inputs.copied = padding_bytes(call);
}

}  // namespace

void take_given_inputs(const Call& call, Semiring semiring, Inputs& inputs) {
  take_inputs(call, semiring, nullptr, inputs);
}

void take_question_inputs(const Call& call, Semiring semiring, Look look, Inputs& inputs) {
  const LeftToRun left(call, semiring, true);
  take_inputs(call, semiring, look == Look::by_run ? &left : nullptr, inputs);
  const bool adds = semiring == Semiring::log || semiring == Semiring::max_plus || semiring == Semiring::min_plus;
  if (adds) recentre(call, inputs.magnitudes, semiring, inputs);
}

void take_log_inputs(const Call& call, Look look, Inputs& inputs) {
  const RunOptions& options = call.options;
  if (options.semiring == Semiring::log) return take_question_inputs(call, Semiring::log, look, inputs);
  if (options.semiring != Semiring::real) {
    throw OptionError("a posterior is asked for in the " + std::string(name(options.semiring)) +
                      " semiring: only log and real have one");
  }
  // Evidence, too, is weights at first, and its logarithms are taken once.
  const std::size_t all = call.plan.observed.factors().size();  // not the exponents
  const std::size_t taken = inputs.given.empty() ? all : call.operands.size();
  inputs.left_to_run = check_inputs(call, Semiring::real, nullptr);
  take_given(call, Semiring::real, Semiring::log, inputs);
  inputs.reduced.clear();
  inputs.offsets.clear();
  inputs.copied = 0;
  for (std::size_t f = 0; f < all; ++f) {
    const Tensor& t = inputs.given[f];
    if (!is_floating(t.dtype())) continue;  // observed states
    inputs.copied = base::checked_sum(inputs.copied, base::checked_product(t.elements(), sizeof(double)));
  }
  inputs.magnitudes.clear();
  inputs.logarithms.resize(all);
  within_limit(
      "the logarithms", inputs.copied, options.memory_limit,
      [&] {
        for (std::size_t f = 0; f < taken; ++f) {
          Tensor& operand = inputs.given[f];
          if (!is_floating(operand.dtype())) continue;
          engine::Logarithms logs =
              engine::logarithms(operand, "operand " + std::to_string(f), std::move(inputs.logarithms[f]));
          operand = inputs.logarithms[f] = std::move(logs.tensor);
          inputs.magnitudes.push_back(logs.magnitude);
        }
      },
      [&] {
        for (std::size_t f = 0; f < all; ++f) {
          Tensor& t = inputs.given[f];
          if (is_floating(t.dtype())) t = shape_only(Dtype::float64, t.shape());
        }
      });
  if (options.check == Check::none) inputs.magnitudes.clear();
  recentre(call, inputs.magnitudes, Semiring::log, inputs);
}

Inputs question_inputs(const Call& call, Semiring semiring, Look look) {
  Inputs inputs;
  take_question_inputs(call, semiring, look, inputs);
  return inputs;
}

Inputs given_inputs(const Call& call, Semiring semiring) {
  Inputs inputs;
  take_given_inputs(call, semiring, inputs);
  return inputs;
}

Inputs log_inputs(const Call& call, Look look) {
  Inputs inputs;
  take_log_inputs(call, look, inputs);
  return inputs;
}

void add_offsets(const Call& call, const Inputs& inputs, const std::vector<std::size_t>& factors,
                 const std::vector<DimId>& axes, Tensor& answer) {
  engine::add_offsets(call.graph, call.extents(), call.exponents(), inputs.offsets, factors, axes, answer);
}

}  // namespace plated::api
