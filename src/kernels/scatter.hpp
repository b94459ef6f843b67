// Adds to a table at observed states: the masses of factors of observed variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/indexed_loops.hpp"
#include "kernels/packed_rows.hpp"

namespace plated::kernels {

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
  [[nodiscard]] std::int64_t tasks() const { return (outer_.count * pieces_ + grain_ - 1) / grain_; }
  [[nodiscard]] std::size_t task_scratch_bytes() const;
  void run_task(std::int64_t task, std::span<const void* const> inputs, double* output,
                std::byte* task_scratch) const noexcept;

 private:
  void choose_vectors(std::int64_t sums);

  ScatterShape shape_;
  std::vector<IndexArray> indices_;   // of the output as it is added to
  std::optional<PackedRows> packed_;  // of one slice of a kept run, where tasks add to memory of their own
  bool by_vectors_ = false;           // rows are doubles side by side
  std::size_t arrays_;                // mass, output, then the indices
  IndexedLoops outer_;                // kept: tasks write entries of their own
  IndexedLoops sum_;
  IndexedLoop run_;    // the innermost of these or, where indices lie closer along it, of the former
  IndexedLoops rows_;  // kept, with the same indices: around the innermost one
  IndexedLoop row_;
  IndexedLoops states_;  // of the output, around its rows
  bool keeps_run_ = false;
  std::int64_t run_step_ = 0;  // from one entry of a run to the next in the output
  std::int64_t piece_ = 1;     // entries of a run that a task keeps, and how many such pieces it has
  std::int64_t pieces_ = 1;
  std::int64_t grain_ = 1;
  std::int64_t group_ = 1;  // slices of outer loops that take turns in adding the same masses
};

}  // namespace plated::kernels
