// Runs bound steps: their kernels' tasks on several threads, as a whole or block by block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/run.hpp"

namespace plated::engine {

struct ScanRange;

class StepRunner {
 public:
  /// As in Settings.
  struct Looks {
    const Unseen* unseen = nullptr;
    std::vector<bool>* finite = nullptr;
  };

  StepRunner(Workspace& workspace, std::span<void* const> outputs, std::span<const void* const> operands, int threads,
             const std::byte* kept = nullptr, Looks looks = {nullptr, nullptr})
      : workspace_(workspace), outputs_(outputs), operands_(operands), threads_(threads), kept_(kept), looks_(looks) {}

  void run(const BoundStep& step) const;

  /// Before a loop runs its first block.
  void begin(const BoundStep& step) const;
  /// Blocks first … last − 1 of a step in a loop that has room for these, in order from one call to the next. Results
  /// that are multiplied or added up go into a fold.
  void run_blocks(const BoundStep& step, std::int64_t first, std::int64_t last) const;
  /// Writes the total of all blocks, if the step has one.
  void deliver(const BoundStep& step) const;

  /// Computes blocks of a kept run's step again, and what they are folded into.
  void update(const BoundStep& step, std::int64_t first, std::int64_t last) const {
    (void)run_again(step, first, last);
  }

 private:
  /// These return what their tasks have seen (Kernel::looks_at_input and vouches_beside).
  double run_whole(const BoundStep& step) const;
  double run_again(const BoundStep& step, std::int64_t first, std::int64_t last) const;
  double run_tasks(const Kernel& kernel, std::span<const void* const> inputs, void* output) const;
  /// Blocks whose values lie where the places say, counted from `origin` where they are stored in chunks. Results that
  /// are folded go to `results`, one after the other.
  double run_range(const BoundStep& step, std::int64_t first, std::int64_t last, std::int64_t origin,
                   double* results) const;
  double fold_range(const BoundStep& step, std::int64_t first, std::int64_t last, std::int64_t origin) const;
  /// Blocks of a scan, from the first or the last one on as its messages go.
  void run_ranges(const BoundStep& step, std::int64_t first, std::int64_t last) const;
  /// Tells a scan where one of its blocks lies; what is in chunks begins with the block `origin`.
  [[nodiscard]] ScanRange aim(const BoundStep& step, std::int64_t block, std::int64_t origin) const;
  [[nodiscard]] const void* read(const Place& place) const;
  [[nodiscard]] void* write(const Place& place) const;
  [[nodiscard]] std::byte* task_scratch(int worker) const;
  [[nodiscard]] double* tree(const BlockedStep& blocked) const;
  void deliver(const BoundStep& step, const double* total) const;

  Workspace& workspace_;
  std::span<void* const> outputs_;
  std::span<const void* const> operands_;
  int threads_;
  const std::byte* kept_;
  Looks looks_;
};

}  // namespace plated::engine
