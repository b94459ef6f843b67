// Orders steps into loops and what lies between them.
#include "engine/phases.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace plated::engine {
namespace {

using planner::Schedule;
using planner::Step;
using planner::Value;
using planner::ValueId;

/// Time counts phases: the even ones are steps that run once, the odd ones loops.
class Timetable {
 public:
  explicit Timetable(const ToArrange& work)
      : work_(work), ready_(work.schedule.values.size(), 0), touched_(work.schedule.values.size(), 0) {
    const std::vector<Step>& steps = work.schedule.steps;
    time_.assign(steps.size(), 0);
    for (std::size_t s = work.first; s < steps.size(); ++s) time_[s] = place(steps[s], work.along[s]);
  }
  [[nodiscard]] std::size_t operator()(std::size_t step) const { return time_[step]; }
  [[nodiscard]] bool descends(std::size_t time) const {
    return time < direction_.size() && direction_[time] == Direction::down;
  }

 private:
  enum class Direction : std::uint8_t { any, up, down };

  std::size_t place(const Step& step, Along role) {
    const bool in_loop = role != Along::none;
    std::size_t time = touched_[step.output];
    for (const ValueId v : step.inputs) time = std::max(time, ready_[v]);
    if ((time % 2 == 1) != in_loop) ++time;
    if (role == Along::carried) time = first_loop(time, step.as<planner::Scan>()->forward);
    for (const ValueId v : step.inputs) touched_[v] = std::max(touched_[v], time);
    for_each_output(step, [&](ValueId v) {
      touched_[v] = time;
      // A loop's totals are there when it is over.
      ready_[v] = in_loop && !has_dim(work_.schedule, v, work_.dim) ? time + 1 : time;
    });
    return time;
  }

  /// The first loop from a time on that goes in a direction.
  std::size_t first_loop(std::size_t time, bool up) {
    const Direction wanted = up ? Direction::up : Direction::down;
    for (;; time += 2) {
      direction_.resize(std::max(direction_.size(), time + 1), Direction::any);
      if (direction_[time] == Direction::any) direction_[time] = wanted;
      if (direction_[time] == wanted) return time;
    }
  }

  const ToArrange& work_;
  std::vector<std::size_t> ready_;    // [value]: the first phase in which it can be read
  std::vector<std::size_t> touched_;  // [value]: the last phase that reads or writes it
  std::vector<std::size_t> time_;     // [step]
  std::vector<Direction> direction_;  // [time]
};

/// The steps that write each value, ascending.
std::vector<std::vector<std::size_t>> writers_of(const Schedule& schedule) {
  std::vector<std::vector<std::size_t>> writers(schedule.values.size());
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    for_each_output(schedule.steps[s], [&](ValueId v) { writers[v].push_back(s); });
  }
  return writers;
}

/// The steps of a loop: each as late as possible, so that few values live at a time.
class Body {
 public:
  /// Values that are not stored are computed where they are read.
  Body(const ToArrange& work, const std::vector<std::vector<std::size_t>>& writers, const std::vector<bool>& on_demand,
       const std::vector<bool>& stored)
      : work_(work),
        schedule_(work.schedule),
        writers_(writers),
        on_demand_(on_demand),
        stored_(stored),
        wanted_(schedule_.steps.size(), false),
        known_(schedule_.steps.size(), false) {}

  /// These steps, and before each what it asks for.
  std::vector<PhaseStep> of(const std::vector<PhaseStep>& wanted) {
    for (const PhaseStep& one : wanted) wanted_[one.step] = !one.again;
    for (const PhaseStep& one : wanted) add(one.step);
    return std::move(steps_);
  }

 private:
  void add(std::size_t wanted) {
    std::vector<std::size_t> open{wanted};
    while (!open.empty()) {
      const std::size_t reader = open.back();
      if (known_[reader]) {
        open.pop_back();
        continue;
      }
      const std::size_t before = open.size();
      const auto ask = [&](ValueId v) {
        for (auto writer = writers_[v].rbegin(); writer != writers_[v].rend(); ++writer) {
          if (*writer < reader && !known_[*writer] && writes_here(*writer, v)) open.push_back(*writer);
        }
      };
      const Step& step = schedule_.steps[reader];
      for (const ValueId v : step.inputs) ask(v);
      if (accumulates(step)) ask(step.output);
      if (open.size() > before) continue;
      known_[reader] = true;
      steps_.push_back({.step = static_cast<std::uint32_t>(reader),
                        .again = work_.along[reader] == Along::carried && !wanted_[reader]});
      open.pop_back();
    }
  }

