// Forward and forward–backward written by hand on Plated's kernels: no graph, no plan.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hidden_markov.hpp"

namespace bench {

/// Messages and scratch are allocated once. The transition is exponentiated in every call, for it is data.
class ByHand {
 public:
  explicit ByHand(const HiddenMarkov& model);

  /// log Z, without keeping a message.
  double value();
  /// log Z, and its derivatives by prior, transition and emissions into `gradients`: messages forward, all kept; then
  /// masses backward. Throws
  /// std::runtime_error where real space does not hold the messages.
  double gradient(const std::vector<plated::Tensor>& gradients);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };

  [[nodiscard]] double sweep_forward(bool keeps);
  [[nodiscard]] float* forward(std::int64_t state) { return forward_.data() + state * width_; }
  /// Memory for a kernel, which grows to the largest asked for.
  [[nodiscard]] std::byte* scratch(std::size_t bytes);

  const HiddenMarkov& model_;
  std::int64_t width_;                    // of a message of all sequences
  std::vector<std::int64_t> row_offset_;  // of each sequence's emissions
  std::vector<float> message_;
  std::vector<double> offset_;
  std::vector<double> mass_;    // [sequence, a]
  std::vector<float> forward_;  // [state, sequence, a], 0 … length, in real space
  std::unique_ptr<std::byte, Free> scratch_, packed_;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace bench
