// A bound kernel of any kind, in one interface: independent tasks, then finish().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>

#include "kernels/contraction.hpp"
#include "kernels/gather.hpp"
#include "kernels/leave_one_out.hpp"
#include "kernels/log_mass.hpp"
#include "kernels/raise.hpp"
#include "kernels/scatter.hpp"
#include "kernels/weighted_sum.hpp"

namespace plated::engine {

/// Leave-one-out products of one input; with further ones, their derivatives along these.
struct LeaveOneOutInputs {
  kernels::LeaveOneOutShape shape;
  std::size_t inputs = 1;

  bool operator==(const LeaveOneOutInputs&) const = default;
};

using KernelShape =
    std::variant<kernels::ContractionShape, kernels::WeightedSumShape, LeaveOneOutInputs, kernels::LogMassShape,
                 kernels::RaiseShape, kernels::GatherShape, kernels::ScatterShape>;

/// Equal for equal shapes.
[[nodiscard]] std::size_t hash_of(const KernelShape& shape);

/// A bound kernel that only sweeps run. Members as in kernels::WeightedSum.
class SweepKernel {
 public:
  SweepKernel() = default;
  SweepKernel(const SweepKernel&) = delete;
  SweepKernel& operator=(const SweepKernel&) = delete;
  virtual ~SweepKernel() = default;

  [[nodiscard]] virtual bool has_shape(const KernelShape& shape) const = 0;
  [[nodiscard]] virtual std::int64_t tasks() const = 0;
  [[nodiscard]] virtual std::size_t task_scratch_bytes() const { return 0; }
  [[nodiscard]] virtual std::size_t shared_scratch_bytes() const { return 0; }
  [[nodiscard]] virtual std::optional<std::size_t> vouches_beside() const { return std::nullopt; }
  virtual double run_task(std::int64_t task, std::span<const void* const> inputs, void* output, std::byte* task_scratch,
                          std::byte* shared_scratch) const noexcept = 0;
  virtual void finish(void* /*output*/, std::byte* /*shared_scratch*/) const noexcept {}
};
/// Binds weighted sums, leave-one-out products, logarithms of masses and scatters from now on. To be called before a
/// schedule has such steps: programs that plan none are linked without these kernels.
void use_sweep_kernels();
/// What use_sweep_kernels() makes known.
using SweepKernelMaker = std::unique_ptr<const SweepKernel> (*)(KernelShape& shape);
void set_sweep_kernels(SweepKernelMaker make);

/// Immutable; tasks and what they compute depend on the shape alone. Members as in kernels::Contraction.
class Kernel {
 public:
  explicit Kernel(KernelShape shape);

  [[nodiscard]] bool has_shape(const KernelShape& shape) const;
  [[nodiscard]] std::int64_t tasks() const { return tasks_; }
  [[nodiscard]] std::size_t task_scratch_bytes() const;
  [[nodiscard]] std::size_t shared_scratch_bytes() const;
  [[nodiscard]] bool looks_at_input() const {
    const kernels::Contraction* own = contraction();
    return own != nullptr && own->looks_at_input();
  }
  [[nodiscard]] bool shows_inputs() const {
    const kernels::Contraction* own = contraction();
    return own != nullptr && own->shows_inputs();
  }
  /// As in kernels::WeightedSum; others do not look.
  [[nodiscard]] std::optional<std::size_t> vouches_beside() const {
    const auto* sweep = std::get_if<Sweep>(&bound_);
    return sweep != nullptr ? (*sweep)->vouches_beside() : std::nullopt;
  }
  double run_task(std::int64_t task, std::span<const void* const> inputs, void* output, std::byte* task_scratch,
                  std::byte* shared_scratch) const noexcept;
  void finish(void* output, std::byte* shared_scratch) const noexcept;

  /// Where it is one.
  [[nodiscard]] const kernels::Contraction* contraction() const { return std::get_if<kernels::Contraction>(&bound_); }

 private:
  using Sweep = std::unique_ptr<const SweepKernel>;
  using Bound = std::variant<kernels::Contraction, kernels::RaiseShape, kernels::Gather, Sweep>;
  static Bound bound(KernelShape shape);
  [[nodiscard]] std::int64_t count_tasks() const;

  Bound bound_;
  std::int64_t tasks_;
};

}  // namespace plated::engine
