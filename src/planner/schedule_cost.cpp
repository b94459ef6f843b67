// Counts operations, exponentials, bytes and depth.
#include "planner/schedule_cost.hpp"

#include <algorithm>
#include <cmath>

#include "base/overloaded.hpp"
#include "planner/passes.hpp"

namespace plated::planner {
namespace {

class Sizes {
 public:
  Sizes(const Schedule& schedule, const Extents& extents, bool one_slice = false)
      : schedule_(schedule), extents_(extents), one_slice_(one_slice) {}
  template <class Dims>
  double of(const Dims& dims) const {
    double product = 1;
    for (const DimId d : dims) {
      const bool one = one_slice_ && schedule_.problem.kind[d] != DimKind::variable;
      product *= one ? 1.0 : static_cast<double>(extents_[d]);
    }
    return product;
  }

 private:
  const Schedule& schedule_;
  const Extents& extents_;
  bool one_slice_;
};

/// Depth of a balanced product over plates.
double product_depth(const Extents& extents, const SortedSet& plates) {
  double depth = 0;
  for (const DimId b : plates) depth += std::ceil(std::log2(std::max(1.0, static_cast<double>(extents[b]))));
  return depth;
}

/// A sum of r terms in log space takes r exponentials and a logarithm; as a matrix product it takes one exponential for
/// each element of its inputs instead.
double step_exps(const Schedule& schedule, const Extents& extents, const Step& step) {
  const Sizes sizes(schedule, extents);
  const auto of_contraction = [&](const Contract& contract) {
    if (contract.sum.empty() || contract.semiring == Semiring::real) return 0.0;
    const double results = sizes.of(schedule.values[step.output].dims) * sizes.of(contract.product);
    const double streamed = results * sizes.of(contract.sum);
    double packed = 0;
    for (const ValueId v : step.inputs) packed += sizes.of(schedule.values[v].dims);
    return results + (step.inputs.size() == 2 ? std::min(streamed, packed) : streamed);
  };
  return std::visit(
      base::Overloaded{of_contraction, [](const LeaveOneOut&) { return 0.0; },
                       [&](const Weigh& weigh) { return weigh.added == 0 ? 0.0 : sizes.of(schedule.loops(step)); },
                       [&](const LogMass&) { return sizes.of(schedule.values[step.output].dims); },
                       [](const Raise&) { return 0.0; }, [](const Gather&) { return 0.0; },
                       [](const Scatter&) { return 0.0; },
                       [&](const Scan& scan) {
                         double exps = 0;
                         for (const Step& inner : scan.body->steps) exps += step_exps(*scan.body, extents, inner);
                         return exps * static_cast<double>(extents[scan.chain]);
                       }},
      step.operation);
}

}  // namespace

double step_flops(const Schedule& schedule, const Extents& extents, const Step& step, bool one_slice) {
  const Sizes sizes(schedule, extents, one_slice);
  const double kept = sizes.of(schedule.values[step.output].dims);
  const auto of_contraction = [&](const Contract& contract) {
    const double slices = sizes.of(contract.product);
    const double terms = sizes.of(contract.sum);
    const double inputs = static_cast<double>(step.inputs.size());
    const double multiply = terms * std::max(0.0, inputs - 1);
    const double add = std::max(0.0, terms - 1);
    const double power = one_slice ? 0.0 : 2 * product_depth(extents, contract.power.plates);
    return kept * (slices * (multiply + add) + std::max(0.0, slices - 1) + power);
  };
  return std::visit(
      base::Overloaded{
          of_contraction, [&](const LeaveOneOut&) { return 3 * kept; },  // prefix, suffix, and their product
          [&](const Weigh& weigh) { return kept * sizes.of(weigh.sum) * static_cast<double>(step.inputs.size()); },
          [&](const LogMass&) { return 2 * kept; },
          [&](const Raise&) { return kept * static_cast<double>(step.inputs.size()); },
          [&](const Gather& gather) { return kept * sizes.of(gather.product); },
          [&](const Scatter& scatter) {  // of the states of its output, a term has one
            return kept / (scatter.of_rest ? 1.0 : sizes.of(scatter.variables)) * sizes.of(scatter.sum);
          },
          [&](const Scan& scan) {  // one slice after the other, whatever the number of processors
            double flops = 0;
            for (const Step& inner : scan.body->steps) flops += step_flops(*scan.body, extents, inner, one_slice);
            return flops * static_cast<double>(extents[scan.chain]);
          }},
      step.operation);
}

Cost schedule_cost(const Schedule& schedule, const Extents& extents, Semiring semiring, int element_bytes) {
  Cost cost;
  const Sizes sizes(schedule, extents);
  const bool shifted = semiring == Semiring::log || semiring == Semiring::max_plus || semiring == Semiring::min_plus;
  const ElementBytes bytes{.element = element_bytes, .message = shifted ? element_bytes : 8};
  const auto bytes_of = [&](ValueId v) {
    const Value& value = schedule.values[v];
    return sizes.of(value.dims) * static_cast<double>(bytes.of(value.precision));
  };
  for (const Step& step : schedule.steps) {
    cost.flops += step_flops(schedule, extents, step);
    if (semiring == Semiring::log) cost.exps += step_exps(schedule, extents, step);
    for (const ValueId v : step.inputs) cost.bytes_read += bytes_of(v);
    cost.bytes_written += bytes_of(step.output);
    cost.sequential += step_flops(schedule, extents, step, true);
    cost.span += product_depth(extents, multiplied(step));
  }
  cost.span += cost.sequential;
  cost.peak_bytes = place_buffers(schedule, extents, bytes).bytes;
  return cost;
}

}  // namespace plated::planner

plated::Cost& plated::operator+=(Cost& sum, const Cost& next) {
  sum.flops += next.flops;
  sum.exps += next.exps;
  sum.bytes_read += next.bytes_read;
  sum.bytes_written += next.bytes_written;
  sum.peak_bytes = std::max(sum.peak_bytes, next.peak_bytes);
  sum.run_bytes = std::max(sum.run_bytes, next.run_bytes);
  sum.sequential += next.sequential;
  sum.span += next.span;
  return sum;
}
