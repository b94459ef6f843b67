// Values and gradients of other operands, for evidence, lengths and weights that stay the same.
#pragma once

#include <memory>

#include "plated/gradient.hpp"
#include "plated/plan.hpp"

namespace plated::api {

/// Prepares evidence, lengths and weights once, which must not change while it lives; asked again, it allocates
/// nothing. All operands have the layout of the first ones. After an exception it must not be asked again.
class RepeatedGradient {
 public:
  /// Throws what value_and_gradient throws.
  RepeatedGradient(const Plan& plan, Tensors operands, const RunOptions& options, GradientOptions gradient);
  RepeatedGradient(RepeatedGradient&&) noexcept;
  RepeatedGradient& operator=(RepeatedGradient&&) noexcept;
  ~RepeatedGradient();

  void ask(Tensors operands, ValueAndGradient& answer);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plated::api
