// Reads a table at observed states, and adds back to it: factors of observed variables, and their masses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/indexed_loops.hpp"
#include "plated/semiring.hpp"

namespace plated::kernels {

/// out[kept] = product over the other loops of table[loops, states], whose states the indices give. Where an index is
/// −1, the entry is that of `rest`, or one where there is none.
struct GatherShape {
  Semiring semiring = Semiring::log;
  std::vector<std::int64_t> extent;  // [loop]: kept ones, then those that are multiplied over
  std::size_t kept = 0;
  std::vector<std::int64_t> table_stride;  // [loop]
  std::vector<std::int64_t> output_stride;
  std::vector<IndexArray> indices;
  std::vector<std::int64_t> rest_stride;  // empty: there is none
  Dtype table_dtype = Dtype::float64;
  Dtype rest_dtype = Dtype::float64;
  Dtype output_dtype = Dtype::float64;  // float64 where loops are multiplied over

  bool operator==(const GatherShape&) const = default;
};

/// Immutable; tasks depend on the shape alone. Inputs: the table, the indices, then `rest`.
class Gather {
 public:
  explicit Gather(GatherShape shape);

  [[nodiscard]] const GatherShape& shape() const { return shape_; }
  [[nodiscard]] std::int64_t tasks() const { return (outer_.count * pieces_ + grain_ - 1) / grain_; }
  [[nodiscard]] std::size_t task_scratch_bytes() const;
  void run_task(std::int64_t task, std::span<const void* const> inputs, void* output,
                std::byte* task_scratch) const noexcept;

 private:
  GatherShape shape_;
  std::size_t arrays_;      // table, output, rest, then the indices
  IndexedLoops outer_;      // kept
  IndexedLoops product_;    // multiplied over
  IndexedLoops::Loop run_;  // the innermost loop of these or, where nothing is multiplied over, of kept ones
  IndexedLoops rows_;       // kept, with the same indices: around the innermost one
  IndexedLoops::Loop row_;
  bool multiplies_ = false;
  std::int64_t piece_ = 1;  // entries of a run that are kept, and how many such pieces it has
  std::int64_t pieces_ = 1;
  std::int64_t grain_ = 1;  // outer indices, or pieces, of a task
};

/// out[kept, states] = Σ over the other loops of mass[loops], at the states that the indices give; nothing is added
/// where one is −1. With `of_rest`, out has no states, and what is added is just that.
struct ScatterShape {
  std::vector<std::int64_t> extent;  // [loop]: kept ones, then those that are summed over
  std::size_t kept = 0;
  std::vector<std::int64_t> mass_stride;    // [loop]
  std::vector<std::int64_t> output_stride;  // in doubles
  std::vector<IndexArray> indices;
  bool of_rest = false;
  Dtype mass_dtype = Dtype::float64;

  bool operator==(const ScatterShape&) const = default;
};

/// Immutable; tasks and the order of sums depend on the shape alone. Inputs: the mass, then the indices.
class Scatter {
 public:
  explicit Scatter(ScatterShape shape);

  [[nodiscard]] const ScatterShape& shape() const { return shape_; }
  [[nodiscard]] std::int64_t tasks() const { return (outer_.count + grain_ - 1) / grain_; }
  [[nodiscard]] std::size_t task_scratch_bytes() const;
  void run_task(std::int64_t task, std::span<const void* const> inputs, double* output,
                std::byte* task_scratch) const noexcept;

 private:
  ScatterShape shape_;
  std::size_t arrays_;  // mass, output, then the indices
  IndexedLoops outer_;  // kept: tasks write entries of their own
  IndexedLoops sum_;
  IndexedLoops::Loop run_;  // the innermost of these
  IndexedLoops rows_;       // kept, with the same indices: around the innermost one
  IndexedLoops::Loop row_;
  IndexedLoops states_;  // of the output, around its rows
  std::int64_t grain_ = 1;
};

}  // namespace plated::kernels
