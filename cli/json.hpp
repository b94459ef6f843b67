// JSON as the program writes it: numbers that read back to the same bits, nested lists for axes.
#pragma once

#include <string>

#include "plated/integers.hpp"
#include "plated/tensor.hpp"

namespace plated::cli::json {

/// The shortest number that reads back to the same; infinities, which JSON does not have, are the texts "inf", "-inf".
/// Throws for NaN, which is no answer.
[[nodiscard]] std::string number(double value);
/// Nested lists, one level per axis; a bare number if there is no axis.
[[nodiscard]] std::string nested(const Tensor& tensor);
[[nodiscard]] std::string nested(const Integers& integers);

}  // namespace plated::cli::json
