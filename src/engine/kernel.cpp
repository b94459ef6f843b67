// Binds kernels, and runs their tasks.
#include "engine/kernel.hpp"

#include <algorithm>
#include <utility>

#include "base/checked_size.hpp"
#include "base/hash.hpp"
#include "base/overloaded.hpp"

namespace plated::engine {
namespace {

// Of a task without a shape of its own; fixed, so that no bits depend on threads.
constexpr std::int64_t elements_per_task = 65536;
constexpr std::int64_t doubles_per_slice = 4;  // scratch of derivatives of leave-one-out products

std::int64_t pieces(std::int64_t count, std::int64_t piece) { return (count + piece - 1) / piece; }

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

Kernel::Bound Kernel::bound(KernelShape shape) {
  return std::visit(
      base::Overloaded{[](kernels::ContractionShape& s) -> Bound { return kernels::Contraction(std::move(s)); },
                       [](kernels::WeightedSumShape& s) -> Bound { return kernels::WeightedSum(std::move(s)); },
                       [](LeaveOneOutInputs& s) -> Bound {
                         LeaveOneOut others{.how = std::move(s)};
                         others.kept = base::checked_product(others.how.shape.kept_extent);
                         others.slices = base::checked_product(others.how.shape.product_extent);
                         const std::int64_t whole = std::max<std::int64_t>(1, others.slices);
                         others.grain = std::max<std::int64_t>(1, elements_per_task / whole);
                         return others;
                       },
                       [](kernels::LogMassShape& s) -> Bound { return std::move(s); },
                       [](kernels::RaiseShape& s) -> Bound { return std::move(s); },
                       [](kernels::GatherShape& s) -> Bound { return kernels::Gather(std::move(s)); },
                       [](kernels::ScatterShape& s) -> Bound { return kernels::Scatter(std::move(s)); }},
      shape);
}

Kernel::Kernel(KernelShape shape) : bound_(bound(std::move(shape))), tasks_(count_tasks()) {}

std::int64_t Kernel::count_tasks() const {
  return std::visit(
      base::Overloaded{[](const kernels::Contraction& kernel) { return kernel.tasks(); },
                       [](const kernels::WeightedSum& kernel) { return kernel.tasks(); },
                       [](const LeaveOneOut& others) { return pieces(others.kept, others.grain); },
                       [](const kernels::LogMassShape& log) { return pieces(log.elements(), elements_per_task); },
                       [](const kernels::RaiseShape& raise) { return pieces(raise.elements(), elements_per_task); },
                       [](const kernels::Gather& kernel) { return kernel.tasks(); },
                       [](const kernels::Scatter& kernel) { return kernel.tasks(); }},
      bound_);
}

bool Kernel::has_shape(const KernelShape& shape) const {
  const auto is = [&](const auto& own) {
    const auto* other = std::get_if<std::remove_cvref_t<decltype(own)>>(&shape);
    return other != nullptr && own == *other;
  };
  return std::visit(base::Overloaded{[&](const kernels::Contraction& kernel) { return is(kernel.shape()); },
                                     [&](const kernels::WeightedSum& kernel) { return is(kernel.shape()); },
                                     [&](const LeaveOneOut& others) { return is(others.how); },
                                     [&](const kernels::LogMassShape& log) { return is(log); },
                                     [&](const kernels::RaiseShape& raise) { return is(raise); },
                                     [&](const kernels::Gather& kernel) { return is(kernel.shape()); },
                                     [&](const kernels::Scatter& kernel) { return is(kernel.shape()); }},
                    bound_);
}

std::size_t Kernel::task_scratch_bytes() const {
  return std::visit(base::Overloaded{[](const kernels::Contraction& kernel) { return kernel.task_scratch_bytes(); },
                                     [](const kernels::WeightedSum& kernel) { return kernel.task_scratch_bytes(); },
                                     [](const LeaveOneOut& others) -> std::size_t {
                                       if (others.how.inputs == 1) return 0;
                                       constexpr auto bytes =
                                           doubles_per_slice * static_cast<std::int64_t>(sizeof(double));
                                       return static_cast<std::size_t>(base::checked_product(others.slices, bytes));
                                     },
                                     [](const kernels::LogMassShape&) { return std::size_t{0}; },
                                     [](const kernels::RaiseShape&) { return std::size_t{0}; },
                                     [](const kernels::Gather& kernel) { return kernel.task_scratch_bytes(); },
                                     [](const kernels::Scatter& kernel) { return kernel.task_scratch_bytes(); }},
                    bound_);
}

std::size_t Kernel::shared_scratch_bytes() const {
  return std::visit(base::Overloaded{[](const kernels::Contraction& kernel) { return kernel.shared_scratch_bytes(); },
                                     [](const kernels::WeightedSum& kernel) { return kernel.shared_scratch_bytes(); },
                                     [](const auto&) { return std::size_t{0}; }},
                    bound_);
}

double Kernel::run_task(std::int64_t task, std::span<const void* const> inputs, void* output, std::byte* task_scratch,
                        std::byte* shared_scratch) const noexcept {
  if (const kernels::Contraction* own = contraction()) {
    return own->run_task(task, inputs, output, task_scratch, shared_scratch);
  }
  const auto doubles = [&](std::size_t k) {
    return k < inputs.size() ? static_cast<const double*>(inputs[k]) : nullptr;
  };
  double seen = 0;
  std::visit(
      base::Overloaded{[](const kernels::Contraction&) {},
                       [&](const kernels::WeightedSum& kernel) {
                         seen = kernel.run_task(task, inputs, output, task_scratch, shared_scratch);
                       },
                       [&](const LeaveOneOut& others) {
                         const std::int64_t first = task * others.grain;
                         const std::int64_t last = std::min(others.kept, first + others.grain);
                         auto* out = static_cast<double*>(output);
                         if (inputs.size() == 1) {
                           return kernels::leave_one_out(others.how.shape, doubles(0), out, first, last);
                         }
                         kernels::leave_one_out_derivative(others.how.shape, doubles(0), doubles(1), doubles(2), out,
                                                           reinterpret_cast<double*>(task_scratch), first, last);
                       },
                       [&](const kernels::LogMassShape& log) {
                         const std::int64_t first = task * elements_per_task;
                         kernels::log_mass(log, doubles(0), inputs.size() > 1 ? inputs[1] : nullptr, output, first,
                                           std::min(log.elements(), first + elements_per_task));
                       },
                       [&](const kernels::RaiseShape& raise) {
                         const std::int64_t first = task * elements_per_task;
                         kernels::raise(raise, inputs, static_cast<double*>(output), first,
                                        std::min(raise.elements(), first + elements_per_task));
                       },
                       [&](const kernels::Gather& kernel) { kernel.run_task(task, inputs, output, task_scratch); },
                       [&](const kernels::Scatter& kernel) {
                         kernel.run_task(task, inputs, static_cast<double*>(output), task_scratch);
                       }},
      bound_);
  return seen;
}

void Kernel::finish(void* output, std::byte* shared_scratch) const noexcept {
  std::visit(base::Overloaded{[&](const kernels::Contraction& kernel) { kernel.finish(output, shared_scratch); },
                              [&](const kernels::WeightedSum& kernel) { kernel.finish(output, shared_scratch); },
                              [](const auto&) {}},
             bound_);
}

}  // namespace plated::engine
