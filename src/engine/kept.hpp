// The run of a forward schedule whose values are kept: questions start from them, and changed operands need little
// work.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/run.hpp"
#include "engine/slice.hpp"
#include "planner/schedule.hpp"

namespace plated::engine {

class Kept {
 public:
  /// Runs a schedule that was planned with keep_sums and does not reuse buffers; it must outlive this object. Outputs
  /// without data are allocated. Throws MemoryLimitError before it allocates anything.
  Kept(const planner::Schedule& forward, planner::Extents extents, std::vector<Tensor> outputs,
       std::vector<Tensor> operands, Settings settings);
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  [[nodiscard]] const std::vector<Tensor>& outputs() const { return outputs_; }
  [[nodiscard]] const std::vector<Tensor>& operands() const { return operands_; }
  [[nodiscard]] const planner::Extents& extents() const { return extents_; }
  /// The memory that values and outputs take.
  [[nodiscard]] std::int64_t bytes() const;
  /// The binding and the values, for backtraces.
  [[nodiscard]] const Workspace& workspace() const { return workspace_; }

  /// Computes again what depends on entries of an operand that have been changed in place: those that are in all of
  /// the slices, or all entries. Values and outputs then have the bits of a new run. A change of one slice of M takes
  /// O(log M) where nothing else depends on it than products over the plate. If it is cancelled, values are undefined.
  void update(std::size_t operand, std::span<const Slice> slices);

 private:
  const planner::Schedule& forward_;
  planner::Extents extents_;
  std::vector<Tensor> operands_;
  int threads_;
  Workspace workspace_;
  std::vector<Tensor> outputs_;
};

}  // namespace plated::engine
