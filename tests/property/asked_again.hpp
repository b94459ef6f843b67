// A plan with what questions about it need when they are asked again and again.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "plated/plan.hpp"
#include "property/random_tensor.hpp"

namespace plated::test {

/// A plan with its operands in memory that changes between calls.
struct Asked {
  Asked(const Model& model, int threads)
      : plan(compile(model.graph)), operands(model.operands), workspace(plan), options{.threads = threads} {}

  /// Other numbers in the same memory.
  void change() {
    for (const Tensor& operand : operands) {
      if (operand.dtype() == Dtype::float32) {
        for (float& entry : operand.span<float>()) entry = entry * 0.75F - 0.125F;
      } else {
        for (double& entry : operand.span<double>()) entry = entry * 0.75 - 0.125;
      }
    }
  }

  Plan plan;
  std::vector<Tensor> operands;
  Workspace workspace;
  RunOptions options;
};

inline void expect_same(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t k = 0; k < got.size(); ++k) EXPECT_EQ(got[k], want[k]) << k;
}

}  // namespace plated::test
