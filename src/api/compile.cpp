// compile: makes a plan of a graph.
#include <algorithm>

#include "adjoint/questions.hpp"
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
DimId add_evidence(FactorGraph& observed, const FactorGraph& graph, const adjoint::AnswerAxes& axes,
                   const std::string& name) {
  const auto v = graph.find(name);
  if (!v || graph.dims()[*v].kind != DimKind::variable) {
    throw UnknownNameError("'" + name + "' is to be observable, and the model has no such variable");
  }
  std::vector<std::string> dims;
  for (const DimId d : axes(*v)) dims.push_back(graph.dims()[d].name);
  std::string unique = "evidence of " + name;
  const auto taken = [&](const Factor& factor) { return factor.name == unique; };
  while (std::any_of(graph.factors().begin(), graph.factors().end(), taken)) unique += "'";
  observed.factor(unique, dims);
  return *v;
}

}  // namespace

Plan compile(const FactorGraph& given, const PlanOptions& options) {
  const base::Watch watch(options.cancelled, {});
  if (options.trials < 0) throw OptionError("the number of trials is negative: " + std::to_string(options.trials));
  if (!(options.runs >= 0)) throw OptionError("the number of runs that a plan is for must not be negative");
  if (!(options.seconds >= 0)) throw OptionError("the seconds of a search must not be negative");
  planner::Options internal;
  internal.order = {.strategy = strategy_of(options.search),
                    .trials = options.trials,
                    .seconds = options.seconds,
                    .seed = options.seed,
                    .runs = options.runs,
                    .memo = std::make_shared<planner::OrderMemo>()};
  internal.sums_only = options.sums_only;
  internal.without = options.without;
  FactorGraph graph = given;
  if (graph.outputs().empty()) graph.output({});  // the total is meant, as in files
  FactorGraph observed = graph;
  std::vector<DimId> observable;
  graph.validate();
  const adjoint::AnswerAxes axes(graph);
  for (const std::string& name : options.observable) {
    if (std::count(options.observable.begin(), options.observable.end(), name) > 1) {
      throw DuplicateNameError("'" + name + "' is named twice among the observable variables");
    }
    observable.push_back(add_evidence(observed, graph, axes, name));
  }
  return Plan(std::make_shared<api::PlanImpl>(std::move(graph), std::move(observed), std::move(observable),
                                              std::move(internal)));
}

}  // namespace plated
