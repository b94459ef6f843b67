// Sums weights that are given in log space: out[k] = scale · Σ_s exp(Σ a[k, s] − Σ n[k, s]) · ∏ b[k, s].
//
// The reverse sweep is made of these. The weights are conditional probabilities: a are the logarithms that a step of
// the plan multiplied, n the sum that it formed of them, b the masses and tangents that come from later steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plated/tensor.hpp"

namespace plated::kernels {

/// A loop nest shared by all inputs; extents may be 0 or 1, strides are in elements, 0 where an input lacks the dim,
/// negative where it is reversed.
///
/// A term is exactly 0 where any a or n is −inf or any b is 0: an impossible state weighs nothing, and no NaN arises.
/// Exponents are at most a few units above 0; magnitudes of single a and n may be as large as 1e9, so that their sum is
/// formed in double wherever a float64 input takes part, and exact to the element type's rounding of the difference.
struct WeightedSumShape {
  struct Input {
    std::vector<std::int64_t> stride;  // [loop]
    Dtype dtype = Dtype::float64;
    bool operator==(const Input&) const = default;
  };
  std::vector<std::int64_t> extent;         // [loop]
  std::vector<bool> summed;                 // [loop]; the others are kept
  std::vector<Input> added;                 // a; none: the weights are 1
  std::vector<Input> subtracted;            // n
  std::vector<Input> factors;               // b, of any sign
  std::vector<std::int64_t> output_stride;  // [loop]; 0 for summed loops
  Dtype output_dtype = Dtype::float64;
  /// The type of exponentials and single terms; sums of more than a few hundred terms accumulate in double.
  Dtype compute_dtype = Dtype::float64;
  double scale = 1;
  /// Add to what the output holds instead of overwriting it.
  bool accumulate = false;
  /// The output is one of so many blocks of a larger one, which may not stay in a cache though the block would.
  std::int64_t blocks = 1;
  /// Each term is also multiplied by minus the logarithm of its weight: an entropy.
  bool surprisal = false;

  bool operator==(const WeightedSumShape&) const = default;
};

/// Bound to its loops: immutable, choices depend on the shape alone. Members as in Contraction.
class WeightedSum {
 public:
  explicit WeightedSum(WeightedSumShape shape);
  WeightedSum(WeightedSum&&) noexcept;
  WeightedSum& operator=(WeightedSum&&) noexcept;
  ~WeightedSum();

  [[nodiscard]] const WeightedSumShape& shape() const;
  [[nodiscard]] std::int64_t tasks() const;
  [[nodiscard]] std::size_t task_scratch_bytes() const;
  [[nodiscard]] std::size_t shared_scratch_bytes() const;

  /// The input whose entries must be numbers, or −inf where they are logarithms, for all that tasks write to be finite
  /// unless one of them returns infinity; a number that no input has where there is no such input. None: tasks do not
  /// look.
  [[nodiscard]] std::optional<std::size_t> vouches_beside() const;
  /// `inputs` are the added, subtracted and factor inputs in that order; none overlaps the output.
  double run_task(std::int64_t task, std::span<const void* const> inputs, void* output, std::byte* task_scratch,
                  std::byte* shared_scratch) const noexcept;
  void finish(void* output, std::byte* shared_scratch) const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plated::kernels
