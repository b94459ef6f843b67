// Looks for entries that a semiring does not admit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::kernels {

/// The index, in row-major order of the tensor's axes, of the first entry that is bad input: NaN in any semiring; an
/// infinity that is not the semiring's zero; a negative entry in max_product. Reads strided memory as it is.
[[nodiscard]] std::optional<std::vector<std::int64_t>> first_bad_entry(const Tensor& tensor, Semiring semiring);

}  // namespace plated::kernels
