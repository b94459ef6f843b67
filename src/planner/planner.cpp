// Runs the planner's passes in order.
#include "planner/planner.hpp"

#include <algorithm>

#include "planner/elimination.hpp"
#include "planner/emit.hpp"
#include "planner/passes.hpp"
#include "planner/repairs.hpp"
#include "plated/error.hpp"

namespace plated::planner {

std::vector<std::string> optional_passes() {
  return {"drop_unit_dims",   "drop_barren",      "share_steps",  "fuse_products",
          "fuse_elementwise", "deliver_directly", "reuse_buffers"};
}

namespace {

/// [TVE] Alg. 1; where it fails, the error also says what unrolling would cost.
Elimination eliminate_or_explain(const Problem& problem, const FactorGraph& graph, const Options& options) {
  try {
    return eliminate(problem, graph);
  } catch (const IntractableError& error) {
    if (!options.explain) throw;
    throw with_repairs(error, graph, options);
  }
}

void check(const Schedule& schedule) {
  if (schedule.verified) verify(schedule);
}

}  // namespace

Schedule plan(const FactorGraph& graph, const Options& options) {
  const std::vector<std::string> known = optional_passes();
  for (const std::string& pass : options.without) {
    if (std::find(known.begin(), known.end(), pass) == known.end()) {
      throw OptionError("there is no optional pass called '" + pass + "'");
    }
  }
  graph.validate();
  Schedule schedule{.graph = graph, .sums_only = options.sums_only, .verified = options.verify};
  for (const Factor& factor : graph.factors()) schedule.operands.push_back(factor.dims);
  for (const Output& output : graph.outputs()) schedule.outputs.push_back(output.dims);
  schedule.problem = read_problem(graph, options.sums_only, options.without);  // drop_unit_dims, drop_barren
  const Elimination elimination = eliminate_or_explain(schedule.problem, graph, options);
  std::set<std::string> without = options.without;
  if (options.keep_sums) without.insert({"fuse_products", "deliver_directly"});
  emit(schedule, elimination,
       {.order = options.order, .keep_sums = options.keep_sums, .without = without});  // share_steps, fuse_products
  if (!without.contains("fuse_elementwise")) {
    check(schedule);
    fuse_elementwise(schedule);
  }
  if (!without.contains("deliver_directly")) {
    check(schedule);
    deliver_directly(schedule);
  }
  place_buffers(schedule, !without.contains("reuse_buffers"));
  check(schedule);
  return schedule;
}

}  // namespace plated::planner
