// Orders choices by the variables that they depend on.
#include "adjoint/backtrace_order.hpp"

#include <algorithm>
#include <map>

#include "adjoint/backtrace_scan.hpp"
#include "base/assert.hpp"

namespace plated::adjoint {
namespace {

using planner::Scan;
using planner::Step;

/// Phases are numbered: the odd ones are in blocks.
class Order {
 public:
  Order(const ChoiceScope& scope, const engine::BoundSchedule& bound) : scope_(scope), bound_(bound) {}

  /// Of the steps that choose, the last first.
  void add(std::size_t s) {
    const Step& step = scope_.schedule.steps[s];
    if (const auto* scan = step.as<Scan>()) return add_scan(s, *scan);
    PLATED_ASSERT(step.is<planner::Contract>());
    const std::size_t phase =
        place(s, latest(scope_.schedule.values[step.output].dims), chooses_in_blocks(scope_, step, bound_));
    for (const DimId v : summed(step)) known_in_[scope_.name_of(step, v)] = phase;
  }

  [[nodiscard]] std::vector<ChoicePhase> phases() {
    std::erase_if(phases_, [](const ChoicePhase& phase) { return phase.steps.empty(); });
    return std::move(phases_);
  }

 private:
  void add_scan(std::size_t s, const Scan& scan) {
    const Step& step = scope_.schedule.steps[s];
    const bool in_blocks = bound_.read(s).in_blocks != engine::no_index;
    std::size_t phase = std::max(latest(ends_of(scope_.schedule, step)), latest(scan.kept));
    if ((phase % 2 == 1) != in_blocks) ++phase;
    // Against the direction of the messages.
    while (in_blocks && !turn(phase, scan.forward)) phase += 2;
    (void)place(s, phase, in_blocks);
    for (const std::vector<DimId>& states : {scan.before, scan.after}) {
      for (const DimId v : states) known_in_[v] = phase;
    }
    for (const Step& inner : scan.body->steps) {
      for (const DimId v : summed(inner)) known_in_[v] = phase;
    }
    for (std::size_t link = 0; link < scan.start.size(); ++link) {
      const DimId v = scan.start[link];
      const bool is_kept = std::find(scan.kept.begin(), scan.kept.end(), v) != scan.kept.end();
      if (v != scan.before[link] && !is_kept) known_in_[v] = phase + (in_blocks ? 1 : 0);
    }
  }

  /// The first phase in which all of these are known.
  std::size_t latest(const std::vector<DimId>& dims) const {
    std::size_t phase = 0;
    for (const DimId d : dims) {
      const auto known = known_in_.find(d);
      if (known != known_in_.end()) phase = std::max(phase, known->second);
    }
    return phase;
  }

  /// Whether a phase goes in a direction, which it does from then on.
  bool turn(std::size_t phase, bool descends) {
    const auto [direction, is_new] = direction_.try_emplace(phase, descends);
    return is_new || direction->second == descends;
  }

  std::size_t place(std::size_t s, std::size_t phase, bool in_blocks) {
    if ((phase % 2 == 1) != in_blocks) ++phase;
    phases_.resize(std::max(phases_.size(), phase + 1));
    const auto direction = direction_.find(phase);
    phases_[phase].in_blocks = in_blocks;
    phases_[phase].descends = direction != direction_.end() && direction->second;
    phases_[phase].steps.push_back(s);
    return phase;
  }

  const ChoiceScope& scope_;
  const engine::BoundSchedule& bound_;
  std::map<DimId, std::size_t> known_in_;  // the phase after which, or in which, a variable's states are known
  std::map<std::size_t, bool> direction_;
  std::vector<ChoicePhase> phases_;
};

}  // namespace

std::vector<ChoicePhase> choice_phases(const ChoiceScope& scope, const std::vector<bool>& needed,
                                       const engine::BoundSchedule& bound) {
  Order order(scope, bound);
  for (std::size_t s = scope.schedule.steps.size(); s-- > 0;) {
    const Step& step = scope.schedule.steps[s];
    if (needed[s] && (!summed(step).empty() || step.is<Scan>())) order.add(s);
  }
  return order.phases();
}

}  // namespace plated::adjoint
