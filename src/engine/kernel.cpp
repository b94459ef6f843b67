// Binds kernels, and runs their tasks.
#include "engine/kernel.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "base/overloaded.hpp"
#include "engine/elements_per_task.hpp"

namespace plated::engine {
namespace {

std::atomic<SweepKernelMaker> make_sweep_kernel{nullptr};

std::unique_ptr<const SweepKernel> sweep_kernel(KernelShape& shape) {
  const SweepKernelMaker make = make_sweep_kernel.load(std::memory_order_acquire);
  PLATED_ASSERT(make != nullptr);
  return make(shape);
}

}  // namespace

std::size_t hash_of(const KernelShape& shape) {
  base::Hash mix;
  mix.add(shape.index());
  std::visit(base::Overloaded{[&](const kernels::ContractionShape& s) {
                                mix.add(s.extent);
                                mix.add(s.role);
                                mix.add(s.input_stride);
                                mix.add(s.input_dtype);
                                mix.add(s.output_stride);
                                mix.add(s.power);
                              },
                              [&](const kernels::WeightedSumShape& s) {
                                mix.add(s.extent);
                                mix.add(s.output_stride);
                                for (const auto* list : {&s.added, &s.subtracted, &s.factors}) {
                                  mix.add(list->size());
                                  for (const auto& input : *list) mix.add(input.stride);
                                }
                              },
                              [&](const LeaveOneOutInputs& s) {
                                mix.add(s.shape.kept_extent);
                                mix.add(s.shape.product_extent);
                              },
                              [&](const kernels::LogMassShape& s) {
                                mix.add(s.extent);
                                mix.add(s.mass_stride);
                                mix.add(s.normaliser_stride);
                              },
                              [&](const kernels::RaiseShape& s) {
                                mix.add(s.extent);
                                mix.add(s.base_stride);
                                mix.add(s.exponent_stride);
                              },
                              [&](const kernels::GatherShape& s) {
                                mix.add(s.extent);
                                mix.add(s.table_stride);
                                mix.add(s.output_stride);
                              },
                              [&](const kernels::ScatterShape& s) {
                                mix.add(s.extent);
                                mix.add(s.mass_stride);
                                mix.add(s.output_stride);
                              }},
             shape);
  return mix.value();
}

void set_sweep_kernels(SweepKernelMaker make) { make_sweep_kernel.store(make, std::memory_order_release); }

Kernel::Bound Kernel::bound(KernelShape shape) {
  return std::visit(
      base::Overloaded{[](kernels::ContractionShape& s) -> Bound { return kernels::Contraction(std::move(s)); },
                       [](kernels::RaiseShape& s) -> Bound { return std::move(s); },
                       [](kernels::GatherShape& s) -> Bound { return kernels::Gather(std::move(s)); },
                       [&](auto&) -> Bound { return sweep_kernel(shape); }},
      shape);
}

Kernel::Kernel(KernelShape shape) : bound_(bound(std::move(shape))), tasks_(count_tasks()) {}

std::int64_t Kernel::count_tasks() const {
  return std::visit(
      base::Overloaded{[](const kernels::Contraction& kernel) { return kernel.tasks(); },
                       [](const kernels::RaiseShape& raise) { return pieces(raise.elements(), elements_per_task); },
                       [](const kernels::Gather& kernel) { return kernel.tasks(); },
                       [](const Sweep& kernel) { return kernel->tasks(); }},
      bound_);
}

bool Kernel::has_shape(const KernelShape& shape) const {
  const auto is = [&](const auto& own) {
    const auto* other = std::get_if<std::remove_cvref_t<decltype(own)>>(&shape);
    return other != nullptr && own == *other;
  };
  return std::visit(base::Overloaded{[&](const kernels::Contraction& kernel) { return is(kernel.shape()); },
                                     [&](const kernels::RaiseShape& raise) { return is(raise); },
                                     [&](const kernels::Gather& kernel) { return is(kernel.shape()); },
                                     [&](const Sweep& kernel) { return kernel->has_shape(shape); }},
                    bound_);
}

std::size_t Kernel::task_scratch_bytes() const {
  return std::visit(base::Overloaded{[](const kernels::Contraction& kernel) { return kernel.task_scratch_bytes(); },
                                     [](const kernels::RaiseShape&) { return std::size_t{0}; },
                                     [](const kernels::Gather& kernel) { return kernel.task_scratch_bytes(); },
                                     [](const Sweep& kernel) { return kernel->task_scratch_bytes(); }},
                    bound_);
}

std::size_t Kernel::shared_scratch_bytes() const {
  return std::visit(base::Overloaded{[](const kernels::Contraction& kernel) { return kernel.shared_scratch_bytes(); },
                                     [](const Sweep& kernel) { return kernel->shared_scratch_bytes(); },
                                     [](const auto&) { return std::size_t{0}; }},
                    bound_);
}

double Kernel::run_task(std::int64_t task, std::span<const void* const> inputs, void* output, std::byte* task_scratch,
                        std::byte* shared_scratch) const noexcept {
  if (const kernels::Contraction* own = contraction()) {
    return own->run_task(task, inputs, output, task_scratch, shared_scratch);
  }
  double seen = 0;
  std::visit(
      base::Overloaded{
          [](const kernels::Contraction&) {},
          [&](const kernels::RaiseShape& raise) {
            const std::int64_t first = task * elements_per_task;
            kernels::raise(raise, inputs, static_cast<double*>(output), first,
                           std::min(raise.elements(), first + elements_per_task));
          },
          [&](const kernels::Gather& kernel) { kernel.run_task(task, inputs, output, task_scratch); },
          [&](const Sweep& kernel) { seen = kernel->run_task(task, inputs, output, task_scratch, shared_scratch); }},
      bound_);
  return seen;
}

void Kernel::finish(void* output, std::byte* shared_scratch) const noexcept {
  std::visit(base::Overloaded{[&](const kernels::Contraction& kernel) { kernel.finish(output, shared_scratch); },
                              [&](const Sweep& kernel) { kernel->finish(output, shared_scratch); }, [](const auto&) {}},
             bound_);
}

}  // namespace plated::engine
