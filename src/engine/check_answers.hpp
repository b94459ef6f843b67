// Refuses to hand out answers that are not numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "plated/factor_graph.hpp"
#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::engine {

/// Why an answer may not be a number, as errors tell it.
enum class Suspect : std::uint8_t {
  operands,  ///< they may hold NaN or an infinity, or sums of their entries overflow
  overflow,  ///< the operands were checked, and the answer is more than its type holds
};

/// Throws ValueError where an answer has an entry that is NaN, or an infinity other than the semiring's zero; `what`
/// and `name` begin the message.
void check_answer(const char* what, const std::string& name, const Tensor& answer, Semiring semiring,
                  Suspect suspect = Suspect::operands, int threads = 1);
/// The same of several, which are numbered; those without data are left out.
void check_answers(std::span<const Tensor> answers, const char* what, Semiring semiring, Suspect suspect, int threads);

/// Throws ImpossibleError where a total is zero, and ValueError where it is NaN or infinite, naming the batch. Totals
/// have one entry for each batch.
void check_possible(const FactorGraph& graph, const Tensor& total, Semiring semiring);

}  // namespace plated::engine
