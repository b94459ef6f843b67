// expected_counts and evaluate: what a model says of data, with its numbers as they are.
#include <cmath>

#include "learn/counting.hpp"
#include "learn/observations.hpp"
#include "learn/with_data.hpp"
#include "model/learning.hpp"
#include "model/measured.hpp"
#include "plated/error.hpp"
#include "plated/fit.hpp"
#include "plated/solve.hpp"

namespace plated {
namespace {

learn::Counts counts_with(const learn::Counting& counting, const EvaluateOptions& options) {
  return {counting, options.threads, options.cancelled, options.progress};
}

}  // namespace

std::map<std::string, Tensor> expected_counts(const Model& model, const Data& data, const EvaluateOptions& options) {
  const Model observed = learn::with_data(model, data);
  const std::vector<model::Listed> lists = learn::sorted_lists(observed, data.weights);
  const learn::Counting counting(model::bound(learn::with_lists(observed, lists)), data.weights,
                                 std::vector<bool>(model.factors.size(), true), options.memory_limit, lists);
  learn::Counts counts = counts_with(counting, options);
  if (std::isinf(counts.count())) throw ImpossibleError("the data have no probability under the model");
  std::map<std::string, Tensor> result;
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    result.emplace(model.graph.factors()[f].name, counts.counts_of(f));
  }
  return result;
}

Score evaluate(const Model& model, const Data& data, const EvaluateOptions& options) {
  const Model observed = learn::with_data(model, data);
  const std::vector<model::Listed> lists = learn::sorted_lists(observed, data.weights);
  const learn::Counting counting(model::bound(learn::with_lists(observed, lists)), data.weights,
                                 std::vector<bool>(model.factors.size(), false), options.memory_limit, lists);
  const learn::Counts counts = counts_with(counting, options);
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
