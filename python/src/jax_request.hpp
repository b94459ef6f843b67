// A call from XLA: the equation with its options, and the arrays of each element of a vmapped batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plated/einsum.hpp"
#include "xla_ffi.hpp"

namespace plated::python {

class JaxRequest {
 public:
  /// Reads the attributes. Throws Error where one is missing or an array is of another element type.
  explicit JaxRequest(const xla::CallFrame& frame);

  [[nodiscard]] const std::string& equation() const { return equation_; }
  /// How many times vmap asks the same: the product of the leading axes of the results.
  [[nodiscard]] std::int64_t batch() const { return batch_; }
  /// The operands of one element.
  [[nodiscard]] std::vector<Tensor> operands(std::int64_t element) const { return arguments(0, operands_, element); }
  /// Arguments behind operands, lengths, evidence and weights: directions and cotangents, `count` of them from the
  /// `first` one on.
  [[nodiscard]] std::vector<Tensor> further(std::int64_t first, std::int64_t count, std::int64_t element) const;
  /// How many of them there are.
  [[nodiscard]] std::int64_t further_count() const;
  /// Where results of one element go: `count` of them from the `first` one on.
  [[nodiscard]] std::vector<Tensor> results(std::int64_t first, std::int64_t count, std::int64_t element) const;
  /// The options of one element, whose lengths, evidence and weights are data.
  [[nodiscard]] EinsumOptions options(std::int64_t element) const;

  [[nodiscard]] std::int64_t operand_count() const { return operands_; }
  [[nodiscard]] std::int64_t result_count() const { return frame_->results.size; }

 private:
  std::vector<Tensor> arguments(std::int64_t first, std::int64_t count, std::int64_t element) const;
  [[nodiscard]] std::int64_t offset(const xla::Buffer& buffer, std::int64_t element) const;
  [[nodiscard]] Tensor view(const xla::Buffer& buffer, std::int64_t element) const;
  [[nodiscard]] IntegerView integers(std::int64_t argument, std::int64_t element, const std::string& what) const;
  /// The first argument behind operands, lengths, evidence and weights.
  [[nodiscard]] std::int64_t first_further() const {
    return operands_ + static_cast<std::int64_t>(ragged_.size() + observed_.size() + weighted_.size());
  }

  const xla::CallFrame* frame_;
  std::string equation_;
  EinsumOptions options_;
  // Names of what has arguments behind the operands, in this order.
  std::vector<std::string> ragged_, observed_, weighted_;
  std::int64_t operands_ = 0;
  std::int64_t leading_ = 0;  ///< axes that vmap put in front of every array
  std::int64_t batch_ = 1;
};

}  // namespace plated::python
