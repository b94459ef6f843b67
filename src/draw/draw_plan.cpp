// Draws plans: a panel for the steps of a plan, and one for what each scan along a chain does in a slice.
#include <cstdio>

#include "api/plan_impl.hpp"
#include "draw/plan_picture.hpp"
#include "planner/schedule_cost.hpp"
#include "plated/draw.hpp"

namespace plated {
namespace {

using planner::Scan;
using planner::Schedule;
using planner::Step;

std::string cost_of(const Schedule& schedule) {
  const Cost cost = planner::schedule_cost(schedule, schedule.extents, Semiring::log, 4);
  char line[120];
  std::snprintf(line, sizeof line, "cost: %.3g flops, %.3g exps, %.3g bytes of working memory", cost.flops, cost.exps,
                static_cast<double>(cost.peak_bytes));
  return line;
}

draw::PlanPanel panel_of(const Schedule& schedule, const Step& step, const draw::SliceNames& outside) {
  const auto& scan = *step.as<Scan>();
  const std::vector<Dim>& dims = schedule.graph.dims();
  const std::string slices = std::to_string(schedule.extents[scan.chain]);
  std::string heading = "chain " + dims[scan.chain].name + " = " + slices + " slices, links ";
  for (std::size_t k = 0; k < scan.before.size(); ++k) {
    const DimId source = scan.forward ? scan.before[k] : scan.after[k];
    const DimId target = scan.forward ? scan.after[k] : scan.before[k];
    heading += (k > 0 ? ", " : "") + dims[source].name + "→" + dims[target].name;
  }
  return {.heading = std::move(heading),
          .remarks = {"each slice (" + slices + " times), " +
                      (scan.forward ? "from the first to the last" : "from the last to the first")},
          .schedule = scan.body.get(),
          .names = slice_names(schedule, step, outside)};
}

/// Of the scans of a schedule, and of scans inside of their slices.
void add_scans(const Schedule& schedule, const draw::SliceNames& names, std::vector<draw::PlanPanel>& panels) {
  for (const Step& step : schedule.steps) {
    if (!step.is<Scan>()) continue;
    panels.push_back(panel_of(schedule, step, names));
    const draw::PlanPanel panel = panels.back();
    add_scans(*panel.schedule, panel.names, panels);
  }
}

}  // namespace

std::string draw_plan_svg(const Plan& plan, const DrawOptions& options) {
  const auto value = api::PlanAccess::impl(plan).runnable({.kind = adjoint::Asked::Kind::outputs});
  const Schedule& schedule = value->schedule();
  std::vector<draw::PlanPanel> panels{{.heading = "", .remarks = {}, .schedule = &schedule, .names = {}}};
  std::string dropped;
  for (const DimId d : schedule.problem.dropped) {
    dropped += (dropped.empty() ? "dropped as barren: " : ", ") + schedule.graph.dims()[d].name;
  }
  if (!dropped.empty()) panels[0].remarks.push_back(dropped);
  panels[0].remarks.push_back(cost_of(schedule));
  add_scans(schedule, {}, panels);
  if (panels.size() > 1) panels[0].heading = "all steps; chains are scans, whose slices are shown below";
  return draw::plan_svg(panels, options);
}

}  // namespace plated
