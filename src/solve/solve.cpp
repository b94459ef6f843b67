// The verbs on models: reduces a model, plans and runs the rest, and maps the answers back to the model's variables.
#include "plated/solve.hpp"

#include <algorithm>
#include <limits>

#include "base/watch.hpp"
#include "graph/answer_axes.hpp"
#include "graph/spell.hpp"
#include "model/unknown_name.hpp"
#include "plated/error.hpp"
#include "solve/solver.hpp"

namespace plated {
namespace {

using solve::Solver;

std::vector<std::int64_t> batch_sizes(const FactorGraph& graph) {
  std::vector<std::int64_t> sizes;
  for (const DimId d : graph::batch_axes(graph)) sizes.push_back(graph.dims()[d].size);
  return sizes;
}

/// The variables of each entry of a query, in its order.
std::vector<std::vector<DimId>> asked_for(const Model& model, const std::vector<std::vector<std::string>>& query) {
  std::vector<std::vector<DimId>> result;
  for (const std::vector<std::string>& names : query) {
    if (names.empty()) throw OptionError("a query has no variables: name one, or several that are asked for jointly");
    std::vector<DimId>& asked = result.emplace_back();
    for (const std::string& name : names) {
      const auto found = find_variable(model, name);
      if (!found) model::fail_without_variable(model, name, "to ask for");
      if (std::find(asked.begin(), asked.end(), *found) != asked.end()) {
        throw DuplicateNameError("a query names variable " + graph::quoted(name) + " twice");
      }
      asked.push_back(*found);
    }
  }
  return result;
}

void check_not_listed(const Solver& solver, DimId v) {
  if (!solver.reduction().listed.contains(v)) return;
  throw OptionError("the evidence of " + graph::quoted(solver.graph().dims()[v].name) +
                    " is a list of rows: it has no probabilities to ask for");
}

}  // namespace

Tensor log_partition(const Model& model, const SolveOptions& options) {
  const Solver solver(model, options, reduce::Reading::in_place);
  if (solver.reduction().impossible) {
    const double nothing = -std::numeric_limits<double>::infinity();
    const auto shape = batch_sizes(model.graph);
    return Tensor::of(shape, Tensor::scalar(nothing).broadcast(shape).values());
  }
  return solver.plan(true).run(solver.factors(), solver.run_options())[0];
}

std::map<std::string, Tensor> marginals(const Model& model, const SolveOptions& options) {
  Solver solver(model, options, reduce::Reading::in_place);
  solver.check_possible();
  solver.take_messages([&](DimId v) { return solver.is_known(v); });
  const std::vector<reduce::Query> queries = reduce::marginal_queries(solver.graph(), solver.observed());
  double flops = 0;
  for (const reduce::Query& query : queries) flops += query.flops;
  std::map<std::string, Tensor> result;
  {
    base::Phases phases;
    for (const reduce::Query& query : queries) {
      const auto phase = phases.next(flops > 0 ? query.flops / flops : 1.0);
      Marginals posterior = solver.ask(query, {});
      for (const DimId v : query.variables) {
        if (solver.reduction().listed.contains(v)) continue;
        auto found = posterior.variables.extract(model.graph.dims()[v].name);
        if (found.empty()) continue;
        found.mapped() = solver.expanded({v}, std::move(found.mapped()));
        result.insert(std::move(found));
      }
    }
  }
  base::tell_progress(1);
  return result;
}

std::vector<Tensor> marginals(const Model& model, const std::vector<std::vector<std::string>>& query,
                              const SolveOptions& options) {
  const std::vector<std::vector<DimId>> asked = asked_for(model, query);
  Solver solver(model, options, reduce::Reading::in_place);
  solver.check_possible();
  solver.take_messages([&](DimId v) {
    const auto holds = [&](const std::vector<DimId>& variables) { return graph::contains(variables, v); };
    return solver.is_known(v) || std::none_of(asked.begin(), asked.end(), holds);
  });
  MarginalOptions wanted{.variables = false};
  std::vector<DimId> all;
  for (const std::vector<DimId>& variables : asked) {
    for (const DimId v : variables) check_not_listed(solver, v);
    all.insert(all.end(), variables.begin(), variables.end());
    if (variables.size() == 1) {
      wanted.variables = true;
    } else {
      wanted.sets.push_back(graph::names(model.graph, variables));
    }
  }
  Marginals posterior;
  if (!asked.empty()) posterior = solver.ask(reduce::query_for(solver.graph(), all, solver.observed()), wanted);
  std::vector<Tensor> result;
  auto joint = posterior.sets.begin();
  for (const std::vector<DimId>& variables : asked) {
    const bool single = variables.size() == 1;
    const Tensor& found = single ? posterior.variables.at(model.graph.dims()[variables[0]].name) : *joint++;
    result.push_back(solver.expanded(variables, found));
  }
  return result;
}

MapResult map(const Model& model, const SolveOptions& options) {
  const Solver solver(model, options, reduce::Reading::in_place);
  solver.check_possible();
  MapResult result = map(solver.plan(false), solver.factors(), solver.run_options());
  solver.leave_out_listed(result.assignment);
  solver.expand(result.assignment);
  return result;
}

std::map<std::string, Tensor> max_marginals(const Model& model, const SolveOptions& options) {
  const Solver solver(model, options);
  solver.check_possible();
  auto result = max_marginals(solver.plan(false), solver.factors(), solver.run_options());
  solver.leave_out_listed(result);
  for (auto& [name, scores] : result) {
    scores = solver.expanded({*model.graph.find(name)}, std::move(scores), -std::numeric_limits<double>::infinity());
  }
  return result;
}

std::map<std::string, Integers> sample(const Model& model, const SampleOptions& draws, const SolveOptions& options) {
  const Solver solver(model, options, reduce::Reading::in_place);
  solver.check_possible();
  auto result = sample(solver.plan(false), solver.factors(), draws, solver.run_options());
  solver.leave_out_listed(result);
  solver.expand(result);
  return result;
}

Tensor entropy(const Model& model, const SolveOptions& options) {
  const Solver solver(model, options, reduce::Reading::in_place);
  solver.check_possible();
  return entropy(solver.plan(false), solver.factors(), solver.run_options());
}

}  // namespace plated
