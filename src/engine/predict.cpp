// Binds a schedule to tensors that have no data.
#include "engine/predict.hpp"

#include <algorithm>
#include <vector>

#include "base/checked_size.hpp"
#include "engine/runnable.hpp"

namespace plated::engine {
namespace {

std::vector<Tensor> shapes_of(const std::vector<std::vector<DimId>>& axes, const planner::Extents& extents,
                              Dtype dtype) {
  std::vector<Tensor> list;
  for (const std::vector<DimId>& dims : axes) {
    std::vector<std::int64_t> shape;
    for (const DimId d : dims) shape.push_back(extents[d]);
    list.push_back(shape_only(dtype, std::move(shape)));
  }
  return list;
}

/// "loops over i, 4 blocks of 16 of its 256 slices at a time: 5 steps, then 7"
std::string loops_text(const planner::Schedule& schedule, const BoundSchedule& bound) {
  if (bound.loops.empty()) return "";
  const BoundLoop& first = bound.loops.front();
  std::string text = "loops over " + schedule.graph.dims()[first.blocks.dim].name + ", " + std::to_string(first.chunk) +
                     (first.chunk == 1 ? " block" : " blocks") + " of " + std::to_string(first.blocks.size) +
                     " of its " + std::to_string(first.blocks.extent) + " slices at a time: ";
  for (const BoundLoop& loop : bound.loops) {
    text += (&loop == &first ? "" : ", then ") + std::to_string(loop.last - loop.first);
    if (&loop == &first) text += loop.last - loop.first == 1 ? " step" : " steps";
  }
  if (!bound.recall.steps.empty()) {
    text += "; to choose, " + std::to_string(bound.recall.steps.size()) + " once more";
  }
  return text;
}

}  // namespace

Prediction predict(const planner::Schedule& schedule, const planner::Extents& extents, const PredictOptions& options) {
  const std::vector<Tensor> outputs = shapes_of(schedule.outputs, extents, options.dtype);
  std::vector<Tensor> operands = shapes_of(schedule.operands, extents, options.dtype);
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (!schedule.is_index(k)) continue;
    operands[k] = Tensor::states(Dtype::int64, nullptr, operands[k].shape(), Tensor::row_major(operands[k].shape()));
  }
  const std::size_t own = schedule.graph.factors().size() + schedule.weights.size();
  for (std::size_t k = own; k < own + options.constants; ++k) {
    operands[k] =
        Tensor::view(static_cast<double*>(nullptr), operands[k].shape(), Tensor::Shape(operands[k].rank(), 0));
  }
  std::int64_t bytes = options.beside;
  for (const Tensor& output : outputs) {
    const auto size = static_cast<std::int64_t>(size_of(options.dtype));
    bytes = base::checked_sum(bytes, base::checked_product(output.elements(), size));
  }
  const bool limited = options.memory_limit > 0;
  const BoundSchedule bound = bind(schedule, extents, outputs, operands,
                                   {.semiring = options.semiring,
                                    .recalls = options.recalls,
                                    .limit = limited ? std::max<std::int64_t>(1, options.memory_limit - bytes) : 0,
                                    .threads = options.threads});
  return {.bytes = base::checked_sum(bytes, bound.bytes(options.threads)), .loops = loops_text(schedule, bound)};
}

}  // namespace plated::engine
