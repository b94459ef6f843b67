// Orders steps into loops and what lies between them.
#include "engine/phases.hpp"

#include <algorithm>
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
      : ready_(work.schedule.values.size(), 0), touched_(work.schedule.values.size(), 0) {
    const std::vector<Step>& steps = work.schedule.steps;
    time_.assign(steps.size(), 0);
    for (std::size_t s = work.first; s < steps.size(); ++s) time_[s] = place(steps[s], work.along[s]);
  }
  [[nodiscard]] std::size_t operator()(std::size_t step) const { return time_[step]; }

 private:
  std::size_t place(const Step& step, Along role) {
    const bool in_loop = role != Along::none;
    std::size_t time = touched_[step.output];
    for (const ValueId v : step.inputs) time = std::max(time, ready_[v]);
    if ((time % 2 == 1) != in_loop) ++time;
    for (const ValueId v : step.inputs) touched_[v] = std::max(touched_[v], time);
    // A loop's totals are there when it is over.
    const bool total = role == Along::multiplied || role == Along::summed;
    for_each_output(step, [&](ValueId v) {
      touched_[v] = time;
      ready_[v] = total ? time + 1 : time;
    });
    return time;
  }

  std::vector<std::size_t> ready_;    // [value]: the first phase in which it can be read
  std::vector<std::size_t> touched_;  // [value]: the last phase that reads or writes it
  std::vector<std::size_t> time_;     // [step]
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
  Body(const Schedule& schedule, const std::vector<std::vector<std::size_t>>& writers,
       const std::vector<bool>& on_demand)
      : schedule_(schedule), writers_(writers), on_demand_(on_demand), known_(schedule.steps.size(), false) {}

  /// These steps, and before each what it asks for.
  std::vector<std::size_t> of(const std::vector<std::size_t>& wanted) {
    for (const std::size_t s : wanted) add(s);
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
          if (*writer < reader && on_demand_[*writer] && !known_[*writer]) open.push_back(*writer);
        }
      };
      const Step& step = schedule_.steps[reader];
      for (const ValueId v : step.inputs) ask(v);
      if (accumulates(step)) ask(step.output);
      if (open.size() > before) continue;
      known_[reader] = true;
      steps_.push_back(reader);
      open.pop_back();
    }
  }

  const Schedule& schedule_;
  const std::vector<std::vector<std::size_t>>& writers_;
  const std::vector<bool>& on_demand_;
  std::vector<bool> known_;  // [step]
  std::vector<std::size_t> steps_;
};

}  // namespace

std::vector<Phase> phases_of(const ToArrange& work, const std::vector<bool>& stored) {
  const Schedule& schedule = work.schedule;
  const Timetable time(work);
  const std::vector<std::vector<std::size_t>> writers = writers_of(schedule);
  // What lives for some blocks only is computed where it is asked for.
  std::vector<bool> on_demand(schedule.steps.size());
  std::vector<Phase> phases;
  Phase recall{.loops = true, .recalls = true, .steps = {}};
  for (std::size_t s = work.first; s < schedule.steps.size(); ++s) {
    if (work.is_unread(s)) continue;
    const ValueId out = schedule.steps[s].output;
    on_demand[s] =
        work.along[s] == Along::kept && schedule.values[out].kind == Value::Kind::intermediate && !stored[out];
    if (on_demand[s]) {
      if (!work.recalled.empty() && work.recalled[out]) recall.steps.push_back(s);
      continue;
    }
    phases.resize(std::max(phases.size(), time(s) + 1));
    phases[time(s)].steps.push_back(s);
  }
  for (std::size_t t = 0; t < phases.size(); ++t) {
    if (t % 2 == 0) continue;
    phases[t].loops = true;
    phases[t].steps = Body(schedule, writers, on_demand).of(phases[t].steps);
  }
  std::erase_if(phases, [](const Phase& phase) { return phase.steps.empty(); });
  if (!work.recalled.empty()) {
    recall.steps = Body(schedule, writers, on_demand).of(recall.steps);
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
    for (const std::size_t s : phase.steps) ++loops[s];
  }
  std::vector<ValueId> values;
  for (std::size_t s = 0; s < loops.size(); ++s) {
    if (loops[s] > 1 && !accumulates(schedule.steps[s])) values.push_back(schedule.steps[s].output);
  }
  return values;
}

}  // namespace plated::engine
