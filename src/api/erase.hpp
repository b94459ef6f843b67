// Clears answers in slices that count for nothing: those that a ragged plate does not have, or of weight zero.
#pragma once

#include <span>
#include <vector>

#include "api/call.hpp"
#include "plated/integers.hpp"

namespace plated::api {

/// Overwrites an answer in slices whose exponent is zero, at every index of the dims that the answer lacks.
void erase(const Call& call, const Exponents& exponents, const std::vector<DimId>& axes, const Tensor& answer,
           double value);
/// The same of states, which become −1; several samples lie one after the other.
void erase(const Call& call, const Exponents& exponents, const std::vector<DimId>& axes, Integers& states);
/// The product of all exponents of plates among some dims, row-major: of the largest, over dims that are not among
/// them.
[[nodiscard]] std::vector<double> product_over(const Call& call, const Exponents& exponents,
                                               const std::vector<DimId>& dims);

/// Overwrites outputs of a run with a value, the semiring's zero or another, in slices that do not exist.
void erase_outputs(const Call& call, std::span<const Tensor> outputs, double value);
void erase_outputs(const Call& call, std::span<const Tensor> outputs, Semiring semiring);

}  // namespace plated::api
