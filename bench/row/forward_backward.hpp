// Forward–backward written by hand on Plated's kernels: no graph, no plan, one loop each way.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <vector>

#include "kernels/contraction.hpp"
#include "kernels/weighted_sum.hpp"
#include "row/chain.hpp"

namespace bench {

/// Kernels are bound once; messages and scratch are allocated once.
class ForwardBackward {
 public:
  explicit ForwardBackward(const Chain& chain);

  /// log Z, and the posterior of each pair of neighbours into `gradients`: log messages forward and backward, then
  /// exponentials of what meets at each factor.
  double by_messages(const std::vector<plated::Tensor>& gradients);
  /// The same with one pass less: the sweep back multiplies conditional probabilities by the marginal of the variable
  /// after.
  double by_marginals(const std::vector<plated::Tensor>& gradients);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  [[nodiscard]] float* forward(std::int64_t variable) { return forward_.data() + variable * chain_.domain; }
  [[nodiscard]] float* backward(std::int64_t variable) { return backward_.data() + variable * chain_.domain; }
  [[nodiscard]] float sweep_forward();
  template <class Kernel>
  void run(const Kernel& kernel, std::initializer_list<const void*> inputs, void* output);

  const Chain& chain_;
  plated::kernels::Contraction forward_step_;
  plated::kernels::Contraction backward_step_;
  plated::kernels::Contraction total_;
  plated::kernels::WeightedSum meet_;
  plated::kernels::WeightedSum last_marginal_;
  plated::kernels::WeightedSum joint_;
  plated::kernels::WeightedSum marginal_;
  std::vector<float> forward_;   // [variable, state]: log messages, float32 as in a plan without plates
  std::vector<float> backward_;  // likewise: log messages, or marginals
  std::unique_ptr<std::byte, Free> task_scratch_;
  std::unique_ptr<std::byte, Free> shared_scratch_;
};

}  // namespace bench
