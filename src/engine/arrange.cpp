// Places values, and searches for loops that fit.
#include "engine/arrange.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/assert.hpp"
#include "base/checked_size.hpp"
#include "engine/bound_scan.hpp"

namespace plated::engine {

using planner::LiveRange;
using planner::Schedule;
using planner::Step;
using planner::Value;
using planner::ValueId;

namespace {

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

}  // namespace

/// When buffers are in use: positions are those of the phases' steps, with one before and one after each phase's.
class Arrangement::Places {
 public:
  Places(const Arrangement& arrangement, const std::vector<Phase>& phases, const Storing& storing)
      : of_(arrangement),
        storing_(storing),
        chunk_extents_(arrangement.bound_.extents),
        current_(arrangement.schedule_.values.size(), no_index),
        fold_(arrangement.bound_.blocked.size(), no_index),
        checkpoints_(arrangement.bound_.scans.size(), no_index),
        read_in_(arrangement.schedule_.values.size(), 0) {
    if (of_.blocking_) {
      const Blocks& blocks = of_.blocking_->blocks;
      chunk_extents_[blocks.dim] = std::min(blocks.extent, storing.chunk * blocks.size);
    }
    in_phase_.reserve(phases.size());
    ranges_.reserve(of_.steps_.size());
    find_checkpoints(phases);
    for (const Phase& phase : phases) {
      ++phase_;
      for (const PhaseStep& one : phase.steps) {
        for (const ValueId v : of_.schedule_.steps[one.step].inputs) read_in_[v] = phase_;
      }
      begin_ = now_++;
      end_ = begin_ + phase.steps.size() + 1;
      recalls_ = phase.recalls;
      for (const PhaseStep& one : phase.steps) {
        visit(one, phase.loops);
        ++now_;
      }
      now_ = end_ + 1;
      in_phase_.push_back(std::exchange(own_, {}));
      for (const auto& [value, range] : in_phase_.back()) current_[value] = no_index;
    }
    bytes_ = planner::place_ranges(ranges_);
  }

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  void place_fold(std::uint32_t index, BlockedStep& blocked) const {
    blocked.tree = ranges_[fold_[index]].offset;
    blocked.results = ranges_[fold_[index] + 1].offset;
  }
  void place_checkpoints(std::uint32_t scan, BoundScan& bound) const {
    const bool has = checkpoints_[scan] != no_index;
    bound.checkpoints_at = has ? ranges_[checkpoints_[scan]].offset : BoundScan::no_checkpoints;
  }
  [[nodiscard]] bool is_somewhere(ValueId value) const { return current_[value] != no_index; }
  [[nodiscard]] std::int64_t offset(ValueId value) const { return ranges_[current_[value]].offset; }
  [[nodiscard]] bool in_chunks(ValueId value) const { return !storing_.for_all[value]; }
  /// From now on, places of values that live in one phase are those of this one; called for one phase after the other.
  void enter(std::size_t phase) {
    for (std::size_t k = 0; phase > 0 && k < in_phase_[phase - 1].size(); ++k) {
      current_[in_phase_[phase - 1][k].first] = no_index;
    }
    for (const auto& [value, range] : in_phase_[phase]) current_[value] = range;
  }

 private:
  [[nodiscard]] bool is_placed(ValueId value) const {
    return of_.schedule_.values[value].kind == Value::Kind::intermediate;
  }

  /// Scans of which blocks are run again, or whose messages in real space may not do.
  void find_checkpoints(const std::vector<Phase>& phases) {
    std::vector<bool> again(of_.schedule_.steps.size(), false);
    for (const Phase& phase : phases) {
      for (const PhaseStep& one : phase.steps) again[one.step] = again[one.step] || one.again;
    }
    for (std::size_t s = of_.work_.first; s < again.size(); ++s) {
      const BoundScan* scan = of_.scan_of(s);
      if (scan == nullptr || !(again[s] || scan->is_smoothed())) continue;
      const BoundStep& bound = of_.steps_[s - of_.work_.first];
      const std::int64_t count = bound.in_blocks == no_index ? 1 : of_.bound_.blocked[bound.in_blocks].blocks.count();
      checkpoints_[bound.scan] = static_cast<std::uint32_t>(ranges_.size());
      ranges_.push_back({.first = 0, .last = never, .bytes = base::checked_product(count, scan->checkpoint_bytes())});
    }
  }

