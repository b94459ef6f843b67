// Predicts the memory and the loops of a run of contiguous operands, without running it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/bound_schedule.hpp"

namespace plated::engine {

struct Prediction {
  std::int64_t bytes = 0;  // the workspace, outputs that the run allocates, and what is held beside it
  std::string loops;       // one line; empty where each step runs once
};

struct PredictOptions {
  Semiring semiring = Semiring::log;
  Dtype dtype = Dtype::float32;
  bool recalls = false;  // as in Settings
  int threads = 1;
  std::int64_t memory_limit = 0;
  std::int64_t beside = 0;  // bytes that count besides the workspace and outputs
  /// Of the operands that a question brings along, so many are one number each: cotangents that nobody gave.
  std::size_t constants = 0;
};

[[nodiscard]] Prediction predict(const planner::Schedule& schedule, const planner::Extents& extents,
                                 const PredictOptions& options);

}  // namespace plated::engine
