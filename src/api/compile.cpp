// compile: a graph becomes a plan.
#include "api/plan_impl.hpp"
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

}  // namespace

Plan compile(const FactorGraph& graph, const PlanOptions& options) {
  if (options.trials < 0) throw OptionError("the number of trials is negative: " + std::to_string(options.trials));
  if (!(options.seconds >= 0)) throw OptionError("the seconds of a search must not be negative");
  planner::Options internal;
  internal.order = {.strategy = strategy_of(options.search),
                    .trials = options.trials,
                    .seconds = options.seconds,
                    .seed = options.seed};
  internal.sums_only = options.sums_only;
  internal.without = options.without;
  auto impl = std::make_shared<Plan::Impl>();
  impl->schedule = planner::plan(graph, internal);
  return Plan(std::move(impl));
}

}  // namespace plated
