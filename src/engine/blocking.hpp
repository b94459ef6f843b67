// Decides which steps are bound in blocks of slices of a plate, batch dim or chain, and how large blocks are.
//
// A block is the smallest piece of a step that is run, stored or recomputed by itself. Blocks depend on shapes alone,
// and so do the bits of a result: neither threads nor memory limits change them.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/layout.hpp"
#include "planner/schedule.hpp"

namespace plated::engine {

/// Intermediates of this many bytes or more are computed in blocks. Tests lower it.
inline std::atomic<std::int64_t> least_blocked_bytes{2 << 20};

/// A step with more inputs is not bound in blocks: pointers to a block's inputs are kept on the stack.
inline constexpr std::size_t most_block_inputs = 32;

/// The slices of a dim in blocks of `size`; the last one may be smaller.
struct Blocks {
  DimId dim = 0;
  std::int64_t extent = 0;
  std::int64_t size = 1;

  [[nodiscard]] std::int64_t count() const { return (extent + size - 1) / size; }
  [[nodiscard]] std::int64_t last() const { return extent - (count() - 1) * size; }
};

/// What a step does with a dim in whose blocks it may be bound.
enum class Along : std::uint8_t {
  none,        ///< does not loop over it
  kept,        ///< blocks of the output are independent
  multiplied,  ///< results of blocks are multiplied
  summed,      ///< results of blocks are added
  carried,     ///< blocks are run one after the other, in the direction of messages along a chain
  whole        ///< needs all slices at once
};
[[nodiscard]] Along along(const planner::Schedule& schedule, const planner::Step& step, DimId dim);

/// The blocks of a run, and the intermediates that are stored block after block: large ones that no step needs whole.
/// Steps that read or write one of these are bound in blocks.
struct Blocking {
  Blocks blocks;
  std::vector<bool> in_blocks;  // [value]

  /// What a step does along the dim, if it is bound in blocks; else none.
  [[nodiscard]] Along along(const planner::Schedule& schedule, const planner::Step& step) const;
};

[[nodiscard]] bool has_dim(const planner::Schedule& schedule, planner::ValueId value, DimId dim);

/// The blocks of a run whose intermediates take `arena_bytes`: along the plate, batch dim or chain that most bytes of
/// intermediates have; of several, along the one that is outermost in the largest operand, or declared first. Values of
/// steps before `first_step` are stored already, as wholes.
[[nodiscard]] std::optional<Blocking> blocking_of_run(const planner::Schedule& schedule,
                                                      const planner::Extents& extents, const Layouts& layouts,
                                                      std::int64_t arena_bytes, std::size_t first_step = 0);

/// The blocks of one step of a kept run, which are recomputed one by one: along the largest plate that it loops over.
[[nodiscard]] std::optional<Blocks> blocks_of_kept_step(const planner::Schedule& schedule,
                                                        const planner::Extents& extents, const planner::Step& step);

}  // namespace plated::engine
