// Runs a schedule on operands, in a workspace that its first run allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned_memory.hpp"
#include "engine/bound_schedule.hpp"
#include "engine/signature.hpp"
#include "engine/unseen.hpp"

namespace plated::engine {

/// Memory of a run and the bindings of the last one, kept for the next.
struct Workspace {
  Signature signature;  // of the last binding
  BoundSchedule bound;
  std::vector<const void*> inputs;  // of one step
  std::vector<const void*> operands;
  std::vector<void*> outputs;
  std::vector<Tensor> kept_outputs;  // of a kept run, then those that are written
  base::GrowingMemory arena;
  base::GrowingMemory task_scratch;
  base::GrowingMemory shared_scratch;
  int prepared_threads = 0;  // whose memory was taken for this binding; 0: none's

  [[nodiscard]] std::int64_t bytes() const;
  /// Sizes of the last run, where they hold for every run on operands of the same layouts: none were given by name, and
  /// no other graph had a say.
  planner::Extents extents;
  bool extents_hold = false;
  /// Whether they are those of these operands, which have data.
  [[nodiscard]] bool knows_extents_of(std::span<const Tensor> run_operands) const;
  /// Whether the last run was on these tensors: the same memory, types, shapes and strides.
  [[nodiscard]] bool has_run_on(std::span<const Tensor> run_operands, std::span<const Tensor> run_outputs) const;
};

class Kept;

struct Settings {
  Semiring semiring = Semiring::log;
  /// The sizes of all dims; null: those of the schedule's graph.
  const planner::Extents* extents = nullptr;
  int threads = 1;
  std::int64_t memory_limit = 0;
  /// Bytes that count against the limit besides the workspace: outputs that the caller allocates for this run.
  std::int64_t output_bytes = 0;
  /// The run of the schedule's forward steps, with the same operands and sizes and in the same semiring: these steps
  /// are left out, and their outputs are not written again.
  const Kept* kept = nullptr;
  /// For a kept run: single blocks of its steps can be computed again.
  bool updatable = false;
  /// The operands are known to be laid out as those of the workspace's last run.
  bool same_operands = false;
  /// Inputs of steps that sum are read after the run, from the workspace; see recall().
  bool recalls = false;
  /// What the run is to look at; null: nothing.
  const Unseen* unseen = nullptr;
  /// The caller looks for what is not finite in outputs, and then in what they show of the operands.
  bool outputs_are_searched = false;
  /// Set to which outputs the run has seen to be finite if the operands are, where it is not null: others may be, too.
  std::vector<bool>* finite = nullptr;
};

/// Throws MemoryLimitError where a run needs more bytes than it may take; 0 is no limit.
void check_limit(std::int64_t needed, std::int64_t limit);

/// What run() does first: binds the schedule to strides and takes the memory. The outputs need no data yet.
void prepare(const planner::Schedule& schedule, std::span<const Tensor> outputs, std::span<const Tensor> operands,
             Workspace& workspace, const Settings& settings);

/// The memory that a binding needs on so many threads, as far as the workspace does not hold it yet. Throws
/// std::bad_alloc.
void take_memory(Workspace& workspace, int threads);

/// Operands and outputs must have been checked. Throws MemoryLimitError before it allocates, and CancelledError. Asks
/// and tells the watch of the call between steps, and inside of long ones.
void run(const planner::Schedule& schedule, std::span<const Tensor> outputs, std::span<const Tensor> operands,
         Workspace& workspace, const Settings& settings);

/// After a run that recalls: computes what is read in these blocks, as many as bound.recall.chunk at most. The operands
/// must still be there.
void recall(Workspace& workspace, std::int64_t first, std::int64_t last, int threads);

/// Sets every element to zero, and nothing between them.
void clear(const Tensor& tensor);

/// Runs what the workspace is prepared for on other memory of the same strides. Every output must be written by a step.
void run_prepared(Workspace& workspace, std::span<void* const> outputs, std::span<const void* const> operands,
                  int threads);

}  // namespace plated::engine
