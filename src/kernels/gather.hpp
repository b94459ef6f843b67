// Reads a table at observed states: the factors of observed variables.
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
  std::size_t arrays_;    // table, output, rest, then the indices
  IndexedLoops outer_;    // kept
  IndexedLoops product_;  // multiplied over
  IndexedLoop run_;       // the innermost loop of these or, where nothing is multiplied over, of kept ones
  IndexedLoops rows_;     // kept, with the same indices: around the innermost one
  IndexedLoop row_;
  bool multiplies_ = false;
  std::int64_t piece_ = 1;  // entries of a run that are kept, and how many such pieces it has
  std::int64_t pieces_ = 1;
  std::int64_t grain_ = 1;  // outer indices, or pieces, of a task
};

}  // namespace plated::kernels
