// Draws plans: makes the panels of a plan, one for each stage of a chain.
#include <cstdio>

#include "api/plan_impl.hpp"
#include "chain/describe.hpp"
#include "draw/plan_picture.hpp"
#include "planner/schedule_cost.hpp"
#include "plated/draw.hpp"

namespace plated {
namespace {

std::string cost_of(const planner::Schedule& schedule) {
  const Cost cost = planner::schedule_cost(schedule, schedule.extents, Semiring::log, 4);
  char line[120];
  std::snprintf(line, sizeof line, "cost: %.3g flops, %.3g exps, %.3g bytes of working memory", cost.flops, cost.exps,
                static_cast<double>(cost.peak_bytes));
  return line;
}

std::string name_of(const chain::Piece& piece, const FactorGraph& graph) {
  std::string text = "chain " + graph.dims()[piece.chain].name + " = " +
                     std::to_string(graph.dims()[piece.chain].size) + " slices, links ";
  for (std::size_t k = 0; k < piece.links.size(); ++k) {
    text +=
        (k > 0 ? ", " : "") + graph.dims()[piece.links[k].source].name + "→" + graph.dims()[piece.links[k].target].name;
  }
  return text;
}

draw::PlanPanel panel_of(const chain::Stage& stage, const chain::Program& program) {
  draw::PlanPanel panel{.schedule = &stage.runnable->schedule()};
  const auto times = std::to_string(static_cast<std::int64_t>(stage.repeats));
  if (stage.kind == chain::Stage::Kind::rest) {
    panel.heading = "what the chains leave";
  } else {
    const auto& piece = program.pieces().pieces[stage.piece];
    panel.heading = name_of(piece, program.pieces().graph);
    if (stage.kind == chain::Stage::Kind::preparation) {
      panel.remarks.push_back("prepared for many slices at once (" + times + " slices)");
    } else {
      panel.remarks.push_back("each slice (" + times + " times), " +
                              (piece.forward ? "from the first to the last" : "from the last to the first") +
                              (stage.fused ? "; fused: the matrix is exponentiated once" : ""));
    }
  }
  return panel;
}

}  // namespace

std::string draw_plan_svg(const Plan& plan, const DrawOptions& options) {
  const api::PlanImpl& impl = api::PlanAccess::impl(plan);
  std::vector<draw::PlanPanel> panels;
  std::vector<chain::Stage> stages;  // own the schedules of their panels
  std::shared_ptr<const engine::Runnable> value;
  if (impl.chains) {
    stages = chain::stages(*impl.chains);
    for (const auto& stage : stages) panels.push_back(panel_of(stage, *impl.chains));
  } else {
    value = impl.runnable({.kind = adjoint::Asked::Kind::outputs});
    panels.push_back({.schedule = &value->schedule()});
  }
  for (auto& panel : panels) {
    std::string dropped;
    for (const DimId d : panel.schedule->problem.dropped)
      dropped += (dropped.empty() ? "dropped as barren: " : ", ") + panel.schedule->graph.dims()[d].name;
    if (!dropped.empty()) panel.remarks.push_back(dropped);
    panel.remarks.push_back(cost_of(*panel.schedule));
  }
  return draw::plan_svg(panels, options);
}

}  // namespace plated
