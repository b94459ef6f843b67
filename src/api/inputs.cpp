// Checks operands and turns evidence into operands.
#include "api/inputs.hpp"

#include <algorithm>

#include "api/padding.hpp"
#include "engine/check_answers.hpp"
#include "engine/check_operands.hpp"
#include "engine/indicator.hpp"
#include "engine/inspect.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"

namespace plated::api {
namespace {

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

/// Checks one operand and returns its magnitude, if that is wanted; slices that a ragged chain or plate does not have
/// may hold anything.
double check_operand(const Call& call, std::size_t f, Semiring semiring, bool with_magnitude) {
  const engine::RaggedDims& lengths = call.lengths();
  const Tensor& operand = call.operands[f];
  const Factor& factor = call.graph.factors()[f];
  const bool has_padding = std::any_of(lengths.begin(), lengths.end(),
                                       [&](const auto& ragged) { return engine::holds(factor.dims, ragged.first); });
  const auto look = [&](const Tensor& at) -> engine::Inspection {
    if (with_magnitude) return engine::inspect(at, semiring, call.threads());
    return {.admitted = engine::admits(at, semiring, call.threads())};
  };
  engine::Inspection seen = look(operand);
  if (!seen.admitted) {
    const Tensor existing = engine::without_padding(factor.dims, operand, lengths, semiring);
    if (has_padding) seen = look(existing);
    if (!seen.admitted) engine::refuse_values(call.graph, f, existing, semiring);
  }
  if (is_to_be_distribution(factor, semiring, call.options)) {
    Tensor absent;
    if (has_padding) {
      const Tensor zeros = engine::constant(0.0, Dtype::float64, operand.shape());
      absent = engine::without_padding(factor.dims, zeros, lengths, Semiring::real);
    }
    engine::check_distribution(call.graph, f, operand, semiring, absent, call.threads());
  }
  return seen.magnitude;
}

/// Whether a run is to look at an operand.
bool is_left_to_run(const Call& call, std::size_t f, Semiring semiring) {
  constexpr std::int64_t large = 4096;
  if (call.operands[f].elements() < large) return false;
  const RunOptions& options = call.options;
  return (semiring == Semiring::real || semiring == Semiring::log) && options.check == Check::all &&
         options.lengths.empty() && options.evidence.empty() && call.graph.chains().empty() &&
         !is_to_be_distribution(call.graph.factors()[f], semiring, options);
}

}  // namespace

void check_before_run(const Call& call, Semiring semiring) {
  for (std::size_t f = 0; call.options.check == Check::all && f < call.operands.size(); ++f) {
    if (is_left_to_run(call, f, semiring)) continue;
    try {
      (void)check_operand(call, f, semiring, false);
    } catch (const ValueError&) {
      for (std::size_t g = 0; g < f; ++g) (void)check_operand(call, g, semiring, false);  // the first one is named
      throw;
    }
  }
  check_evidence(call.plan, call.options.evidence);
}

void check_after_run(const Call& call, Semiring semiring, const engine::Workspace& workspace) {
  for (std::size_t f = 0; f < call.operands.size(); ++f) {
    if (!is_left_to_run(call, f, semiring) || workspace.vouches_for(f)) continue;
    (void)check_operand(call, f, semiring, false);
  }
}

void check_inputs(const Call& call, Semiring semiring, std::vector<double>* magnitudes) {
  const RunOptions& options = call.options;
  if (options.check == Check::all) {
    for (std::size_t f = 0; f < call.operands.size(); ++f) {
      const double magnitude = check_operand(call, f, semiring, magnitudes != nullptr);
      if (magnitudes != nullptr) magnitudes->push_back(magnitude);
    }
  }
  check_evidence(call.plan, options.evidence);
}

void check_results(std::span<const Tensor> results, const char* what, Semiring semiring, const Call& call) {
  if (call.options.check == Check::none) return;
  engine::check_answers(results, what, semiring, engine::Suspect::overflow, call.threads());
}

namespace {

/// Ones and zeros.
Tensor indicator_of(const Call& call, DimId v, Semiring semiring, Dtype dtype) {
  const Dim& variable = call.graph.dims()[v];
  const auto found = call.options.evidence.find(variable.name);
  const Integers* observed = found == call.options.evidence.end() ? nullptr : &found->second;
  return engine::indicator(observed, variable, call.shape(call.plan.axes(v, false)), call.plan.axes.batch().size(),
                           semiring, dtype);
}

}  // namespace

std::vector<Tensor> with_evidence(const Call& call, Semiring semiring) {
  std::vector<Tensor> all(call.operands.begin(), call.operands.end());
  const Dtype dtype = engine::element_dtype(call.operands);
  for (const DimId v : call.plan.observable) {
    if (const Integers* observed = call.observed(v)) {
      all.push_back(engine::states(*observed, call.graph.dims()[v], call.shape(call.plan.axes(v, false)),
                                   call.plan.axes.batch().size()));
    } else {
      all.push_back(indicator_of(call, v, semiring, dtype));
    }
  }
  fill_padding(call, semiring, all);
  for (Tensor& exponent : engine::exponent_operands(call.extents(), call.exponents()))
    all.push_back(std::move(exponent));
  return all;
}

std::vector<Tensor> as_read_by(const planner::Schedule& schedule, const Call& call, Semiring semiring,
                               std::vector<Tensor> operands) {
  const std::size_t own = call.graph.factors().size();
  const Dtype dtype = engine::element_dtype(std::span<const Tensor>(operands).first(own));
  for (const auto& [v, observation] : call.plan.options.observations) {
    if (schedule.observations.contains(v)) continue;
    Tensor& operand = operands[observation.operand];
    operand = engine::without_padding(call.plan.observed.factors()[observation.operand].dims,
                                      indicator_of(call, v, semiring, dtype), call.lengths(), semiring);
  }
  return operands;
}

}  // namespace plated::api
