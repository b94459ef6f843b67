// A step as the backtrace sees it: rows of states to choose from, one for each slice and each state of kept variables.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "adjoint/backtrace_walk.hpp"
#include "engine/run.hpp"
#include "kernels/choose.hpp"
#include "planner/schedule.hpp"

namespace plated::adjoint {

struct ChoiceStep {
  /// What is chosen: the tuple of these, the first most significant.
  std::vector<DimId> variables;
  std::vector<std::int64_t> extent;
  std::int64_t states = 1;

  /// What has been chosen and the inputs depend on; together they have kept_states states, the first most significant.
  std::vector<DimId> kept;
  std::vector<std::int64_t> kept_extent;
  std::int64_t kept_states = 1;

  /// In the order in which the forward kernel combines them, so that results round alike.
  struct Input {
    const void* data = nullptr;
    Dtype dtype = Dtype::float32;
    std::vector<std::int64_t> kept_stride;   // [kept]
    std::vector<std::int64_t> state_stride;  // [variable]
  };
  std::vector<Input> inputs;
  Dtype compute = Dtype::float32;
  kernels::ChooseCombine combine = kernels::ChooseCombine::add;
  bool largest = true;

  /// Slices along batch dims and plates; along tied ones no input changes. Offsets: the slice's number (row-major over
  /// batch dims and the variables' plates), then each input's, then the slice's number for each kept variable.
  SliceWalk carried;
  SliceWalk tied;
  SliceWalk slices;  // both, the tied ones inside
  [[nodiscard]] std::size_t input_offset(std::size_t input) const { return 1 + input; }
  [[nodiscard]] std::size_t kept_offset(std::size_t variable) const { return 1 + inputs.size() + variable; }
};

/// Batch dims, then plates, each in declaration order: the axes of a variable's assignment.
[[nodiscard]] std::vector<DimId> axes_of(const planner::Schedule& schedule, DimId v);

/// A step that sums something as far as it is known without a run: its sizes, and no data.
[[nodiscard]] ChoiceStep sizes_of_choice(const planner::Schedule& schedule, const planner::Step& step,
                                         const planner::Extents& extents);

/// Blocks first … last − 1 of a run that is bound in blocks.
struct BlockRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Whether the variables that a step sums have an entry for each slice of the blocks' dim.
[[nodiscard]] bool chooses_in_blocks(const planner::Schedule& schedule, const planner::Step& step,
                                     const engine::BoundSchedule& bound);

/// Reads a step that sums something, in these blocks if it chooses in blocks. Full blocks are one, a last one that is
/// smaller is another.
[[nodiscard]] std::vector<ChoiceStep> read_choices(const planner::Schedule& schedule, std::size_t step,
                                                   Semiring semiring, std::span<const Tensor> operands,
                                                   const engine::Workspace& workspace, BlockRange range);

}  // namespace plated::adjoint
