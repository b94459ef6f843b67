// Where the values of an arrangement lie in the run's arena.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/arrange.hpp"
#include "engine/bound_scan.hpp"

namespace plated::engine {

/// When buffers are in use: positions are those of the phases' steps, with one before and one after each phase's.
class Arrangement::Places {
 public:
  Places(const Arrangement& arrangement, const std::vector<Phase>& phases, const Storing& storing);

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  void place_fold(std::uint32_t index, BlockedStep& blocked) const;
  void place_checkpoints(std::uint32_t scan, BoundScan& bound) const;
  [[nodiscard]] bool is_somewhere(planner::ValueId value) const { return current_[value] != no_index; }
  [[nodiscard]] std::int64_t offset(planner::ValueId value) const { return ranges_[current_[value]].offset; }
  [[nodiscard]] bool in_chunks(planner::ValueId value) const { return !storing_.for_all[value]; }
  /// From now on, places of values that live in one phase are those of this one; called for one phase after the other.
  void enter(std::size_t phase);

 private:
  [[nodiscard]] bool is_placed(planner::ValueId value) const;

  /// Scans of which blocks are run again, or whose messages in real space may not do.
  void find_checkpoints(const std::vector<Phase>& phases);

  /// Of a scan, whether it writes a value in this phase: not messages that nobody reads here, and totals once.
  [[nodiscard]] bool is_written(const PhaseStep& one, planner::ValueId value) const;

  void visit(const PhaseStep& one, bool loops);
  void open_fold(const BlockedStep& blocked, bool loops);
  void open(planner::ValueId value, std::size_t first);
  void use(planner::ValueId value, bool loops);

  const Arrangement& of_;
  const Storing& storing_;
  planner::Extents chunk_extents_;
  std::vector<planner::LiveRange> ranges_;
  std::vector<std::uint32_t> current_;      // [value]: its range
  std::vector<std::uint32_t> fold_;         // [blocked step]: of its tree; that of its results follows
  std::vector<std::uint32_t> checkpoints_;  // [scan]: the range
  std::vector<std::size_t> read_in_;        // [value]: the last phase that reads it, counted from 1
  std::size_t phase_ = 0;
  using Own = std::vector<std::pair<planner::ValueId, std::uint32_t>>;
  std::vector<Own> in_phase_;  // values that live in one phase, with their ranges
  Own own_;
  std::size_t now_ = 0, begin_ = 0, end_ = 0;
  bool recalls_ = false;  // the phase does
  std::int64_t bytes_ = 0;
};

}  // namespace plated::engine
