// Predicts the cost of running a plan from sizes alone.
#pragma once

#include <cstdint>

namespace plated {

/// Predicted cost of one run. Counts are doubles because they may exceed 2^63.
struct Cost {
  double flops = 0;             ///< semiring additions and multiplications
  double exps = 0;              ///< exponentials and logarithms; 0 outside the log semiring
  double bytes_read = 0;        ///< operands and intermediates, each step's inputs once
  double bytes_written = 0;     ///< intermediates and outputs
  std::int64_t peak_bytes = 0;  ///< memory for intermediates; operands, outputs and per-thread scratch are extra
  /// What memory limits are held against: intermediates, scratch at the default number of threads, and outputs that the
  /// run allocates, for contiguous operands; of samples, for one. Tables of kernels, which do not grow with sizes, are
  /// not counted. 0 for graphs with chains.
  std::int64_t run_bytes = 0;
  double sequential = 0;  ///< flops of one slice of everything: T of [TVE] Thm. 3
  double span = 0;        ///< parallel depth: T plus ⌈log2 M(b)⌉ for each plate b that a step multiplies over
};

/// The cost of one run after another: the memory of the first is free for the second.
Cost& operator+=(Cost& sum, const Cost& next);

}  // namespace plated
