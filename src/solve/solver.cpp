// Reduces models, and plans and runs what is left of them.
#include "solve/solver.hpp"

#include <algorithm>
#include <iterator>

#include "graph/derived.hpp"
#include "model/run_evidence.hpp"
#include "plated/error.hpp"
#include "reduce/log_range.hpp"
#include "tensor/check_entries.hpp"

namespace plated::solve {

Solver::Solver(const Model& model, const SolveOptions& options, reduce::Reading reading, bool states_known)
    : watch_(options.cancelled, options.progress),
      model_(model),
      options_(options),
      reduction_(reduce::reduce(model, options.evidence, options.lengths, reading, states_known)),
      axes_(reduction_.model.graph) {
  if (!reduction_.impossible) {
    reduce::check_log_range(reduction_.model);
    reduction_.model = in_space(std::move(reduction_.model), Space::log);
  }
  for (const auto& [variable, states] : reduction_.model.evidence) observed_.push_back(*graph().find(variable));
}

void Solver::check_possible() const {
  if (!reduction_.impossible) return;
  throw ImpossibleError("no assignment has a weight: the model and its evidence contradict each other");
}

std::vector<DimId> Solver::observed_in(const reduce::Query& part) const {
  if (is_whole(part)) return observed_;
  std::vector<bool> held(graph().dims().size(), false);
  for (const DimId v : part.variables) held[v] = true;
  for (const std::size_t f : part.factors) {
    for (const DimId v : graph().factor_variables(f)) held[v] = true;
  }
  std::vector<DimId> result;
  std::copy_if(observed_.begin(), observed_.end(), std::back_inserter(result), [&](DimId v) { return held[v]; });
  return result;
}

bool Solver::is_known(DimId v) const {
  const auto states = reduction_.model.evidence.find(graph().dims()[v].name);
  return states != reduction_.model.evidence.end() && tensor::range_of(states->second).least >= 0;
}

void Solver::name_observed(Question& question, const std::vector<DimId>& observed) const {
  for (const DimId v : observed) {
    const std::string& name = graph().dims()[v].name;
    (is_known(v) ? question.observed : question.partly_observed).push_back(name);
  }
}

Plan Solver::plan(const FactorGraph& graph, const std::vector<DimId>& observed, bool sums_only) const {
  const PlanOptions options{.runs = 1,
                            .memory_limit = options_.memory_limit,
                            .sums_only = sums_only,
                            .observable = graph::names(graph, observed)};
  if (options_.plans != nullptr) return options_.plans->of(graph, options);
  return compile(graph::Derived::shared(graph), options);
}

Plan Solver::plan(const reduce::Query& part) const {
  return plan(reduce::query_graph(graph(), part), observed_in(part), false);
}

Marginals Solver::ask(const reduce::Query& part, const MarginalOptions& wanted) const {
  std::vector<Tensor> some;
  for (std::size_t k = 0; !is_whole(part) && k < part.factors.size(); ++k) some.push_back(factors()[part.factors[k]]);
  RunOptions options = run_options();
  const std::vector<std::string> observed = graph::names(graph(), observed_in(part));
  std::erase_if(options.evidence, [&](const auto& entry) {
    return std::find(observed.begin(), observed.end(), entry.first) == observed.end();
  });
  return marginals(plan(part), is_whole(part) ? factors() : some, options, wanted);
}

RunOptions Solver::run_options() const {
  return {.semiring = Semiring::log,
          .threads = options_.threads,
          .memory_limit = options_.memory_limit,
          .evidence = model::run_evidence(reduction_.model.graph, reduction_.model.evidence),
          .lengths = reduction_.model.lengths,
          .cancelled = {},
          .progress = {}};
}

}  // namespace plated::solve
