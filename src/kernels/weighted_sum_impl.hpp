// A weighted sum as it is bound: its plan, and where a task's arrays lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/weighted_sum.hpp"
#include "kernels/weighted_sum_cursor.hpp"
#include "kernels/weighted_sum_kernels.hpp"
#include "kernels/weighted_sum_plan.hpp"
#include "kernels/weighted_sum_scratch.hpp"

namespace plated::kernels {

struct WeightedSum::Impl {
  WeightedSumShape shape;
  WeightedSumShape run;  // the shape that is run: without inputs where sums are empty
  bool nothing = false;  // no output at all
  WeightedSumPlan plan;
  std::vector<Dtype> dtype;  // [input], the output last
  std::vector<Gather> how;   // [input]
  std::vector<std::int64_t> no_offset;
  std::size_t direct = 0;  // the input that is read where it lies; plan.inputs: none
  WeightedSumScratch arrays{};

  explicit Impl(WeightedSumShape given);

  struct Task {
    const WeightedSumKernels& kernels;
    std::span<const void* const> inputs;
    std::byte* output;
    std::byte* scratch;
    const OuterCursor& kept;
    const OuterCursor& sum;
    std::int64_t lanes = 0;
    std::int64_t rows = 0;
    const std::byte* direct = nullptr;  // where the block's rows are read
    std::ptrdiff_t ahead = 0;           // from there to the next block's rows, if blocks follow each other evenly

    template <class T>
    [[nodiscard]] T* at(std::size_t offset) const {
      return reinterpret_cast<T*>(scratch + offset);
    }
  };

  [[nodiscard]] const std::byte* base(const Task& task, std::size_t i) const {
    const std::int64_t offset = plan.nest.base[i] + task.kept.input(i) + task.sum.input(i);
    return static_cast<const std::byte*>(task.inputs[i]) + offset * static_cast<std::int64_t>(size_of(dtype[i]));
  }
  [[nodiscard]] std::int64_t output_offset(const OuterCursor& kept) const {
    return plan.nest.base[plan.inputs] + kept.input(plan.inputs);
  }
  [[nodiscard]] double* partial(std::byte* shared, std::int64_t part, std::int64_t kept) const {
    return reinterpret_cast<double*>(shared) + (part * plan.kept.count() + kept) * plan.sum_rows * plan.slots;
  }

  // What forms a block of terms, in weighted_sum_blocks.cpp.
  void gather(const Task& task, Part part, bool factors, double* to, std::int64_t row) const noexcept;
  void gather_lanes(const Task& task, WeightBlock& block) const noexcept;
  void gather_rows(const Task& task, WeightBlock& block) const noexcept;
  void find_rows(Task& task) const noexcept;
  /// Whether what was gathered for a block can make no term anything but a finite number.
  [[nodiscard]] bool has_numbers(const Task& task, const WeightBlock& block) const noexcept;
  /// Returns the same where the tasks look at it.
  bool form_block(const Task& task) const noexcept;
  bool looks = false;

  // What becomes of its sums.
  void drain(const Task& task) const noexcept;
  void fold(const Task& task, std::int64_t slots, std::int64_t sum_rows, double* to) const noexcept;
  void write_sums(const double* sums, std::int64_t slots, std::int64_t sum_rows, void* output,
                  std::int64_t offset) const noexcept;
};

}  // namespace plated::kernels
