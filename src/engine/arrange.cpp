// Searches for loops that fit, and emits steps with the places of their values.
#include "engine/arrange.hpp"

#include <algorithm>
#include <utility>

#include "engine/arrange_places.hpp"
#include "engine/bound_scan.hpp"

namespace plated::engine {

using planner::Step;
using planner::Value;
using planner::ValueId;

Arrangement::Arrangement(ToArrange work, planner::ElementBytes bytes, const BoundSchedule* kept,
                         const std::optional<Blocking>& blocking, BoundSchedule& bound)
    : work_(std::move(work)),
      schedule_(work_.schedule),
      element_bytes_(bytes),
      kept_(kept),
      blocking_(blocking),
      bound_(bound),
      steps_(std::move(bound.steps)),
      of_kept_(schedule_.values.size()) {
  for (std::size_t s = 0; s < work_.first; ++s) {
    std::size_t at = kept_->steps[s].first_place + kept_->steps[s].inputs;
    for_each_output(schedule_.steps[s], [&](ValueId v) {
      of_kept_[v] = {Place::Space::kept, static_cast<std::int64_t>(kept_->places[at++].at())};
    });
  }
}

void Arrangement::whole() {
  std::vector<Phase> all(1);
  all[0].steps.reserve(schedule_.steps.size() - work_.first);
  for (std::size_t s = work_.first; s < schedule_.steps.size(); ++s) {
    if (!work_.is_unread(s)) all[0].steps.push_back({.step = static_cast<std::uint32_t>(s)});
  }
  emit(all, {.for_all = std::vector<bool>(schedule_.values.size(), true)});
}

void Arrangement::cut(std::int64_t bytes) {
  if (!blocking_ || !can_repeat_steps(work_)) return;
  Storing best{.for_all = blocking_->in_blocks};
  best.for_all.flip();
  store_what_is_written_once(best);
  const std::vector<ValueId> repeated = worth_storing(work_, best.for_all);
  const auto storing = [&](std::size_t values, std::int64_t chunk) {
    Storing more{.for_all = best.for_all, .chunk = chunk};
    for (std::size_t k = 0; k < values; ++k) more.for_all[repeated[k]] = true;
    return more;
  };
  const auto fits = [&](const Storing& candidate) {
    return bytes_of(phases_of(work_, candidate.for_all), candidate) <= bytes;
  };
  // As many of these values as there is room for, then as many blocks at a time.
  std::size_t values = fits(storing(repeated.size(), 1)) ? repeated.size() : 0;
  for (std::size_t too_many = repeated.size(); values < repeated.size() && too_many - values > 1;) {
    const std::size_t middle = (values + too_many) / 2;
    (fits(storing(middle, 1)) ? values : too_many) = middle;
  }
  std::int64_t chunk = 1;
  while (2 * chunk < blocking_->blocks.count() && fits(storing(values, 2 * chunk))) chunk *= 2;
  best = storing(values, chunk);
  const std::vector<Phase> phases = phases_of(work_, best.for_all);
  if (bytes_of(phases, best) < bound_.arena_bytes) emit(phases, best);
}

void Arrangement::cut_if_free(std::int64_t bytes) {
  if (!blocking_ || !work_.recalled.empty()) return;
  Storing none{.for_all = blocking_->in_blocks};
  none.for_all.flip();
  if (worth_storing(work_, none.for_all).empty()) cut(bytes);
}

BoundScan* Arrangement::scan_of(std::size_t step) const {
  const BoundStep& bound = steps_[step - work_.first];
  return bound.scan == no_index ? nullptr : bound_.scans[bound.scan].get();
}

void Arrangement::store_what_is_written_once(Storing& storing) const {
  for (bool complete = false; !complete;) {
    complete = true;
    for (const Phase& phase : phases_of(work_, storing.for_all)) {
      for (const PhaseStep& one : phase.steps) {
        if (!one.again || scan_of(one.step)->can_run_again()) continue;
        for_each_output(schedule_.steps[one.step], [&](ValueId v) { storing.for_all[v] = true; });
        complete = false;
      }
    }
  }
}

std::int64_t Arrangement::bytes_of(const std::vector<Phase>& phases, const Storing& storing) const {
  return Places(*this, phases, storing).bytes();
}

Place Arrangement::place(ValueId v, const Places& places) const {
  const Value& value = schedule_.values[v];
  const auto index = static_cast<std::int64_t>(value.index);
  if (value.kind == Value::Kind::operand) return {Place::Space::operand, index};
  if (value.kind == Value::Kind::output) return {Place::Space::output, index};
  if (of_kept_[v].space() == Place::Space::kept) return of_kept_[v];
  if (!places.is_somewhere(v)) return Place::nowhere();
  return {Place::Space::arena, places.offset(v), places.in_chunks(v)};
}

void Arrangement::add_step(const PhaseStep& one, const Places& places, bool only_read, std::vector<BoundStep>& steps) {
  const Step& step = schedule_.steps[one.step];
  BoundStep& bound = steps.emplace_back(steps_[one.step - work_.first]);
  bound.again = one.again;
  bound.first_place = static_cast<std::uint32_t>(bound_.places.size());
  for (const ValueId v : step.inputs) bound_.places.push_back(place(v, places));
  if (!only_read || step.is<planner::Scan>()) {
    for_each_output(step, [&](ValueId v) { bound_.places.push_back(place(v, places)); });
  }
}

void Arrangement::emit(const std::vector<Phase>& phases, const Storing& storing) {
  Places places(*this, phases, storing);
  bound_.arena_bytes = places.bytes();
  bound_.steps.clear();
  bound_.steps.reserve(steps_.size());
  bound_.places.clear();
  std::size_t room = 0;
  for (const BoundStep& step : steps_) room += step.inputs + 1;
  bound_.places.reserve(room);
  bound_.loops.clear();
  bound_.flops = 0;
  for (std::size_t p = 0; p < phases.size(); ++p) {
    places.enter(p);
    if (phases[p].recalls) {
      bound_.recall.chunk = storing.chunk;
      for (const PhaseStep& one : phases[p].steps) add_step(one, places, false, bound_.recall.steps);
      // Others have no place any more.
      const auto is_read = [&](std::size_t s) {
        return !summed(schedule_.steps[s]).empty() || schedule_.steps[s].is<planner::Scan>();
      };
      for (std::size_t s = 0; s < schedule_.steps.size(); ++s) {
        if (is_read(s)) {
          add_step({.step = static_cast<std::uint32_t>(s)}, places, true, bound_.recall.read);
        } else {
          bound_.recall.read.emplace_back();
        }
      }
      continue;
    }
    const std::size_t first = bound_.steps.size();
    for (const PhaseStep& one : phases[p].steps) {
      add_step(one, places, false, bound_.steps);
      const BoundStep& bound = bound_.steps.back();
      if (bound.scan != no_index) places.place_checkpoints(bound.scan, *bound_.scans[bound.scan]);
      if (bound.in_blocks != no_index && bound_.blocked[bound.in_blocks].folds) {
        places.place_fold(bound.in_blocks, bound_.blocked[bound.in_blocks]);
      }
      bound_.flops += bound.flops;
    }
    if (phases[p].loops) {
      bound_.loops.push_back({.first = first,
                              .last = bound_.steps.size(),
                              .blocks = blocking_->blocks,
                              .chunk = storing.chunk,
                              .descends = phases[p].descends});
    }
  }
}

}  // namespace plated::engine
