// Writes e · x^(e − 1), and e · (e − 1) · x^(e − 2), for an exponent e that may be less by some copies.
#include "adjoint/raise_slope.hpp"

namespace plated::adjoint {
namespace {

/// The factors of a step's exponent, or one that is their product less a number.
std::vector<ValueId> exponent(StepWriter& writer, const planner::Step& step, int less) {
  std::vector<ValueId> factors(step.inputs.begin() + 1, step.inputs.end());
  if (less == 0) return factors;
  // In a semiring of logarithms, the number 1 raised to e is e.
  const ValueId unit = writer.contract({}, {}, Semiring::real);
  SortedSet dims;
  for (const ValueId v : factors) dims = base::unite(dims, writer.dims(v));
  std::vector<ValueId> inputs = base::joined({unit}, factors);
  const ValueId rest = writer.add_intermediate({dims.begin(), dims.end()});
  writer.add(planner::Raise{.less = less, .semiring = Semiring::max_plus}, std::move(inputs), rest);
  return {rest};
}

}  // namespace

std::optional<Terms> raise_slope(StepWriter& writer, const planner::Step& step, Semiring semiring, int order) {
  if (semiring == Semiring::log && order > 1) return std::nullopt;
  const int less = step.as<planner::Raise>()->less;
  Terms slope;
  for (int k = 0; k < order; ++k) {
    for (const ValueId v : exponent(writer, step, less + k)) slope.factors.push_back(v);
  }
  if (semiring == Semiring::real) {
    const ValueId power = writer.add_intermediate(writer.schedule().values[step.output].dims);
    writer.add(planner::Raise{.less = less + order}, step.inputs, power);
    slope.factors.push_back(power);
  }
  return slope;
}

}  // namespace plated::adjoint
