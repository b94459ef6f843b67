// Runs the planner's passes in order.
#include "planner/planner.hpp"

#include <algorithm>

#include "graph/derived.hpp"
#include "planner/elimination.hpp"
#include "planner/emit.hpp"
#include "planner/passes.hpp"
#include "planner/point_ends.hpp"
#include "planner/repairs.hpp"
#include "plated/error.hpp"

namespace plated::planner {

std::vector<std::string> optional_passes() {
  return {"drop_unit_dims", "drop_barren",      "share_steps",      "fuse_products",
          "fuse_gathers",   "fuse_elementwise", "deliver_directly", "reuse_buffers"};
}

void check_passes(const std::set<std::string>& without) {
  const std::vector<std::string> known = optional_passes();
  for (const std::string& pass : without) {
    if (std::find(known.begin(), known.end(), pass) == known.end()) {
      throw OptionError("there is no optional pass called '" + pass + "'");
    }
  }
}

namespace {

SortedSet plates_of(const FactorGraph& graph, const std::map<DimId, std::vector<DimId>>& weights) {
  SortedSet plates;
  for (const auto& [plate, axes] : weights) {
    if (plate < graph.dims().size() && has_slices(graph.dims()[plate].kind)) plates.push_back(plate);
  }
  return plates;
}

/// Reads the graph and runs [TVE] Alg. 1 on it. Where that fails for plates of any size, those of size 0 and 1 are
/// taken for what they are; where that fails too, the error also says what unrolling would cost.
Elimination eliminate_or_explain(Problem& problem, const FactorGraph& graph, const Options& options) {
  const bool has_trivial_plates = std::any_of(graph.dims().begin(), graph.dims().end(), [](const Dim& dim) {
    return dim.kind != DimKind::variable && dim.kind != DimKind::chain && dim.size <= 1;
  });
  for (const bool fixed : {options.fixed_sizes, true}) {
    problem = read_problem(  // drop_unit_dims, drop_barren
        graph,
        {.sums_only = options.sums_only,
         .fixed_sizes = fixed,
         .filtered = options.filtered,
         .left_out_of = options.left_out ? std::optional(options.left_out->of) : std::nullopt,
         .weighted = plates_of(graph, options.weights),
         .observations = options.observations},
        options.without);
    try {
      return eliminate(problem, graph);
    } catch (const IntractableError& error) {
      if (!fixed && has_trivial_plates) continue;
      if (!options.explain) throw;
      throw with_repairs(error, graph, options);
    }
  }
  return {};
}

/// Throws SizeOverflowError where intermediates are too large for any machine at the graph's sizes.
void check_sizes(const Schedule& schedule) {
  double bytes = 0;
  for (const Value& value : schedule.values) {
    double own = 8;
    for (const DimId d : value.dims) own *= static_cast<double>(schedule.extents[d]);
    if (value.kind == Value::Kind::intermediate) bytes += own;
  }
  if (bytes > 0x1p62) (void)place_buffers(schedule, schedule.extents, {});
}

void check(const Schedule& schedule) {
  if (schedule.verified) verify(schedule);
}

/// Axes that are ends of a chain are called by their variables' names where the problem has these.
void name_as_in_slices(Schedule& schedule) {
  const auto rename = [&](std::vector<DimId>& axes, DimId end) {
    const DimId chain = chain_of(schedule.graph, end);
    for (DimId& d : axes) {
      const Dim& dim = schedule.graph.dims()[d];
      if (dim.end != End::none && chain_of(schedule.graph, d) == chain) d = dim.of;
    }
  };
  for (const ProblemFactor& factor : schedule.problem.factors) {
    if (factor.in_slice_of && factor.operand >= 0) rename(schedule.operands[factor.operand], *factor.in_slice_of);
  }
  for (std::size_t o = 0; o < schedule.outputs.size(); ++o) {
    const ProblemOutput& output = schedule.problem.outputs[o];
    if (output.in_slice_of) rename(schedule.outputs[o], *output.in_slice_of);
  }
}

}  // namespace

bool needs_fixed_sizes(const FactorGraph& graph, const Options& options) {
  const bool has_plates =
      std::any_of(graph.dims().begin(), graph.dims().end(), [](const Dim& dim) { return has_slices(dim.kind); });
  if (!has_plates) return false;
  Problem problem;
  (void)eliminate_or_explain(problem, graph, options);
  if (!problem.fixed.empty() || !options.sums_only) return !problem.fixed.empty();
  // Questions keep barren variables, which may entangle others.
  Options any = options;
  any.sums_only = any.explain = false;
  try {
    (void)eliminate_or_explain(problem, graph, any);
  } catch (const IntractableError&) {
    return false;
  }
  return !problem.fixed.empty();
}

Schedule plan(const FactorGraph& graph, const Options& options) {
  plans_made.fetch_add(1, std::memory_order_relaxed);
  check_passes(options.without);
  graph.validate();
  Schedule schedule{.graph = graph::Derived::shared(graph),
                    .extents = extents_of(graph),
                    .sums_only = options.sums_only,
                    .verified = options.verify,
                    .weights = options.weights,
                    .observations = options.observations};
  for (const Factor& factor : graph.factors()) schedule.operands.push_back(factor.dims);
  for (const auto& [variable, observation] : options.observations) {
    schedule.operands[observation.operand] = index_axes(graph, variable, observation);
  }
  for (const auto& [plate, axes] : options.weights) schedule.operands.push_back(axes);
  for (const Output& output : graph.outputs()) schedule.outputs.push_back(output.dims);
  Elimination elimination = eliminate_or_explain(schedule.problem, graph, options);
  if (options.left_out) {
    schedule.problem.outputs.push_back(find_left_out(graph, schedule.problem, *options.left_out, elimination));
    schedule.outputs.push_back(left_out_axes(graph, schedule.problem.outputs.back(), *options.left_out));
  }
  name_as_in_slices(schedule);
  std::set<std::string> without = options.without;
  if (options.keep_sums) without.insert({"fuse_products", "deliver_directly"});
  emit(schedule, elimination,
       {.order = options.order,
        .keep_sums = options.keep_sums,
        .keep_messages = options.keep_messages,
        .without = without});  // share_steps, fuse_products
  if (!without.contains("fuse_gathers")) {
    check(schedule);
    fuse_gathers(schedule);
  }
  if (!without.contains("fuse_elementwise")) {
    check(schedule);
    fuse_elementwise(schedule);
  }
  if (!without.contains("deliver_directly")) {
    check(schedule);
    deliver_directly(schedule);
  }
  std::vector<ProblemFactor>().swap(schedule.problem.factors);  // of a large network much memory, not read again
  schedule.reuses_buffers = !without.contains("reuse_buffers");
  check(schedule);
  check_sizes(schedule);
  return schedule;
}

}  // namespace plated::planner
