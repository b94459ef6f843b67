// Looks for entries that a semiring does not admit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::kernels {

/// The elements of a tensor in the order in which memory is read fastest: each element once, however often it repeats.
/// Without axes it is empty.
struct MemoryOrder {
  const void* data = nullptr;
  Dtype dtype = Dtype::float64;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;  // descending

  /// Takes over another tensor's elements. Allocates nothing once it has seen one of as many axes.
  void assign(const Tensor& tensor);
  [[nodiscard]] std::int64_t elements() const;
};

struct Inspection {
  bool admitted = true;  // every entry is
  double magnitude = 0;  // the largest absolute value that is finite, where all are admitted
};

/// All entries of a tensor that has few, without gaps: to put memory in order would take longer than to look. Nothing
/// of others.
[[nodiscard]] std::optional<bool> admits_short(const Tensor& tensor, Semiring semiring) noexcept;
/// The same with their magnitude.
[[nodiscard]] std::optional<Inspection> inspect_short(const Tensor& tensor, Semiring semiring) noexcept;

/// Whether all entries are admitted that have an index from `begin` to `end` of the first axis.
[[nodiscard]] bool admits(const MemoryOrder& order, Semiring semiring, std::int64_t begin, std::int64_t end) noexcept;
/// The same with their magnitude.
[[nodiscard]] Inspection inspect(const MemoryOrder& order, Semiring semiring, std::int64_t begin,
                                 std::int64_t end) noexcept;

/// The index, in row-major order of the tensor's axes, of the first entry that is bad input: NaN in any semiring; an
/// infinity that is not the semiring's zero; a negative entry in max_product. Reads strided memory as it is.
[[nodiscard]] std::optional<std::vector<std::int64_t>> first_bad_entry(const Tensor& tensor, Semiring semiring);

}  // namespace plated::kernels
