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
  /// `bound` has kernels and blocks of the schedule's steps from `first_step` on; `blocking` is that of the run.
  Arrangement(const planner::Schedule& schedule, std::int64_t element_size, std::size_t first_step,
              const BoundSchedule* kept, const std::optional<Blocking>& blocking, BoundSchedule& bound);

  /// Runs each step once.
  void whole();
  /// Runs loops, so that the arena takes as many bytes at most; where that cannot be, as few as it can.
  void cut(std::int64_t bytes);

 private:
  /// Which values are stored for all blocks, and how many blocks of the others.
  struct Storing {
    std::vector<bool> for_all;
    std::int64_t chunk = 1;
  };
  class Places;
  [[nodiscard]] std::int64_t bytes_of(const std::vector<Phase>& phases, const Storing& storing) const;
  void emit(const std::vector<Phase>& phases, const Storing& storing);
  [[nodiscard]] Place place(planner::ValueId value, const Places& places) const;

  const planner::Schedule& schedule_;
  std::int64_t element_size_;
  std::size_t first_step_;
  const BoundSchedule* kept_;
  const std::optional<Blocking>& blocking_;
  BoundSchedule& bound_;
  std::vector<BoundStep> steps_;  // of the schedule, from the first step on
};

}  // namespace plated::engine
