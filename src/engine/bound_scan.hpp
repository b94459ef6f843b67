// A scan bound to memory: its body, and where it reads each slice.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

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

struct BoundScan {
  Semiring semiring = Semiring::log;
  Dtype dtype = Dtype::float64;
  bool forward = true;
  bool starts = false;
  bool ragged = false;
  bool keeps = false;  // messages
  bool keeps_shifts = false;
  std::size_t operand = 0;  // of the body, which is the message
  std::int64_t slices = 0;
  std::int64_t rows = 1;             // of a message: all but its states
  std::int64_t states = 1;           // at one end of a slice
  std::vector<std::int64_t> extent;  // of the message's axes

  std::vector<std::int64_t> start_stride;  // [axis of a message]
  Dtype start_dtype = Dtype::float64;
  /// Axes of a message that name the same state: only where they agree the first message is one.
  std::vector<std::pair<std::size_t, std::size_t>> same;
  std::vector<std::int64_t> present;  // [row]: where it finds whether its slices exist
  std::int64_t present_step = 0;      // from slice to slice
  std::vector<std::int64_t> advance;  // [operand of the body but the message]: bytes from slice to slice

  std::vector<Tensor> shapes;  // of the body's operands, then of its output, without data
  BindOptions body_options;
  Workspace body;
  std::vector<std::byte> message[2];
  std::vector<double> shift;  // [row]

  std::vector<const void*> inputs;    // of the step that is running
  std::vector<const void*> operands;  // of the slice that is running

  [[nodiscard]] std::int64_t message_bytes() const;
  /// What it needs besides the run's own arena.
  [[nodiscard]] std::int64_t bytes(int threads) const;
  void take_memory(int threads);
  void run(const ScanMemory& memory, int threads);

 private:
  void first_message();
  void keep(const ScanMemory& memory, std::int64_t slice) const;
  void restore_absent(std::int64_t slice, const std::byte* before, std::byte* after) const;
};

[[nodiscard]] std::shared_ptr<BoundScan> bind_scan(const planner::Extents& extents, const planner::Step& step,
                                                   const Layouts& layouts, const BindOptions& options);

/// Binds a schedule that has the operands and the output of a bound scan's body.
[[nodiscard]] BoundSchedule bind_body(const BoundScan& bound, const planner::Schedule& body,
                                      const planner::Extents& extents);

}  // namespace plated::engine
