// expected_counts and evaluate: what a model says of data, with its numbers as they are.
#include <cmath>

#include "learn/counts.hpp"
#include "learn/cut.hpp"
#include "learn/observations.hpp"
#include "learn/with_data.hpp"
#include "plated/error.hpp"
#include "plated/fit.hpp"
#include "plated/solve.hpp"

namespace plated {
namespace {

/// The data of a model, all at once or in blocks.
learn::Blocks blocks_of(const Model& observed, const Data& data, bool counted, std::int64_t memory_limit) {
  // Counts of numbers are wanted in the shape of all of them.
  const bool in_blocks = !counted || observed.measurements.empty();
  learn::Blocks blocks(observed, data.weights, std::vector<bool>(observed.factors.size(), counted), memory_limit,
                       in_blocks ? learn::cut_by_length(observed, data.weights) : std::nullopt);
  blocks.keep();
  return blocks;
}

learn::Counts counts_with(const learn::Blocks& blocks, const EvaluateOptions& options) {
  return {blocks, options.threads, options.cancelled, options.progress};
}

}  // namespace

std::map<std::string, Tensor> expected_counts(const Model& model, const Data& data, const EvaluateOptions& options) {
  const Model observed = learn::with_data(model, data);
  const learn::Blocks blocks = blocks_of(observed, data, true, options.memory_limit);
  learn::Counts counts = counts_with(blocks, options);
  if (std::isinf(counts.count())) throw ImpossibleError("the data have no probability under the model");
  std::map<std::string, Tensor> result;
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    result.emplace(model.graph.factors()[f].name, counts.counts_of(f));
  }
  return result;
}

Score evaluate(const Model& model, const Data& data, const EvaluateOptions& options) {
  const Model observed = learn::with_data(model, data);
  const learn::Blocks blocks = blocks_of(observed, data, false, options.memory_limit);
  const learn::Counts counts = counts_with(blocks, options);
  Score score{.log_likelihood = counts.log_total(), .cells = learn::count_cells(observed), .slices = {}};
  if (!options.plate.empty()) {
    const SolveOptions how{.threads = options.threads,
                           .memory_limit = options.memory_limit,
                           .cancelled = options.cancelled,
                           .progress = options.progress};
    score.slices = leave_one_out(observed, options.plate, how, options.factors);
  }
  return score;
}

}  // namespace plated
