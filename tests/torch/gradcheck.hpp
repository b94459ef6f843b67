// Compares derivatives of autograd with finite differences: libtorch has no gradcheck of its own.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>
#include <vector>

namespace plated::torch {

using Inputs = std::vector<at::Tensor>;
using Differentiable = std::function<at::Tensor(const Inputs&)>;

/// Leaves of float64 with the same entries.
inline Inputs leaves(const Inputs& inputs) {
  Inputs result;
  for (const at::Tensor& input : inputs) {
    result.push_back(input.detach().to(at::kDouble).clone(at::MemoryFormat::Contiguous).requires_grad_());
  }
  return result;
}

/// The gradient of a function's weighted sum by each input.
inline Inputs gradients(const Differentiable& function, const Inputs& inputs, const at::Tensor& weights, bool graph) {
  const at::Tensor value = (function(inputs) * weights).sum();
  return ::torch::autograd::grad({value}, inputs, {}, graph, graph, true);
}

/// Expects the derivative of `function` by every entry of its inputs to be that of central differences.
inline void expect_gradients(const Differentiable& function, const Inputs& given, double tolerance = 1e-6) {
  const Inputs inputs = leaves(given);
  const at::Tensor shape = function(inputs).detach();
  const at::Tensor weights = at::linspace(0.5, 1.5, shape.numel(), at::kDouble).reshape(shape.sizes());
  const Inputs found = gradients(function, inputs, weights, false);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const at::Tensor flat = inputs[k].detach().view(-1);
    const at::Tensor expected = at::zeros_like(flat);
    for (std::int64_t e = 0; e < flat.numel(); ++e) {
      const double before = flat[e].item<double>();
      const double step = 1e-5;
      const c10::NoGradGuard no_grad;
      flat[e] = before + step;
      const double up = (function(inputs) * weights).sum().item<double>();
      flat[e] = before - step;
      const double down = (function(inputs) * weights).sum().item<double>();
      flat[e] = before;
      expected[e] = (up - down) / (2 * step);
    }
    const at::Tensor got = found[k].defined() ? found[k].reshape(-1) : at::zeros_like(flat);
    EXPECT_TRUE(at::allclose(got, expected, tolerance, tolerance)) << "input " << k << "\n"
                                                                   << got << "\nnot\n"
                                                                   << expected;
  }
}

/// The same of the second derivatives: of the gradients' weighted sum.
inline void expect_second_gradients(const Differentiable& function, const Inputs& given, double tolerance = 1e-6) {
  const Inputs fixed = leaves(given);
  const at::Tensor shape = function(fixed).detach();
  const at::Tensor weights = at::linspace(0.5, 1.5, shape.numel(), at::kDouble).reshape(shape.sizes());
  const Differentiable of_gradients = [&](const Inputs& inputs) {
    const c10::AutoGradMode differentiating(true);
    at::Tensor sum = at::zeros({}, at::kDouble);
    std::int64_t k = 1;
    for (const at::Tensor& gradient : gradients(function, inputs, weights, true)) {
      if (gradient.defined())
        sum = sum +
              (gradient * at::linspace(0.2, 1.0, gradient.numel(), at::kDouble).reshape(gradient.sizes()) * k++).sum();
    }
    return sum;
  };
  expect_gradients(of_gradients, given, tolerance);
}

}  // namespace plated::torch
