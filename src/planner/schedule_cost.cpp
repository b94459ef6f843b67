// Counts operations, exponentials, bytes and depth.
#include "planner/schedule_cost.hpp"

#include <algorithm>
#include <cmath>

namespace plated::planner {
namespace {

class Sizes {
 public:
  Sizes(const Schedule& schedule, bool one_slice) : schedule_(schedule), one_slice_(one_slice) {}
  template <class Dims>
  double of(const Dims& dims) const {
    double product = 1;
    for (const DimId d : dims) {
      const bool one = one_slice_ && schedule_.problem.kind[d] != DimKind::variable;
      product *= one ? 1.0 : static_cast<double>(schedule_.problem.size[d]);
    }
    return product;
  }

 private:
  const Schedule& schedule_;
  bool one_slice_;
};

/// Depth of a balanced product over plates.
double product_depth(const Schedule& schedule, const SortedSet& plates) {
  double depth = 0;
  for (const DimId b : plates)
    depth += std::ceil(std::log2(std::max(1.0, static_cast<double>(schedule.problem.size[b]))));
  return depth;
}

/// A sum of r terms in log space takes r exponentials and a logarithm; as a matrix product it takes one exponential for
/// each element of its inputs instead.
double step_exps(const Schedule& schedule, const Step& step) {
  const Sizes sizes(schedule, false);
  if (step.kind == Step::Kind::log_mass) return sizes.of(schedule.values[step.output].dims);
  if (step.kind == Step::Kind::weigh) return step.added == 0 ? 0 : sizes.of(schedule.loops(step));
  if (step.kind != Step::Kind::contract || step.sum.empty() || step.semiring == Semiring::real) return 0;
  const double results = sizes.of(schedule.values[step.output].dims) * sizes.of(step.product);
  const double streamed = results * sizes.of(step.sum);
  double packed = 0;
  for (const ValueId v : step.inputs) packed += sizes.of(schedule.values[v].dims);
  return results + (step.inputs.size() == 2 ? std::min(streamed, packed) : streamed);
}

double value_bytes(const Schedule& schedule, ValueId v, int element_bytes) {
  const Value& value = schedule.values[v];
  return Sizes(schedule, false).of(value.dims) * (value.precision == Precision::wide ? 8 : element_bytes);
}

}  // namespace

double step_flops(const Schedule& schedule, const Step& step, bool one_slice) {
  const Sizes sizes(schedule, one_slice);
  const double kept = sizes.of(schedule.values[step.output].dims);
  if (step.kind == Step::Kind::leave_one_out) return 3 * kept;  // prefix, suffix, and their product
  if (step.kind == Step::Kind::log_mass) return 2 * kept;
  if (step.kind == Step::Kind::weigh) return kept * sizes.of(step.sum) * static_cast<double>(step.inputs.size());
  const double slices = sizes.of(step.product);
  const double terms = sizes.of(step.sum);
  const double inputs = static_cast<double>(step.inputs.size());
  const double multiply = terms * std::max(0.0, inputs - 1);
  const double add = std::max(0.0, terms - 1);
  const double power = one_slice ? 0.0 : 2 * product_depth(schedule, step.tied_power);
  return kept * (slices * (multiply + add) + std::max(0.0, slices - 1) + power);
}

Cost schedule_cost(const Schedule& schedule, Semiring semiring, int element_bytes) {
  Cost cost;
  for (const Step& step : schedule.steps) {
    cost.flops += step_flops(schedule, step);
    if (semiring == Semiring::log) cost.exps += step_exps(schedule, step);
    for (const ValueId v : step.inputs) cost.bytes_read += value_bytes(schedule, v, element_bytes);
    cost.bytes_written += value_bytes(schedule, step.output, element_bytes);
    cost.sequential += step_flops(schedule, step, true);
    cost.span += product_depth(schedule, step.product) + product_depth(schedule, step.tied_power);
  }
  cost.span += cost.sequential;
  cost.peak_bytes = schedule.arena[element_bytes == 4 ? 0 : 1].bytes;
  return cost;
}

}  // namespace plated::planner
