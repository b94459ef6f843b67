// A scan bound to memory: its body or the kernel in its place, and where it reads each slice.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/fused_scan.hpp"
#include "engine/fused_smoothing.hpp"
#include "engine/layout.hpp"
#include "engine/run.hpp"
#include "planner/schedule.hpp"

namespace plated::engine {

/// The type of messages along a chain.
[[nodiscard]] Dtype message_dtype(Semiring semiring, Dtype element);

/// Slices of the chain, in memory from the first of them on: a block of the run's, or all.
struct ScanRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t block = 0;
  void* messages = nullptr;  // where those before each slice are kept; null: nobody reads them
  double* shifts = nullptr;
};

/// Where a scan reads its first message.
struct FirstMessage {
  Dtype dtype = Dtype::float64;
  std::vector<std::int64_t> row, state;
  /// A state that a message has under two names, and its strides: only where they agree, the first message is not zero.
  struct Same {
    std::int64_t extent, row, state;
  };
  std::vector<Same> same;
};

/// What a scan gives besides messages: in each slice, or their sum over the slices, which is row-major and in double.
struct ScanAnswer {
  void* data = nullptr;  // of the run
  bool of_slices = false;
  std::int64_t advance = 0;   // bytes from slice to slice
  std::int64_t elements = 0;  // of a slice

  [[nodiscard]] std::byte* slice(std::int64_t at) const { return static_cast<std::byte*>(data) + at * advance; }
  [[nodiscard]] double* total() const { return static_cast<double*>(data); }
};

/// A run goes through ranges of slices in the order of its messages: begin(), run() for each range, finish(). The
/// message in between, and what else the scan carries along, is in its own memory.
struct BoundScan {
  Semiring semiring = Semiring::log;
  Dtype dtype = Dtype::float64;
  bool forward = true;
  bool ragged = false;
  bool keeps = false;  // messages
  bool keeps_shifts = false;
  std::int64_t slices = 0;
  std::int64_t most = 0;    // slices of a range
  std::int64_t rows = 1;    // of a message: all but its states
  std::int64_t states = 1;  // at one end of a slice
  FirstMessage start;
  std::vector<std::int64_t> present;  // [row]: where it finds whether its slices exist
  std::int64_t present_step = 0;      // from slice to slice
  std::vector<std::int64_t> advance;  // [operand of the body]: bytes from slice to slice, but for the message

  std::vector<ScanAnswer> answers;
  std::optional<std::size_t> echo;  // among the inputs

  std::optional<FusedScan> fused;  // in place of the body
  std::optional<FusedSmoothing> smoothing;
  std::vector<Tensor> shapes;  // of the body's operands, then of its outputs, without data
  BindOptions body_options;
  Workspace body;

  // Of the run: the step's inputs, sliced ones from the range's first slice on; and the message before each block of
  // slices, where one is needed again.
  std::vector<const void*> inputs;
  std::int64_t checkpoints_at = no_checkpoints;  // in the run's arena
  std::byte* checkpoints = nullptr;
  static constexpr std::int64_t no_checkpoints = -1;

  [[nodiscard]] std::int64_t message_bytes() const;
  [[nodiscard]] std::int64_t checkpoint_bytes() const;
  /// What it needs besides the run's own arena.
  [[nodiscard]] std::int64_t bytes(int threads) const;
  /// What it holds of it.
  [[nodiscard]] std::int64_t held_bytes() const;
  void take_memory(int threads);

  /// Answers that are sums have their places, and each range gives all others theirs.
  void begin(int threads);
  void run(const ScanRange& range, int threads);
  void finish(double* output);
  /// Writes what belongs to slices of a block that has been run once more, from its checkpoint.
  void run_again(const ScanRange& range, int threads);
  /// Whether it can: answers are written once.
  [[nodiscard]] bool can_run_again() const { return answers.empty(); }

  /// Only this scan, which smooths, reads the other's messages: they are kept in real space.
  void smooths(std::shared_ptr<BoundScan> other);
  /// Whether checkpoints are needed even where nothing is run again.
  [[nodiscard]] bool is_smoothed() const { return in_real_space_; }

 private:
  struct Arrays {
    std::byte* message[2];
    double* shift;
    std::byte* echo;
    std::int64_t* lengths;
    FusedScan::Memory fused;
    FusedSmoothing::Memory smoothing;
    double* shares;  // of a slice in answers that are sums
  };
  [[nodiscard]] Arrays arrays(MemoryLayout& layout, int threads) const;
  [[nodiscard]] std::int64_t table_bytes() const;
  /// A step of the way through a range: its slice, counted from the range's first.
  [[nodiscard]] std::int64_t slice(const ScanRange& range, std::int64_t step) const {
    return forward ? step : range.count - 1 - step;
  }
  [[nodiscard]] std::byte* checkpoint(std::int64_t block) const { return checkpoints + block * checkpoint_bytes(); }
  [[nodiscard]] double* checkpoint_shifts(std::int64_t block) const;
  void write_first(std::byte* message, double* shift) const;
  void find_lengths(std::int64_t* lengths) const;
  void take_shift(std::byte* message) const;
  void keep_shifts(const ScanRange& range, std::int64_t slice) const;
  void restore_absent(std::int64_t slice, Dtype type, const std::byte* before, std::byte* after) const;
  void go(const ScanRange& range, int threads);
  void run_slices(const ScanRange& range, int threads);
  void run_fused(const ScanRange& range, int threads) const;
  [[nodiscard]] std::int64_t echo_bytes() const;

  // Smoothing.
  [[nodiscard]] bool smooth(const ScanRange& range, int threads);
  void trace_again(const ScanRange& range, int threads);

  bool in_real_space_ = false;         // messages that are kept
  std::shared_ptr<BoundScan> traced_;  // whose messages it reads there
  bool smooths_ = false;               // the slices so far
  int turn_ = 0;                       // which of the two is the message
  Arrays own_{};
  std::vector<const void*> operands_;  // of the slice that is running
  std::vector<void*> outputs_;
  std::vector<kernels::PosteriorPlace> places_;  // of masses that are smoothed
  base::GrowingMemory memory_;
};

/// Runs go through so many slices at a time, at most.
[[nodiscard]] std::shared_ptr<BoundScan> bind_scan(const planner::Schedule& schedule, const planner::Extents& extents,
                                                   const planner::Step& step, const Layouts& layouts,
                                                   const BindOptions& options, std::int64_t most_slices);

/// Binds a schedule that has the operands and the outputs of a bound scan's body.
[[nodiscard]] BoundSchedule bind_body(const BoundScan& bound, const planner::Schedule& body,
                                      const planner::Extents& extents);

}  // namespace plated::engine
