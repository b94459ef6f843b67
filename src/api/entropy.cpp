// entropy and expectation: numbers that the reverse sweep adds up.
#include "api/ask.hpp"
#include "api/inputs.hpp"
#include "api/plan_cache.hpp"
#include "base/watch.hpp"
#include "engine/check_answers.hpp"
#include "engine/check_operands.hpp"
#include "engine/indicator.hpp"
#include "engine/log_posterior.hpp"
#include "plated/error.hpp"
#include "plated/marginals.hpp"

namespace plated {
namespace {

/// In the operands' type.
Tensor answered(const api::Posed& posed, const Tensor& number) {
  Tensor answer = engine::filled(posed.dtype, number.shape(), number.values());
  engine::check_answer("the answer", "", answer, Semiring::real);
  return answer;
}

/// Runs a question whose only answer is a number for each batch.
Tensor number(const api::Posed& posed, const adjoint::Asked& asked, const std::vector<Tensor>& statistics) {
  // Many steps add to the answer: in double, whatever it is rounded to in the end.
  std::vector<Tensor> more{engine::constant(1.0, Dtype::float64, posed.call.batch_shape())};
  more.insert(more.end(), statistics.begin(), statistics.end());
  const std::vector<Tensor> outputs =
      posed.run(asked, Dtype::float64, {api::shape_only(Dtype::float64, posed.call.batch_shape())}, more);
  engine::check_possible(posed.call.graph, outputs[posed.total(asked)], Semiring::log);
  return answered(posed, outputs.back());
}

/// Checked statistics. Entries of slices that do not exist are never read.
std::vector<Tensor> checked_statistics(const api::Call& call, std::span<const Tensor> statistics) {
  std::vector<Tensor> checked(statistics.begin(), statistics.end());
  for (std::size_t f = 0; f < statistics.size(); ++f) {
    if (statistics[f].data() == nullptr) continue;
    const Tensor::Shape& shape = call.operands[f].shape();
    if (statistics[f].shape() != shape) {
      throw SizeError("the statistics of operand " + std::to_string(f) + " have the shape " +
                      engine::shape_text(statistics[f].shape()) + ", but the operand has " + engine::shape_text(shape));
    }
    // With zeros where there is nothing, so that nothing is added.
    checked[f] =
        engine::without_padding(call.graph.factors()[f].dims, statistics[f], call.lengths(), Semiring::max_plus);
    engine::check_like("the statistics of operand " + std::to_string(f), checked[f], shape);
  }
  return checked;
}

}  // namespace

Tensor api::ask_entropy(const Posed& posed) {
  return number(posed, posed.call.plan.parts({.kind = Question::Kind::entropy})[0], {});
}

Tensor entropy(const Plan& plan, std::span<const Tensor> operands, const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  const api::Call call(plan, operands, options);
  return api::pose_in_log(call, [](const api::Posed& posed) { return api::ask_entropy(posed); });
}

Tensor entropy(std::string_view equation, const std::vector<Tensor>& operands, const EinsumOptions& options) {
  return entropy(api::cached_plan(equation, operands, options), operands, api::run_options(options));
}

Tensor api::ask_expectation(const Posed& posed, std::span<const Tensor> statistics) {
  const Call& call = posed.call;
  if (statistics.size() != call.operands.size()) {
    throw OperandCountError("the model has " + std::to_string(call.operands.size()) + " factors, but statistics for " +
                            std::to_string(statistics.size()) + " were given");
  }
  const std::vector<Tensor> all = checked_statistics(call, statistics);
  adjoint::Asked asked = call.plan.parts({.kind = Question::Kind::expectation})[0];
  std::vector<Tensor> given;
  for (std::size_t f = 0; f < all.size(); ++f) {
    asked.chosen[f] = all[f].data() != nullptr;
    if (asked.chosen[f]) given.push_back(all[f]);
  }
  return number(posed, asked, given);
}

Tensor expectation(const Plan& plan, std::span<const Tensor> operands, std::span<const Tensor> statistics,
                   const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  const api::Call call(plan, operands, options);
  return api::pose_in_log(call, [&](const api::Posed& posed) { return api::ask_expectation(posed, statistics); });
}

Tensor expectation(std::string_view equation, const std::vector<Tensor>& operands,
                   const std::vector<Tensor>& statistics, const EinsumOptions& options) {
  return expectation(api::cached_plan(equation, operands, options), operands, statistics, api::run_options(options));
}

}  // namespace plated
