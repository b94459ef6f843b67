// Makes the schedule of each kind of question.
#include "adjoint/asked.hpp"

#include <algorithm>

#include "adjoint/questions.hpp"
#include "base/assert.hpp"
#include "base/hash.hpp"
#include "graph/answer_axes.hpp"
#include "graph/derived.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"

namespace plated::adjoint {
namespace {

using planner::Schedule;

FactorGraph forward_graph(const FactorGraph& graph, Forward forward) {
  if (forward == Forward::outputs) return graph::Derived::shared(graph);
  if (forward == Forward::total) return graph::total_graph(graph);
  std::vector<std::vector<std::string>> outputs;
  for (const Output& output : graph.outputs()) outputs.push_back(graph::names(graph, output.dims));
  if (total_of(graph, Forward::both) == outputs.size()) outputs.emplace_back();
  return graph.asking(outputs);
}

Schedule outputs(const Asked& asked, const FactorGraph& graph, planner::Options options) {
  options.keep_sums = asked.keep_sums;
  options.filtered = asked.filtered;
  if (asked.own_outputs) return planner::plan(graph, options);
  options.sums_only = false;
  std::vector<std::vector<std::string>> names;
  for (const std::vector<DimId>& axes : asked.axes) names.push_back(graph::names(graph, axes));
  return planner::plan(graph.asking(names), options);
}

Schedule choices(const FactorGraph& graph, planner::Options options) {
  options.sums_only = false;
  options.keep_messages = true;
  options.without.insert("reuse_buffers");
  return planner::plan(graph::total_graph(graph), options);
}

/// Throws OptionError unless factors of a chain's slices are named.
void check_factors(const Asked& asked, const FactorGraph& graph) {
  const std::string chain = graph::quoted(graph.dims()[asked.plate].name);
  if (std::find(asked.chosen.begin(), asked.chosen.end(), true) == asked.chosen.end()) {
    throw OptionError("which factors of a slice of chain " + chain + " are left out? Name them");
  }
  for (std::size_t f = 0; f < asked.chosen.size(); ++f) {
    if (asked.chosen[f] && !base::contains(graph.factor_plates(f), asked.plate)) {
      throw OptionError("factor " + graph::quoted(graph.factors()[f].name) + " cannot be left out of slices of chain " +
                        chain + ": it lies in none");
    }
  }
}

Schedule leave_one_out(const Asked& asked, const FactorGraph& graph, planner::Options options) {
  if (graph.dims()[asked.plate].kind == DimKind::chain) {
    check_factors(asked, graph);
    options.without.insert("drop_unit_dims");  // the answer has all plates of the factors' slices
  }
  options.keep_sums = true;
  options.sums_only = false;
  options.left_out = {.of = asked.plate, .factors = asked.chosen};
  return planner::plan(graph::total_graph(graph), options);
}

/// Its values may be kept for the questions that follow.
Schedule kept_forward(const FactorGraph& graph, const planner::Options& options) {
  Schedule schedule = forward(graph, options);
  schedule.reuses_buffers = false;
  return schedule;
}

}  // namespace

std::size_t AskedHash::operator()(const Asked& asked) const noexcept {
  base::Hash hash;
  hash.add(static_cast<std::size_t>(asked.kind));
  hash.add(static_cast<std::size_t>(asked.forward));
  hash.add(static_cast<std::size_t>(asked.semiring));
  for (const bool flag :
       {asked.keep_sums, asked.nonnegative, asked.reads_answers, asked.variables, asked.factors, asked.own_outputs}) {
    hash.add(flag ? 1 : 0);
  }
  hash.add(std::hash<std::vector<bool>>{}(asked.chosen));
  for (const std::vector<DimId>& axes : asked.axes) {
    hash.add(axes.size());
    for (const DimId d : axes) hash.add(d);
  }
  hash.add(asked.plate);
  hash.add(asked.filtered ? *asked.filtered + 1 : 0);
  return hash.value();
}

std::size_t total_of(const FactorGraph& graph, Forward forward) {
  if (forward == Forward::total) return 0;
  const auto found = std::find_if(graph.outputs().begin(), graph.outputs().end(),
                                  [&](const Output& output) { return graph::is_total(graph, output); });
  return static_cast<std::size_t>(found - graph.outputs().begin());
}

Forward simplest(const FactorGraph& graph, Forward forward) {
  const bool has_total = total_of(graph, Forward::both) < graph.outputs().size();
  if (has_total && graph.outputs().size() == 1) return Forward::total;
  return has_total && forward == Forward::both ? Forward::outputs : forward;
}

Schedule schedule_for(const Asked& asked, const FactorGraph& graph, const planner::Options& options,
                      const ForwardSchedule& forward) {
  switch (asked.kind) {
    case Asked::Kind::outputs:
      return outputs(asked, graph, options);
    case Asked::Kind::forward:
      return kept_forward(forward_graph(graph, asked.forward), options);
    case Asked::Kind::choices:
      return choices(graph, options);
    default:
      PLATED_ASSERT(asked.sweep != nullptr);
      return asked.sweep(asked, graph, options, forward);
  }
}

Schedule sweep_schedule(const Asked& asked, const FactorGraph& graph, const planner::Options& options,
                        const ForwardSchedule& forward) {
  const std::size_t total = total_of(graph, asked.forward);
  switch (asked.kind) {
    case Asked::Kind::gradient:
      return gradient_schedule(forward(asked.forward), graph.outputs().size(),
                               {.semiring = asked.semiring,
                                .nonnegative = asked.nonnegative,
                                .reads_answers = asked.reads_answers,
                                .wanted = asked.chosen});
    case Asked::Kind::hessian:
      return hessian_schedule(forward(asked.forward), asked.semiring);
    case Asked::Kind::marginals:
      return marginal_schedule(forward(asked.forward), total, asked.variables, asked.factors);
    case Asked::Kind::entropy:
      return entropy_schedule(forward(asked.forward), total);
    case Asked::Kind::expectation:
      return expectation_schedule(forward(asked.forward), total, asked.chosen);
    case Asked::Kind::leave_one_out:
      return leave_one_out(asked, graph, options);
    default:
      throw OptionError("not a question");
  }
}

}  // namespace plated::adjoint
