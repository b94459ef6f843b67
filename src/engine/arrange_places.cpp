// Finds out when buffers of an arrangement are in use, and places them.
#include "engine/arrange_places.hpp"

#include <algorithm>
#include <limits>

#include "base/checked_size.hpp"

namespace plated::engine {
namespace {

using planner::Step;
using planner::Value;
using planner::ValueId;

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

}  // namespace

Arrangement::Places::Places(const Arrangement& arrangement, const std::vector<Phase>& phases, const Storing& storing)
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

void Arrangement::Places::place_fold(std::uint32_t index, BlockedStep& blocked) const {
  blocked.tree = ranges_[fold_[index]].offset;
  blocked.results = ranges_[fold_[index] + 1].offset;
}

void Arrangement::Places::place_checkpoints(std::uint32_t scan, BoundScan& bound) const {
  const bool has = checkpoints_[scan] != no_index;
  bound.checkpoints_at = has ? ranges_[checkpoints_[scan]].offset : BoundScan::no_checkpoints;
}

void Arrangement::Places::enter(std::size_t phase) {
  for (std::size_t k = 0; phase > 0 && k < in_phase_[phase - 1].size(); ++k) {
    current_[in_phase_[phase - 1][k].first] = no_index;
  }
  for (const auto& [value, range] : in_phase_[phase]) current_[value] = range;
}

bool Arrangement::Places::is_placed(ValueId value) const {
  return of_.schedule_.values[value].kind == Value::Kind::intermediate;
}

void Arrangement::Places::find_checkpoints(const std::vector<Phase>& phases) {
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

bool Arrangement::Places::is_written(const PhaseStep& one, ValueId value) const {
  const auto* scan = of_.schedule_.steps[one.step].as<planner::Scan>();
  if (scan == nullptr) return true;
  if (one.again && !has_dim(of_.schedule_, value, of_.work_.dim)) return false;
  if (value != scan->messages && value != scan->shifts) return true;
  return storing_.for_all[value] || recalls_ || read_in_[value] == phase_;
}

void Arrangement::Places::visit(const PhaseStep& one, bool loops) {
  const Step& step = of_.schedule_.steps[one.step];
  const BoundStep& bound = of_.steps_[one.step - of_.work_.first];
  const BlockedStep* blocked = bound.in_blocks == no_index ? nullptr : &of_.bound_.blocked[bound.in_blocks];
  const bool folds = blocked != nullptr && blocked->folds;
  for_each_output(step, [&](ValueId v) {
    if (!is_placed(v) || !is_written(one, v)) return;
    if (one.again && storing_.for_all[v]) return;  // it has been written
    const bool for_all = storing_.for_all[v];
    // A fold's total is written after the last block.
    const std::size_t first = !loops || !for_all ? now_ : folds ? end_ : begin_;
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

void Arrangement::Places::open_fold(const BlockedStep& blocked, bool loops) {
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

void Arrangement::Places::open(ValueId value, std::size_t first) {
  const bool for_all = storing_.for_all[value];
  current_[value] = static_cast<std::uint32_t>(ranges_.size());
  if (!for_all) own_.emplace_back(value, current_[value]);
  ranges_.push_back({.first = first,
                     .last = recalls_ && !for_all ? end_ : never,
                     .bytes = planner::buffer_bytes(of_.schedule_, for_all ? of_.bound_.extents : chunk_extents_,
                                                    of_.element_bytes_, value)});
}

void Arrangement::Places::use(ValueId value, bool loops) {
  const bool for_all = storing_.for_all[value];
  if (for_all && of_.is_kept(value)) return;
  ranges_[current_[value]].last = recalls_ || (loops && for_all) ? end_ : now_;
}

}  // namespace plated::engine
