// Checks operands and turns evidence into operands.
#include "api/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/check_answers.hpp"
#include "engine/check_operands.hpp"
#include "engine/indicator.hpp"
#include "engine/inspect.hpp"
#include "engine/recentre.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"
#include "tensor/check_entries.hpp"
#include "tensor/numbers.hpp"

namespace plated::api {
namespace {

using graph::quoted;

void check_evidence(const PlanImpl& plan, const IntegersByName& evidence) {
  for (const auto& [name, values] : evidence) {
    const auto v = plan.graph.find(name);
    if (!v || plan.graph.dims()[*v].kind != DimKind::variable) {
      throw UnknownNameError("evidence is given for " + quoted(name) + ", and the model has no such variable");
    }
    if (std::find(plan.observable.begin(), plan.observable.end(), *v) == plan.observable.end()) {
      throw OptionError("evidence is given for " + quoted(name) +
                        ", which the plan was not compiled to observe: compile it with " + quoted(name) +
                        " among its observable variables");
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

/// The same where those before it may not have been checked: the first bad one is named.
double check_first(const Call& call, std::size_t f, Semiring semiring, bool with_magnitude) {
  try {
    return check_operand(call, f, semiring, with_magnitude);
  } catch (const ValueError&) {
    for (std::size_t g = 0; g < f; ++g) (void)check_operand(call, g, semiring, false);
    throw;
  }
}

/// The largest of a few entries, from the first to the last.
double glance(const Tensor& operand) {
  constexpr std::int64_t entries = 16;
  double largest = 0;
  for (std::int64_t n = 0; n < entries; ++n) {
    std::int64_t rest = (operand.elements() - 1) * n / (entries - 1);
    std::int64_t offset = 0;
    for (std::size_t axis = operand.shape().size(); axis-- > 0;) {
      offset += rest % operand.shape()[axis] * operand.strides()[axis];
      rest /= operand.shape()[axis];
    }
    const double x = tensor::number_at(operand.dtype(), operand.data(), offset);
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  return largest;
}

}  // namespace

double LeftToRun::most(std::size_t operand) const {
  // Below this, to look beforehand is cheaper.
  constexpr std::int64_t large = 4096;
  const RunOptions& options = call_.options;
  if (operand >= call_.operands.size() || call_.operands[operand].elements() < large) return searched;
  const bool looks = semiring_ != Semiring::max_product && semiring_ != Semiring::boolean &&
                     options.check == Check::all && options.lengths.empty() && options.evidence.empty() &&
                     call_.graph.chains().empty() &&
                     !is_to_be_distribution(call_.graph.factors()[operand], semiring_, options);
  if (!looks) return searched;
  if (!recentres_ || semiring_ == Semiring::real) return std::numeric_limits<double>::max();
  const double most =
      engine::most_without_offsets(call_.plan.observed, call_.extents(), operand, call_.operands[operand].dtype());
  return glance(call_.operands[operand]) > most ? searched : most;
}

void LeftToRun::search(std::size_t operand) const {
  if (!recentres_) {
    (void)check_first(call_, operand, semiring_, false);
    return;
  }
  const engine::Inspection seen = engine::inspect(call_.operands[operand], semiring_, call_.threads());
  if (!seen.admitted || seen.magnitude > most(operand)) throw Suspicious();
}

bool check_inputs(const Call& call, Semiring semiring, const LeftToRun* left, std::vector<double>* magnitudes) {
  const RunOptions& options = call.options;
  bool any_left = false;
  for (std::size_t f = 0; options.check == Check::all && f < call.operands.size(); ++f) {
    double magnitude = 0;
    if (left == nullptr || left->most(f) == LeftToRun::searched) {
      magnitude = check_first(call, f, semiring, magnitudes != nullptr);
    } else {
      any_left = true;
    }
    if (magnitudes != nullptr) magnitudes->push_back(magnitude);
  }
  check_evidence(call.plan, options.evidence);
  return any_left;
}

void check_results(std::span<const Tensor> results, const char* what, Semiring semiring, const Call& call) {
  if (call.options.check == Check::none) return;
  engine::check_answers(results, what, semiring, engine::Suspect::overflow, call.threads());
}

namespace {

/// Ones and zeros.
Tensor indicator_of(const Call& call, DimId v, Semiring semiring, Dtype dtype) {
  return engine::indicator(call.evidence(v), call.graph.dims()[v], call.shape(call.plan.axes(v, false)),
                           call.plan.axes.batch().size(), semiring, dtype);
}

}  // namespace

std::vector<Tensor> with_evidence(const Call& call, Semiring semiring, PaddedCopies& padded) {
  std::vector<Tensor> all(call.operands.begin(), call.operands.end());
  const Dtype dtype = engine::element_dtype(call.operands);
  for (const DimId v : call.plan.observable) {
    if (const IntegerView* observed = call.observed(v)) {
      all.push_back(engine::states(*observed, call.graph.dims()[v], call.shape(call.plan.axes(v, false)),
                                   call.plan.axes.batch().size()));
    } else {
      all.push_back(indicator_of(call, v, semiring, dtype));
    }
  }
  padded.fill(call, semiring, all);
  for (Tensor& exponent : engine::exponent_operands(call.extents(), call.exponents()))
    all.push_back(std::move(exponent));
  return all;
}

void renew_operands(const Call& call, Semiring semiring, PaddedCopies& padded, std::vector<Tensor>& all) {
  std::copy(call.operands.begin(), call.operands.end(), all.begin());
  padded.fill(call, semiring, std::span(all).first(call.operands.size()));
}

void renew_evidence(const Call& call, Semiring semiring, std::span<const Tensor> all) {
  std::size_t next = call.operands.size();
  for (const DimId v : call.plan.observable) {
    const Tensor& place = all[next++];
    const IntegerView* given = call.evidence(v);
    if (given == nullptr) continue;
    const Dim& variable = call.graph.dims()[v];
    // States that factors are read at are the call's own.
    if (call.observed(v) != nullptr) {
      tensor::check_states(*given, variable.name, variable.size);
    } else {
      engine::put_indicator(*given, variable, semiring, place);
    }
  }
  for (const auto& entry : call.exponents()) {
    const std::vector<double>& values = entry.second.values;
    std::copy(values.begin(), values.end(), all[next++].data<double>());
  }
}

void as_read_by(const planner::Schedule& schedule, const Call& call, Semiring semiring, std::vector<Tensor>& operands) {
  const std::size_t own = call.graph.factors().size();
  const Dtype dtype = engine::element_dtype(std::span<const Tensor>(operands).first(own));
  for (const auto& [v, observation] : call.plan.options.observations) {
    if (schedule.observations.contains(v)) continue;
    Tensor& operand = operands[observation.operand];
    operand = engine::without_padding(call.plan.observed.factors()[observation.operand].dims,
                                      indicator_of(call, v, semiring, dtype), call.lengths(), semiring);
  }
}

void renew_as_read_by(const planner::Schedule& schedule, const Call& call, Semiring semiring,
                      std::span<const Tensor> operands) {
  for (const auto& [v, observation] : call.plan.options.observations) {
    if (schedule.observations.contains(v)) continue;
    engine::put_indicator(*call.evidence(v), call.graph.dims()[v], semiring, operands[observation.operand]);
  }
}

}  // namespace plated::api
