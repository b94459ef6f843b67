// Builds the shapes of kernels.
#include "engine/step_shapes.hpp"

#include "base/assert.hpp"
#include "base/overloaded.hpp"

namespace plated::engine {

using planner::Extents;
using planner::Step;
using planner::ValueId;

KernelShape StepShapes::shape(const Step& step, const Extents& loops) const {
  return std::visit(
      base::Overloaded{
          [&](const planner::Contract& contract) -> KernelShape { return contraction(step, contract, loops); },
          [&](const planner::LeaveOneOut& others) -> KernelShape { return leave_one_out(step, others, loops); },
          [&](const planner::Weigh& weigh) -> KernelShape { return weighted_sum(step, weigh, loops); },
          [&](const planner::LogMass&) -> KernelShape { return log_mass(step, loops); },
          [&](const planner::Raise& raised) -> KernelShape { return raise(step, raised, loops); },
          [&](const planner::Gather& gathered) -> KernelShape { return gather(step, gathered, loops); },
          [&](const planner::Scatter& scattered) -> KernelShape { return scatter(step, scattered, loops); },
          [](const planner::Scan&) -> KernelShape {
            PLATED_ASSERT(false);  // its body has shapes
            return kernels::LogMassShape{};
          },
      },
      step.operation);
}

Layout StepShapes::partial_layout(const Step& step) const {
  return row_major(Dtype::float64, schedule_.values[step.output].dims, extents_);
}

KernelShape StepShapes::partial(const Step& step, const Extents& loops) const {
  const std::vector<std::int64_t> stride = partial_layout(step).along(schedule_.loops(step));
  if (const auto* contract = step.as<planner::Contract>()) {
    kernels::ContractionShape shape = contraction(step, *contract, loops);
    shape.power = 1;
    shape.output_stride = stride;
    shape.output_dtype = Dtype::float64;
    return shape;
  }
  if (const auto* gathered = step.as<planner::Gather>()) {
    kernels::GatherShape shape = gather(step, *gathered, loops);
    shape.output_stride = stride;
    shape.output_dtype = Dtype::float64;
    return shape;
  }
  if (const auto* scattered = step.as<planner::Scatter>()) {
    kernels::ScatterShape shape = scatter(step, *scattered, loops);
    const Layout output = partial_layout(step);
    std::vector<DimId> walked = schedule_.loops(step);
    std::erase_if(walked, [&](DimId d) { return !scattered->of_rest && base::contains(scattered->variables, d); });
    shape.output_stride = output.along(walked);
    for (std::size_t k = 0; k < shape.indices.size(); ++k) {
      shape.indices[k].step = output.along(scattered->variables[k]);
    }
    return shape;
  }
  PLATED_ASSERT(step.is<planner::Weigh>());
  kernels::WeightedSumShape shape = weighted_sum(step, *step.as<planner::Weigh>(), loops);
  shape.scale = 1;
  shape.accumulate = false;
  shape.blocks = 1;
  shape.output_stride = stride;
  shape.output_dtype = Dtype::float64;
  return shape;
}

KernelShape StepShapes::delivery(const Step& step) const {
  const std::vector<DimId>& kept = schedule_.values[step.output].dims;
  const Layout output = layouts_(step.output, extents_);
  std::vector<std::int64_t> extent;
  for (const DimId d : kept) extent.push_back(extents_[d]);
  const auto* contract = step.as<planner::Contract>();
  const auto* gathered = step.as<planner::Gather>();
  if (contract != nullptr || gathered != nullptr) {
    kernels::ContractionShape shape;
    shape.semiring = (contract != nullptr ? contract->semiring : gathered->semiring).value_or(semiring_);
    if (contract != nullptr) shape.power = planner::value_of(contract->power, extents_);
    shape.role.assign(extent.size(), kernels::Role::kept);
    shape.extent = std::move(extent);
    shape.input_stride = {partial_layout(step).along(kept)};
    shape.input_dtype = {Dtype::float64};
    shape.output_stride = output.along(kept);
    shape.output_dtype = output.dtype;
    return shape;
  }
  kernels::WeightedSumShape shape;
  shape.summed.assign(extent.size(), false);
  shape.extent = std::move(extent);
  shape.factors = {{.stride = partial_layout(step).along(kept), .dtype = Dtype::float64}};
  shape.output_stride = output.along(kept);
  shape.output_dtype = output.dtype;
  if (const auto* weigh = step.as<planner::Weigh>()) {
    shape.scale = planner::value_of(weigh->scale, extents_);
    shape.accumulate = weigh->accumulate;
  }
  return shape;
}

kernels::ContractionShape StepShapes::contraction(const Step& step, const planner::Contract& contract,
                                                  const Extents& extents) const {
  kernels::ContractionShape shape;
  shape.semiring = contract.semiring.value_or(semiring_);
  shape.power = planner::value_of(contract.power, extents_);
  const std::vector<DimId> loops = schedule_.loops(step);
  const std::size_t kept = schedule_.values[step.output].dims.size();
  shape.extent.reserve(loops.size());
  shape.role.reserve(loops.size());
  for (std::size_t k = 0; k < loops.size(); ++k) {
    shape.extent.push_back(extents[loops[k]]);
    shape.role.push_back(k < kept                             ? kernels::Role::kept
                         : k < kept + contract.product.size() ? kernels::Role::product
                                                              : kernels::Role::sum);
  }
  if (contract.empty_sum) {
    shape.extent.push_back(0);
    shape.role.push_back(kernels::Role::sum);
  }
  shape.compute_dtype = step.inputs.empty() ? layouts_.element() : Dtype::float32;
  shape.input_stride.reserve(step.inputs.size());
  for (const ValueId v : step.inputs) {
    const Layout input = layouts_(v, extents);
    shape.input_stride.push_back(input.along(loops));
    shape.input_dtype.push_back(input.dtype);
    if (input.dtype == Dtype::float64) shape.compute_dtype = Dtype::float64;
  }
  const Layout output = layouts_(step.output, extents);
  shape.output_stride = output.along(loops);
  if (contract.empty_sum) shape.output_stride.push_back(0);
  shape.output_dtype = output.dtype;
  return shape;
}

kernels::WeightedSumShape StepShapes::weighted_sum(const Step& step, const planner::Weigh& weigh,
                                                   const Extents& extents) const {
  kernels::WeightedSumShape shape;
  const std::vector<DimId> loops = schedule_.loops(step);
  for (const DimId d : loops) {
    shape.extent.push_back(extents[d]);
    shape.summed.push_back(base::contains(weigh.sum, d));
  }
  bool only_masses = true;
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    const Layout input = layouts_(step.inputs[k], extents);
    auto& list = k < weigh.added ? shape.added : k < weigh.added + weigh.subtracted ? shape.subtracted : shape.factors;
    list.push_back({.stride = input.along(loops), .dtype = input.dtype});
    only_masses = only_masses && k >= weigh.added;
  }
  const Layout output = layouts_(step.output, extents);
  shape.output_stride = output.along(loops);
  shape.output_dtype = output.dtype;
  shape.compute_dtype = only_masses ? Dtype::float64 : layouts_.element();
  shape.scale = planner::value_of(weigh.scale, extents_);
  shape.accumulate = weigh.accumulate;
  shape.surprisal = weigh.surprisal;
  for (const DimId d : schedule_.values[step.output].dims) {
    if (extents[d] > 0) shape.blocks *= extents_[d] / extents[d];
  }
  return shape;
}

