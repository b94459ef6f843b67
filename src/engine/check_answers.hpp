// Refuses to hand out answers that are not numbers.
#pragma once

#include <string>

#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::engine {

/// Why a question has no answer in numbers, as errors tell it.
inline constexpr const char* no_numbers =
    ": the operands hold NaN or an infinity, or sums of their entries overflow; check the values, scale the operands, "
    "or ask in log space";

/// Throws ValueError where an answer has an entry that is NaN, or an infinity other than the semiring's zero; `what`
/// and `name` begin the message.
void check_answer(const char* what, const std::string& name, const Tensor& answer, Semiring semiring);

}  // namespace plated::engine
