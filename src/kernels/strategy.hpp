// The interface of strategies, each a family of loops that carries out a contraction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/contraction.hpp"

namespace plated::kernels {

/// A contraction bound to one family of loops. See Contraction for the contract of each member.
class Strategy {
 public:
  virtual ~Strategy() = default;
  [[nodiscard]] virtual const char* name() const = 0;
  [[nodiscard]] virtual std::int64_t tasks() const = 0;
  [[nodiscard]] virtual std::size_t task_scratch_bytes() const = 0;
  [[nodiscard]] virtual std::size_t shared_scratch_bytes() const = 0;
  [[nodiscard]] virtual bool looks_at_input() const { return false; }
  [[nodiscard]] virtual bool shows_inputs() const { return false; }
  virtual double run_task(std::int64_t task, std::span<const void* const> inputs, void* output, std::byte* task_scratch,
                          std::byte* shared_scratch) const noexcept = 0;
  virtual void finish(void* output, std::byte* shared_scratch) const noexcept = 0;
};

/// Streams the operands through a fused sum and product; fits every shape.
[[nodiscard]] std::unique_ptr<Strategy> make_reduce(const ContractionShape& shape);

/// Packed matrix product with two inputs; null where the shape is not a matrix product worth packing for.
[[nodiscard]] std::unique_ptr<Strategy> make_gemm(const ContractionShape& shape);

}  // namespace plated::kernels
