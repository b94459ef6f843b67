// Finds the sizes of a call.
#include "api/call.hpp"

#include "api/observations.hpp"
#include "engine/check_operands.hpp"
#include "engine/thread_pool.hpp"
#include "plated/einsum.hpp"
#include "plated/error.hpp"

namespace plated::api {
namespace {

planner::Extents extents_of(const PlanImpl& asked, const FactorGraph& defaults, std::span<const Tensor> operands,
                            const RunOptions& options, KnownSizes sizes) {
  check_options(options);
  if (!sizes.are_known && asked.reads_implied_sizes(options)) {
    engine::read_extents(defaults, operands, implied_sizes(defaults, options.evidence, options.lengths, options.sizes),
                         sizes.buffer);
  } else if (!sizes.are_known) {
    engine::read_extents(defaults, operands, options.sizes, sizes.buffer);
  }
  return std::move(sizes.buffer);
}

engine::RaggedDims lengths_of(const PlanImpl& plan, const planner::Extents& extents, const RunOptions& options) {
  if (options.lengths.empty()) return {};
  return engine::ragged_plates(plan.graph, extents, options.lengths);
}

engine::Exponents exponents_of(const PlanImpl& plan, const planner::Extents& extents, const engine::RaggedDims& lengths,
                               const RunOptions& options) {
  engine::Exponents exponents = engine::exponents_of(plan.graph, extents, lengths, options.weights);
  engine::add_point_ends(plan.graph, extents, lengths, exponents);
  return exponents;
}

}  // namespace

Call::Call(const PlanImpl& asked, const FactorGraph& defaults, std::span<const Tensor> given, const RunOptions& how,
           KnownSizes sizes)
    : extents_(extents_of(asked, defaults, given, how, std::move(sizes))),
      sized_(asked.at(extents_)),
      lengths_(lengths_of(served(asked), extents_, how)),
      exponents_(exponents_of(served(asked), extents_, lengths_, how)),
      serving_(served(asked).serving(
          exponents_, observations_of(served(asked).graph, served(asked).axes, served(asked).observable, extents_,
                                      lengths_, how.evidence))),
      plan(serving_ ? *serving_ : served(asked)),
      graph(plan.graph),
      operands(given),
      options(how) {}

std::vector<Tensor> Call::output_shapes(const FactorGraph& of, Dtype dtype) const {
  std::vector<Tensor> outputs;
  for (const Output& output : of.outputs()) outputs.push_back(shape_only(dtype, shape(output.dims)));
  return outputs;
}

int Call::threads() const { return options.threads == 0 ? engine::hardware_threads() : options.threads; }

engine::Settings Call::settings(Semiring semiring) const {
  return {.semiring = semiring, .extents = &extents_, .threads = threads(), .memory_limit = options.memory_limit};
}

void check_options(const RunOptions& options) {
  if (options.threads < 0) throw OptionError("the number of threads is negative: " + std::to_string(options.threads));
  if (options.memory_limit < 0)
    throw OptionError("the memory limit is negative: " + std::to_string(options.memory_limit));
}

}  // namespace plated::api
