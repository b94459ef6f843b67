// Slices that ragged plates do not have: filled in operands, cleared in outputs.
#pragma once

#include <span>
#include <vector>

#include "api/call.hpp"
#include "engine/ragged.hpp"

namespace plated::api {

/// Copies of operands for one call after the other with the same lengths.
class PaddedCopies {
 public:
  /// Puts the semiring's ones where a plate has no slices: copies of operands that have an axis for one. Throws
  /// MemoryLimitError.
  void fill(const Call& call, Semiring semiring, std::span<Tensor> operands);

 private:
  std::vector<engine::Padding> paddings_;  // [operand]
  std::vector<Tensor> copies_;
};
/// The bytes of these copies.
[[nodiscard]] std::int64_t padding_bytes(const Call& call);
/// Cotangents, directions or statistics with these axes, with zeros where a plate has no slices.
[[nodiscard]] Tensor zero_padded(const Call& call, const std::vector<DimId>& axes, const Tensor& given);

/// Overwrites outputs of a run with a value, the semiring's zero or another, in slices that do not exist.
void erase_outputs(const Call& call, std::span<const Tensor> outputs, double value);
void erase_outputs(const Call& call, std::span<const Tensor> outputs, Semiring semiring);

}  // namespace plated::api
