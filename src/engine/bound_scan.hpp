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

/// Whether a shift is taken out of each message: where products are sums.
[[nodiscard]] bool takes_shifts(Semiring semiring);
/// The type of messages along a chain.
[[nodiscard]] Dtype message_dtype(Semiring semiring, Dtype element);

/// Where a scan writes.
struct ScanMemory {
  double* output = nullptr;
  void* messages = nullptr;  // before each slice
  double* shifts = nullptr;
};

/// The first message of a scan: a value, or one.
struct FirstMessage {
  bool is_given = false;
  Dtype dtype = Dtype::float64;
  std::vector<std::int64_t> row, state;  // where it is read
  /// A state that a message has under two names: only where they agree, the first message is not zero.
  struct Same {
    std::vector<std::int64_t> row, state;  // its indices
  };
  std::vector<Same> same;
};

/// What a scan gives besides messages: in each slice, or their sum over the slices.
struct ScanAnswer {
  void* data = nullptr;  // of the run
  Dtype dtype = Dtype::float64;
  bool of_slices = false;
  std::int64_t slice_stride = 0;
  std::vector<std::int64_t> extent, stride;  // but for the chain

  /// Writes a sum over the slices, which is row-major.
  void deliver(const double* total) const;
};

struct BoundScan {
  Semiring semiring = Semiring::log;
  Dtype dtype = Dtype::float64;
  bool forward = true;
  bool ragged = false;
  bool keeps = false;  // messages
  bool keeps_shifts = false;
  std::size_t operand = 0;  // of the body, which is the message
  std::int64_t slices = 0;
  std::int64_t rows = 1;    // of a message: all but its states
  std::int64_t states = 1;  // at one end of a slice
  FirstMessage start;
  std::vector<std::int64_t> present;  // [row]: where it finds whether its slices exist
  std::int64_t present_step = 0;      // from slice to slice
  std::vector<std::int64_t> advance;  // [operand of the body but the message]: bytes from slice to slice

  std::vector<ScanAnswer> answers;

  std::optional<FusedScan> fused;  // in place of the body
  std::optional<FusedSmoothing> smoothing;
  std::vector<Tensor> shapes;  // of the body's operands, then of its outputs, without data
  BindOptions body_options;
  Workspace body;

  std::vector<const void*> inputs;    // of the step that is running
  std::vector<const void*> operands;  // of the slice that is running

  [[nodiscard]] std::int64_t message_bytes() const;
  /// What it needs besides the run's own arena.
  [[nodiscard]] std::int64_t bytes(int threads) const;
  /// What it holds of it.
  [[nodiscard]] std::int64_t held_bytes() const;
  void take_memory(int threads);
  void run(const ScanMemory& memory, int threads);
  /// Only this scan, which smooths, reads the other's messages: they are kept in real space.
  void smooths(std::shared_ptr<BoundScan> other);

 private:
  struct Arrays {
    std::byte* message[2];
    double* shift;
    std::int64_t* lengths;
    FusedScan::Memory fused;
    std::byte* first;  // the first message, where those that are kept are in real space
    FusedSmoothing::Memory smoothing;
    double* totals[2];  // of answers that are sums: of a slice, of all
  };
  [[nodiscard]] Arrays arrays(MemoryLayout& layout, int threads) const;
  [[nodiscard]] std::int64_t table_bytes() const;
  [[nodiscard]] std::int64_t slice(std::int64_t step) const { return forward ? step : slices - 1 - step; }
  /// Inputs of the step that are sliced.
  [[nodiscard]] std::span<const void* const> sliced() const {
    return std::span(inputs).subspan((start.is_given ? 1U : 0U) + (ragged ? 1U : 0U));
  }
  void write_first(std::byte* message, double* shift) const;
  void find_lengths(std::int64_t* lengths) const;
  void keep_shifts(const ScanMemory& memory, std::int64_t slice, const double* shift) const;
  void restore_absent(std::int64_t slice, const std::byte* before, std::byte* after) const;
  [[nodiscard]] const std::byte* run_slices(const ScanMemory& memory, const Arrays& own, int threads);
  [[nodiscard]] const std::byte* run_fused(const ScanMemory& memory, const Arrays& own, int threads) const;
  void trace(const kernels::Scan& scan, const ScanMemory& memory, const Arrays& own, bool in_real_space,
             int threads) const;
  /// Writes messages that are kept in real space once more, as numbers.
  void trace_again(void* messages, int threads) const;
  [[nodiscard]] bool run_smoothing(const ScanMemory& memory, const Arrays& own, int threads);
  [[nodiscard]] std::int64_t total_elements() const;

  bool in_real_space_ = false;         // messages that are kept
  std::shared_ptr<BoundScan> traced_;  // whose messages it reads there
  std::vector<void*> outputs_;         // of the slice that is running
  std::vector<void*> places_;          // of masses that are smoothed
  Workspace::Memory memory_;
  std::int64_t memory_bytes_ = 0;
};

[[nodiscard]] std::shared_ptr<BoundScan> bind_scan(const planner::Schedule& schedule, const planner::Extents& extents,
                                                   const planner::Step& step, const Layouts& layouts,
                                                   const BindOptions& options);

/// Binds a schedule that has the operands and the outputs of a bound scan's body.
[[nodiscard]] BoundSchedule bind_body(const BoundScan& bound, const planner::Schedule& body,
                                      const planner::Extents& extents);

}  // namespace plated::engine