  /// Whether a step computes a value in this loop, in which it is read.
  [[nodiscard]] bool writes_here(std::size_t step, ValueId value) const {
    if (work_.along[step] != Along::carried) return on_demand_[step];
    return !wanted_[step] && !stored_[value] && has_dim(schedule_, value, work_.dim);
  }

  const ToArrange& work_;
  const Schedule& schedule_;
  const std::vector<std::vector<std::size_t>>& writers_;
  const std::vector<bool>& on_demand_;
  const std::vector<bool>& stored_;
  std::vector<bool> wanted_;  // [step]: runs here anyway
  std::vector<bool> known_;   // [step]
  std::vector<PhaseStep> steps_;
};

}  // namespace

std::vector<bool> descending_steps(const ToArrange& work) {
  const Timetable time(work);
  std::vector<bool> descends(work.schedule.steps.size(), false);
  for (std::size_t s = work.first; s < descends.size(); ++s) descends[s] = time.descends(time(s));
  return descends;
}

std::vector<Phase> phases_of(const ToArrange& work, const std::vector<bool>& stored) {
  const Schedule& schedule = work.schedule;
  const Timetable time(work);
  const std::vector<std::vector<std::size_t>> writers = writers_of(schedule);
  // What lives for some blocks only is computed where it is asked for.
  std::vector<bool> on_demand(schedule.steps.size());
  std::vector<Phase> phases;
  Phase recall{.loops = true, .recalls = true, .steps = {}};
  const auto lives_in_blocks = [&](ValueId v) {
    return schedule.values[v].kind == Value::Kind::intermediate && !stored[v];
  };
  for (std::size_t s = work.first; s < schedule.steps.size(); ++s) {
    if (work.is_unread(s)) continue;
    on_demand[s] = work.along[s] == Along::kept && lives_in_blocks(schedule.steps[s].output);
    if (!work.recalled.empty() && (on_demand[s] || work.along[s] == Along::carried)) {
      bool recalled = false;
      for_each_output(schedule.steps[s], [&](ValueId v) {
        recalled = recalled || (work.recalled[v] && lives_in_blocks(v) && has_dim(schedule, v, work.dim));
      });
      if (recalled)
        recall.steps.push_back({.step = static_cast<std::uint32_t>(s), .again = work.along[s] == Along::carried});
    }
    if (on_demand[s]) continue;
    phases.resize(std::max(phases.size(), time(s) + 1));
    phases[time(s)].steps.push_back({.step = static_cast<std::uint32_t>(s)});
  }
  for (std::size_t t = 0; t < phases.size(); ++t) {
    if (t % 2 == 0) continue;
    phases[t].loops = true;
    phases[t].descends = time.descends(t);
    phases[t].steps = Body(work, writers, on_demand, stored).of(phases[t].steps);
  }
  std::erase_if(phases, [](const Phase& phase) { return phase.steps.empty(); });
  if (!work.recalled.empty()) {
    recall.steps = Body(work, writers, on_demand, stored).of(recall.steps);
    phases.push_back(std::move(recall));
  }
  return phases;
}

bool can_repeat_steps(const ToArrange& work) {
  std::vector<bool> read(work.schedule.values.size(), false);
  for (std::size_t s = work.first; s < work.schedule.steps.size(); ++s) {
    const Step& step = work.schedule.steps[s];
    if (read[step.output]) return false;
    for (const ValueId v : step.inputs) read[v] = true;
  }
  return true;
}

std::vector<ValueId> worth_storing(const ToArrange& work, const std::vector<bool>& stored) {
  const Schedule& schedule = work.schedule;
  std::vector<std::size_t> loops(schedule.steps.size(), 0);
  for (const Phase& phase : phases_of(work, stored)) {
    for (const PhaseStep& one : phase.steps) ++loops[one.step];
  }
  std::vector<ValueId> values;
  for (std::size_t s = 0; s < loops.size(); ++s) {
    if (loops[s] < 2 || accumulates(schedule.steps[s])) continue;
    for_each_output(schedule.steps[s], [&](ValueId v) {
      if (!stored[v] && schedule.values[v].kind == Value::Kind::intermediate) values.push_back(v);
    });
  }
  return values;
}

}  // namespace plated::engine
