// The kernels that only sweeps run: weighted sums, logarithms of masses, scatters.
#include <algorithm>
#include <utility>

#include "base/overloaded.hpp"
#include "engine/elements_per_task.hpp"
#include "engine/kernel.hpp"

namespace plated::engine {
namespace {

template <class Shape>
bool is(const Shape& own, const KernelShape& shape) {
  const auto* other = std::get_if<Shape>(&shape);
  return other != nullptr && own == *other;
}

class WeightedSums final : public SweepKernel {
 public:
  explicit WeightedSums(kernels::WeightedSumShape&& shape) : kernel_(std::move(shape)) {}
  [[nodiscard]] bool has_shape(const KernelShape& shape) const override { return is(kernel_.shape(), shape); }
  [[nodiscard]] std::int64_t tasks() const override { return kernel_.tasks(); }
  [[nodiscard]] std::size_t task_scratch_bytes() const override { return kernel_.task_scratch_bytes(); }
  [[nodiscard]] std::size_t shared_scratch_bytes() const override { return kernel_.shared_scratch_bytes(); }
  [[nodiscard]] std::optional<std::size_t> vouches_beside() const override { return kernel_.vouches_beside(); }
  double run_task(std::int64_t task, std::span<const void* const> inputs, void* output, std::byte* task_scratch,
                  std::byte* shared_scratch) const noexcept override {
    return kernel_.run_task(task, inputs, output, task_scratch, shared_scratch);
  }
  void finish(void* output, std::byte* shared_scratch) const noexcept override {
    kernel_.finish(output, shared_scratch);
  }

 private:
  kernels::WeightedSum kernel_;
};

class LogMasses final : public SweepKernel {
 public:
  explicit LogMasses(kernels::LogMassShape&& shape) : shape_(std::move(shape)), rows_(kernels::in_long_rows(shape_)) {}
  [[nodiscard]] bool has_shape(const KernelShape& shape) const override { return is(shape_, shape); }
  [[nodiscard]] std::int64_t tasks() const override { return pieces(shape_.elements(), elements_per_task); }
  double run_task(std::int64_t task, std::span<const void* const> inputs, void* output, std::byte*,
                  std::byte*) const noexcept override {
    const std::int64_t first = task * elements_per_task;
    kernels::log_mass(rows_, static_cast<const double*>(inputs[0]), inputs.size() > 1 ? inputs[1] : nullptr, output,
                      first, std::min(shape_.elements(), first + elements_per_task));
    return 0;
  }

 private:
  kernels::LogMassShape shape_;
  kernels::LogMassShape rows_;  // the same elements, as they are computed
};

class Scatters final : public SweepKernel {
 public:
  explicit Scatters(kernels::ScatterShape&& shape) : kernel_(std::move(shape)) {}
  [[nodiscard]] bool has_shape(const KernelShape& shape) const override { return is(kernel_.shape(), shape); }
  [[nodiscard]] std::int64_t tasks() const override { return kernel_.tasks(); }
  [[nodiscard]] std::size_t task_scratch_bytes() const override { return kernel_.task_scratch_bytes(); }
  double run_task(std::int64_t task, std::span<const void* const> inputs, void* output, std::byte* task_scratch,
                  std::byte*) const noexcept override {
    kernel_.run_task(task, inputs, static_cast<double*>(output), task_scratch);
    return 0;
  }

 private:
  kernels::Scatter kernel_;
};

std::unique_ptr<const SweepKernel> make(KernelShape& shape) {
  using Made = std::unique_ptr<const SweepKernel>;
  return std::visit(
      base::Overloaded{
          [](kernels::WeightedSumShape& s) -> Made { return std::make_unique<WeightedSums>(std::move(s)); },
          [](kernels::LogMassShape& s) -> Made { return std::make_unique<LogMasses>(std::move(s)); },
          [](kernels::ScatterShape& s) -> Made { return std::make_unique<Scatters>(std::move(s)); },
          [](auto&) -> Made { return nullptr; }},  // others are the kernels of every run
      shape);
}

}  // namespace

void use_sweep_kernels() {
  static constexpr SweepKernels known{.make = make, .smooth = &kernels::ChainPosterior::run};
  set_sweep_kernels(&known);
}

}  // namespace plated::engine
