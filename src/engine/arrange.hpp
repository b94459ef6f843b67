// Gives the steps of a binding their order and its values their places: each step once, or in loops that need less
// memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/bound_schedule.hpp"
#include "engine/phases.hpp"
#include "planner/passes.hpp"
#include "planner/schedule.hpp"

namespace plated::engine {

class Arrangement {
 public:
  /// `bound` has kernels and blocks of the schedule's steps from the first one on; `blocking` is that of the run.
  Arrangement(ToArrange work, planner::ElementBytes bytes, const BoundSchedule* kept,
              const std::optional<Blocking>& blocking, BoundSchedule& bound);

  /// Runs each step once.
  void whole();
  /// Runs loops, so that the arena takes as many bytes at most; where that cannot be, as few as it can.
  void cut(std::int64_t bytes);
  /// The same if no step need be repeated for it.
  void cut_if_free(std::int64_t bytes);

 private:
  /// Which values are stored for all blocks, and how many blocks of the others.
  struct Storing {
    std::vector<bool> for_all;
    std::int64_t chunk = 1;
  };
  class Places;
  [[nodiscard]] std::int64_t bytes_of(const std::vector<Phase>& phases, const Storing& storing) const;
  void emit(const std::vector<Phase>& phases, const Storing& storing);
  /// Appends a step with the places of its inputs and, unless it is only read, of its output.
  void add_step(const PhaseStep& step, const Places& places, bool only_read, std::vector<BoundStep>& steps);
  [[nodiscard]] Place place(planner::ValueId value, const Places& places) const;
  /// The scan of a step; null where it is another kind.
  [[nodiscard]] BoundScan* scan_of(std::size_t step) const;
  /// Stores what scans cannot compute again.
  void store_what_is_written_once(Storing& storing) const;
  /// Whether a value is read after the run.
  [[nodiscard]] bool is_kept(planner::ValueId value) const {
    return work_.recalled.empty() ? !schedule_.reuses_buffers : work_.recalled[value];
  }

  ToArrange work_;
  const planner::Schedule& schedule_;
  planner::ElementBytes element_bytes_;
  const BoundSchedule* kept_;
  const std::optional<Blocking>& blocking_;
  BoundSchedule& bound_;
  std::vector<BoundStep> steps_;  // of the schedule, from the first step on
  std::vector<Place> of_kept_;    // [value]: in the memory of the kept run
};

}  // namespace plated::engine