kernels::LogMassShape StepShapes::log_mass(const Step& step, const Extents& extents) const {
  kernels::LogMassShape shape;
  const std::vector<DimId>& loops = schedule_.values[step.output].dims;
  for (const DimId d : loops) shape.extent.push_back(extents[d]);
  shape.mass_stride = layouts_(step.inputs[0], extents).along(loops);
  const Layout normaliser = step.inputs.size() > 1 ? layouts_(step.inputs[1], extents) : Layout{};
  shape.normaliser_stride = normaliser.along(loops);
  shape.normaliser_dtype = normaliser.dtype;
  const Layout output = layouts_(step.output, extents);
  shape.output_stride = output.along(loops);
  shape.output_dtype = output.dtype;
  return shape;
}

kernels::RaiseShape StepShapes::raise(const Step& step, const planner::Raise& raised, const Extents& extents) const {
  kernels::RaiseShape shape{.semiring = raised.semiring.value_or(semiring_), .less = raised.less};
  const std::vector<DimId>& loops = schedule_.values[step.output].dims;
  for (const DimId d : loops) shape.extent.push_back(extents[d]);
  shape.base_stride = layouts_(step.inputs[0], extents).along(loops);
  for (std::size_t k = 1; k < step.inputs.size(); ++k) {
    shape.exponent_stride.push_back(layouts_(step.inputs[k], extents).along(loops));
  }
  shape.output_stride = layouts_(step.output, extents).along(loops);
  return shape;
}

