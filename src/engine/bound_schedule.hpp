// A schedule bound to memory: kernels, addresses and blocks of each step, ready to run repeatedly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/blocking.hpp"
#include "engine/fold.hpp"
#include "engine/kernel.hpp"
#include "planner/schedule.hpp"
#include "plated/tensor.hpp"

namespace plated::engine {

/// Where a value lies: in an operand, in an output, in the run's arena, or in the memory of a kept run.
class Place {
 public:
  enum class Space : std::uint8_t { operand, output, arena, kept };

  Place() = default;
  /// `at`: the operand's or output's index, or the offset in bytes. A value that is stored `in_chunks` has room for the
  /// blocks that its loop runs at a time.
  Place(Space space, std::int64_t at, bool in_chunks = false)
      : bits_(static_cast<std::uint64_t>(at) << 3 | (in_chunks ? 4U : 0U) | static_cast<std::uint64_t>(space)) {}

  /// Of what nobody reads.
  [[nodiscard]] static Place nowhere() {
    Place place;
    place.bits_ = ~std::uint64_t{0};
    return place;
  }

  [[nodiscard]] bool is_nowhere() const { return bits_ == ~std::uint64_t{0}; }
  [[nodiscard]] Space space() const { return static_cast<Space>(bits_ & 3); }
  [[nodiscard]] bool in_chunks() const { return (bits_ & 4) != 0; }
  [[nodiscard]] std::size_t at() const { return bits_ >> 3; }

 private:
  std::uint64_t bits_ = 0;  // in one word: there are several for each step
};

inline constexpr std::uint32_t no_index = std::numeric_limits<std::uint32_t>::max();

/// The schedule of a network may have a million of these.
struct BoundStep {
  std::uint32_t kernel = 0;       // in BoundSchedule::kernels: of the whole step, or of a block
  std::uint32_t first_place = 0;  // in BoundSchedule::places: the inputs, then the output
  std::uint32_t inputs = 0;
  std::uint32_t in_blocks = no_index;  // in BoundSchedule::blocked
  std::uint32_t scan = no_index;       // in BoundSchedule::scans
  std::uint32_t looks_at = no_index;   // the operand, all of which its kernel looks at
  std::uint32_t shows = no_index;      // the output that is finite, where operands are, unless its tasks say otherwise
  bool again = false;                  // from checkpoints
  double flops = 0;
};

/// A step that is run block by block. Its kernel writes blocks of the output, or the results that a fold combines.
struct BlockedStep {
  Blocks blocks;
  bool descends = false;              // results are folded from the last block to the first
  std::uint32_t last_kernel = 0;      // of the last block, which may be smaller
  std::vector<std::int64_t> advance;  // [input, then the outputs]: bytes from one block to the next
  bool folds = false;
  Fold fold;
  std::uint32_t delivery = no_index;  // the kernel that writes the total
  std::int64_t group = 1;             // blocks whose results are formed before they are folded
  std::int64_t results = 0;           // where these are in the arena
  std::int64_t tree = 0;              // and where the fold's doubles are
};

struct BoundScan;

/// Steps that are run together for `chunk` blocks, then for the next ones.
struct BoundLoop {
  std::size_t first = 0;
  std::size_t last = 0;
  Blocks blocks;
  std::int64_t chunk = 1;
  bool descends = false;
};

/// How values are read after a run that is cut, block by block: where it is not cut, there are no steps.
struct BoundRecall {
  std::vector<BoundStep> steps;  // compute what is not stored
  std::int64_t chunk = 1;        // so many blocks at a time
  std::vector<BoundStep> read;   // [step of the schedule]: where the inputs of those that sum lie then
};

struct BoundSchedule {
  planner::Extents extents;
  std::vector<Kernel> kernels;  // steps of equal shapes share one
  /// Those that are run, in order: all steps of the schedule, or those after the kept ones. With loops, a step may be
  /// there several times.
  std::vector<BoundStep> steps;
  std::vector<Place> places;
  std::vector<BlockedStep> blocked;
  std::vector<std::shared_ptr<BoundScan>> scans;
  std::vector<BoundLoop> loops;  // ascending
  std::optional<Blocks> blocks;  // of the run: some values are stored block after block
  BoundRecall recall;
  /// Outputs that the steps do not write, or not everywhere: answers about operands that are not used, or that have
  /// diagonals. They are set to zero first.
  std::vector<std::size_t> cleared;
  std::size_t outputs = 0;  // of the schedule
  /// [operand]: a step has it as its only input, reads all of it and looks at its entries.
  std::vector<bool> looked_at;
  /// [operand]: where it holds NaN or an infinity, so does an output.
  std::vector<bool> shown;
  std::int64_t arena_bytes = 0;
  std::size_t task_scratch_bytes = 0;  // for each worker; both in whole cache lines
  std::size_t shared_scratch_bytes = 0;
  double flops = 0;

  [[nodiscard]] std::span<const Place> inputs(const BoundStep& step) const {
    return std::span(places).subspan(step.first_place, step.inputs);
  }
  /// A step whose inputs are read after the run.
  [[nodiscard]] const BoundStep& read(std::size_t step) const {
    return recall.read.empty() ? steps[step] : recall.read[step];
  }
  [[nodiscard]] const Place& output(const BoundStep& step) const { return places[step.first_place + step.inputs]; }
  /// Memory that a run needs besides its outputs.
  [[nodiscard]] std::int64_t bytes(int threads) const;
};

/// The element type of a run: the widest of the operands', observed states apart; float64 without any.
[[nodiscard]] Dtype element_dtype(std::span<const Tensor> operands);

struct BindOptions {
  Semiring semiring = Semiring::log;
  /// The binding of a kept run of the schedule's forward steps: they are not bound again, and the first outputs are
  /// those of the kept run.
  const BoundSchedule* kept = nullptr;
  /// For a kept run: single blocks of its steps can be computed again.
  bool updatable = false;
  /// Inputs of steps that sum are read after the run: they are kept, or recalled block by block.
  bool recalls = false;
  /// Memory that the run may take on so many threads; what needs more is cut into loops as far as that is possible.
  /// 0: any.
  std::int64_t limit = 0;  // without outputs
  int threads = 1;
  /// The type of intermediates; by default the widest of the factors'.
  std::optional<Dtype> element = std::nullopt;
};

/// Outputs and operands agree with the extents.
[[nodiscard]] BoundSchedule bind(const planner::Schedule& schedule, const planner::Extents& extents,
                                 std::span<const Tensor> outputs, std::span<const Tensor> operands,
                                 const BindOptions& options);

}  // namespace plated::engine
