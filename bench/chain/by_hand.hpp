// Forward and forward–backward written by hand on Plated's kernels: no graph, no plan.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

#include "chain/hidden_markov.hpp"
#include "kernels/contraction.hpp"
#include "kernels/scan.hpp"
#include "kernels/weighted_sum.hpp"

namespace bench {

/// Kernels are bound once; messages and scratch are allocated once. The transition is exponentiated in every call, for
/// it is data.
class ByHand {
 public:
  explicit ByHand(const HiddenMarkov& model);

  /// log Z, without keeping a message.
  double value();
  /// log Z, and its derivatives by prior, transition and emissions into `gradients`: messages forward, all kept; then
  /// messages backward, a block of slices at a time, and what meets there while it is in the cache.
  double gradient(const std::vector<plated::Tensor>& gradients);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  using Memory = std::unique_ptr<std::byte, Free>;

  /// What is done with a block of `slices`. Rows are (slice, sequence).
  struct Block {
    Block(const HiddenMarkov& model, std::int64_t count);
    std::int64_t slices;
    plated::kernels::WeightedSum joint;        // exp(α' + β): the state after a slice, not normalised
    plated::kernels::Contraction totals;       // its sum over the states
    plated::kernels::WeightedSum normalised;   // joint / total
    plated::kernels::WeightedSum left;         // exp(α): the state before, as the forward messages have it
    plated::kernels::WeightedSum right;        // exp(emission + β − scale) / total
    plated::kernels::Contraction pair_counts;  // Σ over rows of left ⊗ right
  };

  [[nodiscard]] double sweep_forward(bool keeps);
  void answer(const Block& block, std::int64_t first, const plated::Tensor& gradient);
  void finish(const std::vector<plated::Tensor>& gradients) const;
  template <class Kernel>
  void run(const Kernel& kernel, std::initializer_list<const void*> inputs, void* output);
  [[nodiscard]] float* forward(std::int64_t state) { return forward_.data() + state * width_; }

  const HiddenMarkov& model_;
  std::int64_t width_;                    // of a message of all sequences
  std::vector<std::int64_t> row_offset_;  // of each sequence's emissions
  Block block_;
  std::optional<Block> rest_;  // of the last slices, where blocks do not divide the length
  std::vector<float> message_;
  std::vector<double> offset_;
  std::vector<float> forward_;          // [state, sequence, a], 0 … length
  std::vector<double> forward_offset_;  // [state, sequence]
  std::vector<float> backward_;         // [state of a block, sequence, a]
  std::vector<float> joint_, left_, right_, totals_, scales_, pairs_;
  std::vector<double> pair_counts_;
  Memory task_scratch_, shared_scratch_, scan_scratch_;
};

}  // namespace bench
