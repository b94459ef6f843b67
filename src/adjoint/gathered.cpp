// Writes gathers and scatters.
#include "adjoint/gathered.hpp"

#include <algorithm>

namespace plated::adjoint {

using base::subtract;
using base::unite;
using planner::Gather;
using planner::Scatter;

std::vector<std::size_t> numbers_of(const Step& gather) {
  std::vector<std::size_t> inputs{0};
  if (gather.as<Gather>()->partial) inputs.push_back(gather.inputs.size() - 1);
  return inputs;
}

ValueId gather(StepWriter& writer, const Step& step, ValueId table, ValueId rest, const SortedSet& product,
               Semiring semiring) {
  Gather operation = *step.as<Gather>();
  std::vector<ValueId> inputs = step.inputs;
  inputs[0] = table;
  if (operation.partial) inputs.back() = rest;
  // The order of what it writes anyway, behind the slices that it multiplies over.
  std::vector<DimId> dims = writer.schedule().values[step.output].dims;
  const SortedSet slices = subtract(operation.product, product);
  dims.insert(dims.begin(), slices.begin(), slices.end());
  operation.product = product;
  operation.semiring = semiring;
  const ValueId out = writer.add_intermediate(std::move(dims));
  writer.add(std::move(operation), std::move(inputs), out);
  return out;
}

ValueId scatter(StepWriter& writer, const Step& step, std::size_t input, ValueId mass, std::vector<DimId> dims) {
  const auto& gathered = *step.as<Gather>();
  Scatter operation{.variables = gathered.variables, .sum = {}, .of_rest = input > 0};
  std::vector<ValueId> inputs{mass};
  SortedSet carried = writer.dims(mass);
  for (std::size_t k = 0; k < gathered.variables.size(); ++k) {
    inputs.push_back(step.inputs[1 + k]);
    carried = unite(carried, writer.dims(inputs.back()));
  }
  operation.sum = subtract(carried, base::sorted(dims));
  const ValueId out = writer.add_intermediate(std::move(dims));
  writer.add(std::move(operation), std::move(inputs), out);
  return out;
}

Step product_of_slices(StepWriter& writer, const Step& step, Semiring semiring) {
  const auto& gathered = *step.as<Gather>();
  const ValueId rest = gathered.partial ? step.inputs.back() : none;
  const ValueId slices = gather(writer, step, step.inputs[0], rest, {}, semiring);
  return {.operation = Contract{.product = gathered.product, .power = {}, .leaf = gathered.leaf},
          .inputs = {slices},
          .output = step.output,
          .component = step.component};
}

}  // namespace plated::adjoint
