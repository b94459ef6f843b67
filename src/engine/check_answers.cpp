// Looks through answers for what is not a number.
#include "engine/check_answers.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/check_operands.hpp"
#include "engine/inspect.hpp"
#include "graph/answer_axes.hpp"
#include "kernels/check.hpp"
#include "plated/error.hpp"
#include "semiring/dispatch.hpp"

namespace plated::engine {
namespace {

constexpr const char* no_numbers =
    ": the operands hold NaN or an infinity, or sums of their entries overflow; check the values, scale the operands, "
    "or ask in log space";

/// Products of weights may be negative where values are not checked: that is the caller's affair.
Semiring admitting(Semiring semiring) { return semiring == Semiring::max_product ? Semiring::real : semiring; }

bool is_good(const Tensor& answer, Semiring semiring, int threads) {
  return answer.data() == nullptr || admits(answer, admitting(semiring), threads);
}

[[noreturn]] void refuse(const std::string& called, const Tensor& answer, Semiring semiring, Suspect suspect) {
  const std::vector<std::int64_t> bad = kernels::first_bad_entry(answer, admitting(semiring)).value();
  if (suspect == Suspect::operands) {
    throw ValueError(called + " has the entry " + std::to_string(answer.at(bad)) + " at index " + shape_text(bad) +
                     no_numbers);
  }
  const bool products = semiring == Semiring::real || semiring == Semiring::max_product;
  throw ValueError(called + " overflows at index " + shape_text(bad) + ": it is more than " +
                   std::string(plated::name(answer.dtype())) + " holds" + (products ? "; compute in log space" : ""));
}

}  // namespace

void check_answer(const char* what, const std::string& name, const Tensor& answer, Semiring semiring, Suspect suspect,
                  int threads) {
  if (is_good(answer, semiring, threads)) return;
  refuse(std::string(what) + (name.empty() ? "" : " '" + name + "'"), answer, semiring, suspect);
}

void check_answers(std::span<const Tensor> answers, const char* what, Semiring semiring, Suspect suspect, int threads) {
  for (std::size_t k = 0; k < answers.size(); ++k) {
    if (is_good(answers[k], semiring, threads)) continue;
    refuse(std::string(what) + " " + std::to_string(k), answers[k], semiring, suspect);
  }
}

void check_possible(const FactorGraph& graph, const Tensor& total, Semiring semiring) {
  const double zero = semiring::dispatch(semiring, [](auto ring) { return decltype(ring)::zero(); });
  // In place, and in any strides: it may be the caller's memory, and there may be very many batches.
  std::int64_t rest = 0;
  double found = zero;
  for (Tensor::Iterator entry = total.begin(); rest < total.elements(); ++rest, ++entry) {
    found = *entry;
    if (found == zero || !std::isfinite(found)) break;
  }
  if (rest == total.elements()) return;
  std::string where;
  const std::vector<DimId> axes = graph::batch_axes(graph);
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    const std::int64_t size = total.shape()[axis];
    std::string place = graph.dims()[axes[axis]].name + " = " + std::to_string(rest % size);
    if (!where.empty()) place += ", " + where;
    where = std::move(place);
    rest /= size;
  }
  if (found != zero) {
    throw ValueError("the total" + (where.empty() ? "" : " at " + where) + " is " +
                     (std::isnan(found) ? "NaN" : std::to_string(found)) + no_numbers);
  }
  const bool underflows = semiring == Semiring::max_product;
  throw ImpossibleError("no assignment has a weight" + (where.empty() ? "" : " at " + where) +
                        (underflows ? ", or none that a double can hold: ask in log space"
                                    : ": the model and its evidence contradict each other"));
}

}  // namespace plated::engine
