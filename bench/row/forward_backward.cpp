// Binds the kernels of one step and runs them along the row.
#include "row/forward_backward.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace bench {
namespace {

using plated::Dtype;
using plated::kernels::Contraction;
using plated::kernels::ContractionShape;
using plated::kernels::Role;
using plated::kernels::WeightedSum;
using plated::kernels::WeightedSumShape;

constexpr std::size_t cache_line = 64;

/// ⊕ over one variable of factor[x, y] ⊗ message: over x with the message of x, or over y with that of y.
Contraction step(std::int64_t n, bool over_x) {
  ContractionShape shape;
  shape.extent = {n, n};
  shape.role = over_x ? std::vector{Role::sum, Role::kept} : std::vector{Role::kept, Role::sum};
  shape.input_stride = {{n, 1}, over_x ? std::vector<std::int64_t>{1, 0} : std::vector<std::int64_t>{0, 1}};
  shape.input_dtype = {Dtype::float32, Dtype::float32};
  shape.output_stride = over_x ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{1, 0};
  shape.output_dtype = Dtype::float32;
  shape.compute_dtype = Dtype::float32;
  return Contraction(shape);
}

Contraction sum_of_vector(std::int64_t n) {
  ContractionShape shape;
  shape.extent = {n};
  shape.role = {Role::sum};
  shape.input_stride = {{1}};
  shape.input_dtype = {Dtype::float32};
  shape.output_stride = {0};
  shape.output_dtype = Dtype::float32;
  shape.compute_dtype = Dtype::float32;
  return Contraction(shape);
}

using Strides = std::vector<std::vector<std::int64_t>>;

WeightedSum weighted(std::vector<std::int64_t> extent, std::vector<bool> summed, const Strides& added,
                     const Strides& subtracted, const Strides& factors, std::vector<std::int64_t> output) {
  WeightedSumShape shape;
  shape.extent = std::move(extent);
  shape.summed = std::move(summed);
  for (const auto& stride : added) shape.added.push_back({stride, Dtype::float32});
  for (const auto& stride : subtracted) shape.subtracted.push_back({stride, Dtype::float32});
  for (const auto& stride : factors) shape.factors.push_back({stride, Dtype::float32});
  shape.output_stride = std::move(output);
  shape.output_dtype = Dtype::float32;
  shape.compute_dtype = Dtype::float32;
  return WeightedSum(shape);
}

}  // namespace

void ForwardBackward::Free::operator()(std::byte* memory) const {
  ::operator delete (memory, std::align_val_t{cache_line});
}

ForwardBackward::ForwardBackward(const Chain& chain)
    : chain_(chain),
      forward_step_(step(chain.domain, true)),
      backward_step_(step(chain.domain, false)),
      total_(sum_of_vector(chain.domain)),
      meet_(weighted({chain.domain, chain.domain}, {false, false}, {{chain.domain, 1}, {1, 0}, {0, 1}}, {{0, 0}}, {},
                     {chain.domain, 1})),
      last_marginal_(weighted({chain.domain}, {false}, {{1}}, {{0}}, {}, {1})),
      joint_(weighted({chain.domain, chain.domain}, {false, false}, {{chain.domain, 1}, {1, 0}}, {{0, 1}}, {{0, 1}},
                      {chain.domain, 1})),
      marginal_(weighted({chain.domain, chain.domain}, {false, true}, {}, {}, {{chain.domain, 1}}, {1, 0})),
      forward_(static_cast<std::size_t>(chain.length * chain.domain)),
      backward_(static_cast<std::size_t>(chain.length * chain.domain)) {
  std::size_t task = 1;
  std::size_t shared = 1;
  const auto fit = [&](const auto& kernel) {
    task = std::max(task, kernel.task_scratch_bytes());
    shared = std::max(shared, kernel.shared_scratch_bytes());
  };
  for (const auto* kernel : {&forward_step_, &backward_step_, &total_}) fit(*kernel);
  for (const auto* kernel : {&meet_, &last_marginal_, &joint_, &marginal_}) fit(*kernel);
  task_scratch_.reset(static_cast<std::byte*>(::operator new (task, std::align_val_t{cache_line})));
  shared_scratch_.reset(static_cast<std::byte*>(::operator new (shared, std::align_val_t{cache_line})));
}

template <class Kernel>
void ForwardBackward::run(const Kernel& kernel, std::initializer_list<const void*> inputs, void* output) {
  for (std::int64_t task = 0; task < kernel.tasks(); ++task) {
    kernel.run_task(task, {inputs.begin(), inputs.size()}, output, task_scratch_.get(), shared_scratch_.get());
  }
  kernel.finish(output, shared_scratch_.get());
}

float ForwardBackward::sweep_forward() {
  std::fill_n(forward(0), chain_.domain, 0.0f);
  for (std::int64_t t = 0; t + 1 < chain_.length; ++t) {
    run(forward_step_, {chain_.entries(t), forward(t)}, forward(t + 1));
  }
  float log_total = 0;
  run(total_, {forward(chain_.length - 1)}, &log_total);
  return log_total;
}

double ForwardBackward::by_messages(const std::vector<plated::Tensor>& gradients) {
  const float log_total = sweep_forward();
  std::fill_n(backward(chain_.length - 1), chain_.domain, 0.0f);
  for (std::int64_t t = chain_.length - 2; t >= 0; --t) {
    void* gradient = gradients[static_cast<std::size_t>(t)].mutable_data();
    run(meet_, {chain_.entries(t), forward(t), backward(t + 1), &log_total}, gradient);
    run(backward_step_, {chain_.entries(t), backward(t + 1)}, backward(t));
  }
  return static_cast<double>(log_total);
}

double ForwardBackward::by_marginals(const std::vector<plated::Tensor>& gradients) {
  const float log_total = sweep_forward();
  const std::int64_t last = chain_.length - 1;
  run(last_marginal_, {forward(last), &log_total}, backward(last));
  for (std::int64_t t = last - 1; t >= 0; --t) {
    void* gradient = gradients[static_cast<std::size_t>(t)].mutable_data();
    run(joint_, {chain_.entries(t), forward(t), forward(t + 1), backward(t + 1)}, gradient);
    run(marginal_, {gradient}, backward(t));
  }
  return static_cast<double>(log_total);
}

}  // namespace bench