  /// Of a scan, whether it writes a value in this phase: not messages that nobody reads here, and totals once.
  [[nodiscard]] bool is_written(const PhaseStep& one, ValueId value) const {
    const auto* scan = of_.schedule_.steps[one.step].as<planner::Scan>();
    if (scan == nullptr) return true;
    if (one.again && !has_dim(of_.schedule_, value, of_.work_.dim)) return false;
    if (value != scan->messages && value != scan->shifts) return true;
    return storing_.for_all[value] || recalls_ || read_in_[value] == phase_;
  }

  void visit(const PhaseStep& one, bool loops) {
    const Step& step = of_.schedule_.steps[one.step];
    const BoundStep& bound = of_.steps_[one.step - of_.work_.first];
    const BlockedStep* blocked = bound.in_blocks == no_index ? nullptr : &of_.bound_.blocked[bound.in_blocks];
    const bool folds = blocked != nullptr && blocked->folds;
    for_each_output(step, [&](ValueId v) {
      if (!is_placed(v) || !is_written(one, v)) return;
      if (one.again && storing_.for_all[v]) return;  // it has been written
      const bool for_all = storing_.for_all[v];
      // A total is written after the last block.
      const bool is_total = blocked != nullptr && !has_dim(of_.schedule_, v, blocked->blocks.dim);
      const std::size_t first = !loops || !for_all ? now_ : is_total ? end_ : begin_;
      if (!accumulates(step)) {
        open(v, first);
      } else {
        use(v, loops);
      }
    });
    if (folds) {
      fold_[bound.in_blocks] = static_cast<std::uint32_t>(ranges_.size());
      open_fold(*blocked, loops);
    }
    for (const ValueId v : step.inputs) {
      if (is_placed(v) && current_[v] != no_index) use(v, loops);
    }
  }

  void open_fold(const BlockedStep& blocked, bool loops) {
    constexpr auto size = static_cast<std::int64_t>(sizeof(double));
    const Fold& fold = blocked.fold;
    ranges_.push_back({.first = loops ? begin_ : now_,
                       .last = fold.keeps_all ? never
                               : loops        ? end_
                                              : now_,
                       .bytes = fold.size() * size});
    const std::int64_t waiting = fold.keeps_all ? 0 : loops ? std::min(storing_.chunk, blocked.group) : blocked.group;
    ranges_.push_back({.first = now_, .last = now_, .bytes = waiting * fold.elements * size});
  }

  void open(ValueId value, std::size_t first) {
    const bool for_all = storing_.for_all[value];
    current_[value] = static_cast<std::uint32_t>(ranges_.size());
    if (!for_all) own_.emplace_back(value, current_[value]);
    ranges_.push_back({.first = first,
                       .last = recalls_ && !for_all ? end_ : never,
                       .bytes = planner::buffer_bytes(of_.schedule_, for_all ? of_.bound_.extents : chunk_extents_,
                                                      of_.element_bytes_, value)});
  }

  void use(ValueId value, bool loops) {
    const bool for_all = storing_.for_all[value];
    if (for_all && of_.is_kept(value)) return;
    ranges_[current_[value]].last = recalls_ || (loops && for_all) ? end_ : now_;
  }

  const Arrangement& of_;
  const Storing& storing_;
  planner::Extents chunk_extents_;
  std::vector<LiveRange> ranges_;
  std::vector<std::uint32_t> current_;      // [value]: its range
  std::vector<std::uint32_t> fold_;         // [blocked step]: of its tree; that of its results follows
  std::vector<std::uint32_t> checkpoints_;  // [scan]: the range
  std::vector<std::size_t> read_in_;        // [value]: the last phase that reads it, counted from 1
  std::size_t phase_ = 0;
  using Own = std::vector<std::pair<ValueId, std::uint32_t>>;
  std::vector<Own> in_phase_;  // values that live in one phase, with their ranges
  Own own_;
  std::size_t now_ = 0, begin_ = 0, end_ = 0;
  bool recalls_ = false;  // the phase does
  std::int64_t bytes_ = 0;
};

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
  Phase all;
  for (std::size_t s = work_.first; s < schedule_.steps.size(); ++s) {
    if (!work_.is_unread(s)) all.steps.push_back({.step = s});
  }
  emit({std::move(all)}, {.for_all = std::vector<bool>(schedule_.values.size(), true)});
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
          add_step({.step = s}, places, true, bound_.recall.read);
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
