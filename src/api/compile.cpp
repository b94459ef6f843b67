// compile: makes a plan of a graph.
#include <cmath>
#include <optional>
#include <set>

#include "api/plan_impl.hpp"
#include "base/watch.hpp"
#include "planner/order_memo.hpp"
#include "planner/planner.hpp"
#include "plated/error.hpp"

namespace plated {
namespace {

planner::Strategy strategy_of(Search search) {
  switch (search) {
    case Search::automatic:
      return planner::Strategy::automatic;
    case Search::optimal:
      return planner::Strategy::optimal;
    case Search::greedy:
      return planner::Strategy::greedy;
    case Search::min_fill:
      return planner::Strategy::min_fill;
    case Search::randomised:
      return planner::Strategy::search;
  }
  throw OptionError("not a search strategy");
}

/// A factor for what a run may observe of a variable, with axes batch, plates, states.
DimId add_observable(FactorGraph& observed, const FactorGraph& graph, const graph::AnswerAxes& axes,
                     const std::set<std::string>& taken_names, const std::string& name) {
  const auto v = graph.find(name);
  if (!v || graph.dims()[*v].kind != DimKind::variable) {
    throw UnknownNameError("'" + name + "' is to be observable, and the model has no such variable");
  }
  std::string unique = "evidence of " + name;
  while (taken_names.contains(unique)) unique += "'";
  observed.factor(unique, graph::names(graph, axes(*v)));
  return *v;
}

}  // namespace

Plan compile(const FactorGraph& graph, const PlanOptions& options) { return compile(FactorGraph(graph), options); }

Plan compile(FactorGraph&& graph, const PlanOptions& options) {
  Plan plan = api::make_plan(std::move(graph), options);
  const base::Watch watch(options.cancelled, {});
  api::prepare(plan, options.questions);
  return plan;
}

void api::prepare(const Plan& plan, const std::vector<Question>& questions) {
  const PlanImpl& impl = PlanAccess::impl(plan);
  for (const Question& question : questions) {
    const auto served = impl.serving(question);
    const PlanImpl& answering = served ? *served : impl;
    for (const adjoint::Asked& part : answering.parts(question)) (void)answering.runnable(part);
  }
}

Plan api::make_plan(FactorGraph&& given, const PlanOptions& options) {
  const base::Watch watch(options.cancelled, {});
  if (options.trials < 0) throw OptionError("the number of trials is negative: " + std::to_string(options.trials));
  if (!(options.runs >= 0)) throw OptionError("the number of runs that a plan is for must not be negative");
  if (!(options.seconds >= 0)) throw OptionError("the seconds of a search must not be negative");
  if (options.memory_limit < 0) {
    throw OptionError("the memory limit is negative: " + std::to_string(options.memory_limit));
  }
  planner::check_passes(options.without);
  planner::Options internal;
  internal.order = {.strategy = strategy_of(options.search),
                    .trials = options.trials,
                    .seconds = options.seconds,
                    .seed = options.seed,
                    .runs = options.runs,
                    .memo = std::make_shared<planner::OrderMemo>()};
  if (options.memory_limit > 0) {
    internal.order.log2_most = std::log2(static_cast<double>(options.memory_limit) / sizeof(double));
  }
  internal.sums_only = options.sums_only;
  internal.without = options.without;
  FactorGraph graph = std::move(given);
  if (graph.outputs().empty()) graph.output({});  // the total is meant, as in files
  std::optional<FactorGraph> observed;
  if (!options.observable.empty()) observed = graph;
  std::vector<DimId> observable;
  graph.validate();
  const graph::AnswerAxes axes(graph);
  std::set<std::string> seen;
  std::set<std::string> factor_names;
  if (!options.observable.empty()) {
    for (const Factor& factor : graph.factors()) factor_names.insert(factor.name);
  }
  for (const std::string& name : options.observable) {
    if (!seen.insert(name).second) {
      throw DuplicateNameError("'" + name + "' is named twice among the observable variables");
    }
    observable.push_back(add_observable(*observed, graph, axes, factor_names, name));
  }
  return PlanAccess::plan(std::make_shared<const PlanImpl>(std::move(graph), std::move(observed), std::move(observable),
                                                           std::move(internal)));
}

}  // namespace plated
