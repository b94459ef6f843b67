// Looks through an answer for what is not a number.
#include "engine/check_answers.hpp"

#include "engine/check_operands.hpp"
#include "kernels/check.hpp"
#include "plated/error.hpp"

namespace plated::engine {

void check_answer(const char* what, const std::string& name, const Tensor& answer, Semiring semiring) {
  // Products of weights may be negative where values are not checked: that is the caller's affair.
  const Semiring admitting = semiring == Semiring::max_product ? Semiring::real : semiring;
  const auto bad = kernels::first_bad_entry(answer, admitting);
  if (!bad) return;
  throw ValueError(std::string(what) + (name.empty() ? "" : " '" + name + "'") + " has the entry " +
                   std::to_string(answer.at(*bad)) + " at index " + shape_text(*bad) + no_numbers);
}

}  // namespace plated::engine
