// One contraction on strided memory: out[k] = (∏_p ⊕_s ⊗_i in_i[k, p, s])^power, in any semiring.
//
// This is the only arithmetic a plan performs besides leave-one-out products: sums over variables, fused with the
// product over plates that follows ([TVE] Alg. 1), copies, permutations and broadcasts are all instances of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::kernels {

/// What happens to a loop's index: it stays in the output, is multiplied over, or is summed over.
enum class Role : std::uint8_t { kept, product, sum };

/// A loop nest shared by all operands. Strides are in elements, 0 where an operand lacks the dim (or broadcasts it),
/// negative where it is reversed. Extents may be 0 or 1. An empty sum is the semiring's zero, an empty product its one.
struct ContractionShape {
  Semiring semiring = Semiring::log;
  std::vector<std::int64_t> extent;                     // [loop]
  std::vector<Role> role;                               // [loop]
  std::vector<std::vector<std::int64_t>> input_stride;  // [input][loop]; no inputs at all: the empty product
  std::vector<Dtype> input_dtype;                       // [input]
  std::vector<std::int64_t> output_stride;              // [loop]; 0 for loops that are not kept
  Dtype output_dtype = Dtype::float64;
  /// The type of the arithmetic inside a sum; products over plates always accumulate in double.
  Dtype compute_dtype = Dtype::float64;
  /// The result is multiplied with itself this many times (a product over plates that no operand carries); ≥ 0.
  std::int64_t power = 1;

  bool operator==(const ContractionShape&) const = default;
};

/// A contraction with its strategy and tiles chosen. Immutable; choices depend on the shape alone, so that the bits of
/// the result do not depend on how many threads run the tasks.
class Contraction {
 public:
  explicit Contraction(ContractionShape shape);
  Contraction(Contraction&&) noexcept;
  Contraction& operator=(Contraction&&) noexcept;
  ~Contraction();

  [[nodiscard]] const ContractionShape& shape() const;
  /// Independent tasks, any order, any thread, each run exactly once.
  [[nodiscard]] std::int64_t tasks() const;
  /// Scratch that each running task needs for itself, 64-byte aligned.
  [[nodiscard]] std::size_t task_scratch_bytes() const;
  /// Scratch shared by all tasks of this contraction (partial products), 64-byte aligned.
  [[nodiscard]] std::size_t shared_scratch_bytes() const;
  /// "reduce", "gemm", …: the strategy, for plans' prints and tests.
  [[nodiscard]] const char* strategy() const;

  /// Whether tasks look at the entries of the only input while they sum them, and return what they have seen: infinity
  /// where an entry is NaN, or an infinity that is not the semiring's zero, or where a sum overflows; otherwise in log,
  /// max_plus and min_plus the largest magnitude of a sum's largest entry. Others return 0.
  [[nodiscard]] bool looks_at_input() const;
  /// Whether NaN or an infinity anywhere in the inputs makes an entry of the output one.
  [[nodiscard]] bool shows_inputs() const;
  double run_task(std::int64_t task, std::span<const void* const> inputs, void* output, std::byte* task_scratch,
                  std::byte* shared_scratch) const noexcept;
  /// Combines the tasks' partial results, in a fixed order; to be called once, after all of them.
  void finish(void* output, std::byte* shared_scratch) const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plated::kernels