std::vector<kernels::IndexArray> StepShapes::indices(const Step& step, const SortedSet& variables,
                                                     const std::vector<DimId>& loops, const Layout& has_states,
                                                     const Extents& extents) const {
  std::vector<kernels::IndexArray> arrays;
  for (std::size_t k = 0; k < variables.size(); ++k) {
    const Layout index = layouts_(step.inputs[1 + k], extents);
    arrays.push_back({.dtype = index.dtype,
                      .stride = index.along(loops),
                      .step = has_states.along(variables[k]),
                      .states = extents_[variables[k]]});
  }
  return arrays;
}

kernels::GatherShape StepShapes::gather(const Step& step, const planner::Gather& gathered,
                                        const Extents& extents) const {
  kernels::GatherShape shape{.semiring = gathered.semiring.value_or(semiring_)};
  const std::vector<DimId> loops = schedule_.loops(step);
  for (const DimId d : loops) shape.extent.push_back(extents[d]);
  shape.kept = schedule_.values[step.output].dims.size();
  const Layout table = layouts_(step.inputs[0], extents);
  shape.table_stride = table.along(loops);
  shape.table_dtype = table.dtype;
  shape.indices = indices(step, gathered.variables, loops, table, extents);
  if (gathered.partial) {
    const Layout rest = layouts_(step.inputs.back(), extents);
    shape.rest_stride = rest.along(loops);
    shape.rest_dtype = rest.dtype;
  }
  const Layout output = layouts_(step.output, extents);
  shape.output_stride = output.along(loops);
  shape.output_dtype = output.dtype;
  return shape;
}

kernels::ScatterShape StepShapes::scatter(const Step& step, const planner::Scatter& scattered,
                                          const Extents& extents) const {
  kernels::ScatterShape shape{.of_rest = scattered.of_rest};
  std::vector<DimId> loops = schedule_.loops(step);
  std::erase_if(loops, [&](DimId d) { return !scattered.of_rest && base::contains(scattered.variables, d); });
  for (const DimId d : loops) shape.extent.push_back(extents[d]);
  shape.kept = loops.size() - scattered.sum.size();
  const Layout mass = layouts_(step.inputs[0], extents);
  shape.mass_stride = mass.along(loops);
  shape.mass_dtype = mass.dtype;
  const Layout output = layouts_(step.output, extents);
  PLATED_ASSERT(output.dtype == Dtype::float64);
  shape.output_stride = output.along(loops);
  shape.indices = indices(step, scattered.variables, loops, output, extents);
  return shape;
}

LeaveOneOutInputs StepShapes::leave_one_out(const Step& step, const planner::LeaveOneOut& others,
                                            const Extents& extents) const {
  LeaveOneOutInputs result{.shape = {}, .inputs = step.inputs.size()};
  kernels::LeaveOneOutShape& shape = result.shape;
  shape.semiring = others.semiring.value_or(semiring_);
  shape.repeats = planner::value_of(others.power, extents_);
  const Layout input = layouts_(step.inputs[0], extents);
  const Layout output = layouts_(step.output, extents);
  for (const DimId d : schedule_.values[step.output].dims) {
    const bool product = base::contains(others.product, d);
    (product ? shape.product_extent : shape.kept_extent).push_back(extents[d]);
    (product ? shape.product_input_stride : shape.kept_input_stride).push_back(input.along(d));
    (product ? shape.product_output_stride : shape.kept_output_stride).push_back(output.along(d));
  }
  return result;
}

}  // namespace plated::engine
