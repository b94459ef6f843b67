// A step as the backtrace sees it: rows of states to choose from, one for each slice and each state of kept variables.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "adjoint/backtrace_walk.hpp"
#include "engine/run.hpp"
#include "kernels/choose.hpp"
#include "planner/schedule.hpp"

namespace plated::adjoint {

/// A schedule that is traced back.
struct ChoiceScope {
  explicit ChoiceScope(const planner::Schedule& traced, std::optional<DimId> sliced = {});

  const planner::Schedule& schedule;
  /// Of a scan's body: the chain whose slices it is run for.
  std::optional<DimId> chain;
  /// Last messages, and the scans that write them.
  std::map<planner::ValueId, const planner::Scan*> scans;

  /// What the states that a step sums are called. Those of a last message are outside of its chain even where they have
  /// no name of their own: then it is an end_name.
  [[nodiscard]] DimId name_of(const planner::Step& step, DimId variable) const;
};

/// Where its values lie.
struct ChoiceSource {
  ChoiceScope scope;
  const engine::BoundSchedule& bound;
  Semiring semiring = Semiring::log;
  std::vector<const void*> operands = {};
  const std::byte* arena = nullptr;
  std::vector<std::int64_t> advance = {};  // of a body: each operand's bytes from slice to slice
  std::vector<bool> in_chunks = {};        // of a body: whether an operand holds slices from an origin on

  [[nodiscard]] const void* address(const engine::Place& place) const {
    return place.space() == engine::Place::Space::operand ? operands[place.at()]
                                                          : static_cast<const void*>(arena + place.at());
  }
};

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
  /// Of a body's step: from slice to slice of its chain; and those of them that are counted from an origin.
  std::vector<std::int64_t> along_chain;  // [offset]
  std::vector<bool> from_origin;          // [offset]
  void move_to(std::int64_t slice_of_chain, std::int64_t origin) {
    const auto offset = [&](std::size_t o) {
      return along_chain[o] * (slice_of_chain - (from_origin[o] ? origin : 0));
    };
    carried.begin_where(offset);
    slices.begin_where(offset);
  }
  [[nodiscard]] std::size_t input_offset(std::size_t input) const { return 1 + input; }
  [[nodiscard]] std::size_t kept_offset(std::size_t variable) const { return 1 + inputs.size() + variable; }
};

/// A step that sums something as far as it is known without a run: its sizes, and no data.
[[nodiscard]] ChoiceStep sizes_of_choice(const ChoiceScope& scope, const planner::Step& step,
                                         const planner::Extents& extents);

/// Blocks first … last − 1 of a run that is bound in blocks.
struct BlockRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Whether the variables that a step sums have an entry for each slice of the blocks' dim.
[[nodiscard]] bool chooses_in_blocks(const ChoiceScope& scope, const planner::Step& step,
                                     const engine::BoundSchedule& bound);

/// Reads a step that sums something, in these blocks if it chooses in blocks. Full blocks are one, a last one that is
/// smaller is another.
[[nodiscard]] std::vector<ChoiceStep> read_choices(const ChoiceSource& source, std::size_t step, BlockRange range);

}  // namespace plated::adjoint
