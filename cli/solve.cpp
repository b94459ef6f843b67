// `plated solve`: answers a question about a model.
#include "plated/solve.hpp"

#include <utility>

#include "answer.hpp"
#include "commands.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "progress.hpp"
#include "query.hpp"

namespace plated::cli {
namespace {

std::vector<Posterior> posteriors(const Model& model, const Solve& wanted, const SolveOptions& options) {
  std::vector<Posterior> all;
  if (wanted.query.empty()) {
    std::map<std::string, Tensor> found = marginals(model, options);
    for (Slices& of : answered_slices(model)) {
      Tensor probabilities = std::move(found.at(of.variables[0]));
      all.push_back({std::move(of), std::move(probabilities)});
    }
    return all;
  }
  const std::vector<std::vector<std::string>> queries = read_queries(model, wanted.query);
  std::vector<Tensor> found = marginals(model, queries, options);
  for (std::size_t k = 0; k < queries.size(); ++k) {
    all.push_back({slices_of(model, queries[k]), std::move(found[k])});
  }
  return all;
}

/// The axes of what leave_one_out answers.
std::vector<std::string> left_axes(const FactorGraph& graph, const std::string& plate) {
  const std::vector<Dim>& dims = graph.dims();
  std::vector<std::string> axes;
  for (const Dim& dim : dims) {
    if (dim.kind == DimKind::batch) axes.push_back(dim.name);
  }
  for (const Chain& chain : graph.chains()) {
    if (dims[chain.dim].name != plate || chain.links.empty()) continue;
    // Linked variables share their plates.
    for (const DimId around : graph.variable_plates()[chain.links[0].source]) {
      if (around != chain.dim) axes.push_back(dims[around].name);
    }
  }
  axes.push_back(plate);
  return axes;
}

Answer ask(const Model& model, const Solve& wanted, const SolveOptions& options) {
  Answer answer;
  answer.task = wanted.task;
  if (wanted.task == "pr") {
    answer.ln_z = log_partition(model, options);
  } else if (wanted.task == "mar") {
    answer.marginals = posteriors(model, wanted, options);
  } else if (wanted.task == "map") {
    answer.best = map(model, options);
  } else if (wanted.task == "sample") {
    const SampleOptions draws{.count = wanted.samples.value_or(1), .seed = wanted.seed.value_or(0)};
    answer.samples = sample(model, draws, options);
  } else if (wanted.task == "leave-one-out") {
    answer.left_out = leave_one_out(model, wanted.plate, options, wanted.factors);
    answer.left_axes = left_axes(model.graph, wanted.plate);
  } else {
    answer.entropy = entropy(model, options);
  }
  return answer;
}

std::string written(const Model& model, const Answer& answer, const std::string& format) {
  if (format == "json") return answer_json(model, answer);
  if (format == "csv") return answer_csv(model, answer);
  if (format == "uai") return answer_uai(model, answer);
  return answer_table(model, answer);
}

}  // namespace

int solve(const Solve& wanted, const Common& common) {
  const Model model = load(wanted.input, common);
  const std::string format = wanted.json ? "json" : wanted.format;
  if (format == "uai") require_flat(model);
  Answer answer;
  {
    Progress progress("solving", common.quiet);
    answer = ask(model, wanted,
                 {.threads = common.threads, .memory_limit = memory_limit(common), .progress = progress.callback()});
  }
  deliver(written(model, answer, format), wanted.output);
  return answered;
}

}  // namespace plated::cli
