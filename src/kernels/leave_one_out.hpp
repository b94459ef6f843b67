// Leave-one-out products over plates, without division or subtraction.
#pragma once

#include <cstdint>
#include <vector>

#include "plated/semiring.hpp"

namespace plated::kernels {

/// out[k, p] = (∏_{p' ≠ p} in[k, p'])^repeats ⊗ in[k, p]^(repeats − 1), all in double; `p` runs over every product loop
/// jointly. `repeats` counts the slices of plates that the input lacks (it is the same in each of them); ≥ 1.
struct LeaveOneOutShape {
  Semiring semiring = Semiring::log;
  std::vector<std::int64_t> kept_extent;
  std::vector<std::int64_t> kept_input_stride;
  std::vector<std::int64_t> kept_output_stride;
  std::vector<std::int64_t> product_extent;
  std::vector<std::int64_t> product_input_stride;
  std::vector<std::int64_t> product_output_stride;
  std::int64_t repeats = 1;

  bool operator==(const LeaveOneOutShape&) const = default;
};

/// `input` and `output` are float64 and do not overlap. Runs serially over the kept indices [first, last) of their
/// joint row-major index. Products over plates are formed in a fixed order; precision is that of plain
/// products.
void leave_one_out(const LeaveOneOutShape& shape, const double* input, double* output, std::int64_t first,
                   std::int64_t last) noexcept;

/// In the real semiring, the derivative of these products as the input moves along `along` or, with `further`, the
/// mixed second derivative along both; all are laid out like the input. The derivative is symmetric: it is its own
/// transpose. `scratch` has four doubles for each slice.
void leave_one_out_derivative(const LeaveOneOutShape& shape, const double* input, const double* along,
                              const double* further, double* output, double* scratch, std::int64_t first,
                              std::int64_t last) noexcept;

/// Slices between two questions whether to stop.
inline constexpr std::int64_t left_out_at_once = 256;

/// Offsets in the input and the output of a kept index, given as its joint row-major number.
struct LeaveOneOutOffsets {
  std::int64_t input = 0;
  std::int64_t output = 0;
};
[[nodiscard]] LeaveOneOutOffsets kept_offsets(const LeaveOneOutShape& shape, std::int64_t kept) noexcept;

}  // namespace plated::kernels
