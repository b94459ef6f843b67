// hessian_vector_product: a forward and a reverse sweep, each with its tangent.
#include <algorithm>

#include "api/cotangents.hpp"
#include "api/held.hpp"
#include "api/inputs.hpp"
#include "api/padding.hpp"
#include "api/plan_cache.hpp"
#include "base/watch.hpp"
#include "engine/indicator.hpp"
#include "plated/error.hpp"
#include "plated/gradient.hpp"

namespace plated {
namespace {

using api::bring_cotangents;
using api::brought;
using api::check_count;
using api::differentiable;
using api::ones;

class HessianAsker {
 public:
  /// Whether there are cotangents.
  using Parameters = bool;
  static Semiring semiring(const RunOptions& options) { return differentiable(options.semiring); }
  static void take(const api::Call& call, Semiring semiring, api::Look /*look*/, api::Inputs& inputs) {
    api::take_question_inputs(call, semiring, api::Look::before, inputs);
  }

  explicit HessianAsker(const api::Posed& posed, bool /*has_cotangents*/)
      : posed_(posed),
        sweep_(posed,
               posed.call.plan.parts({.kind = Question::Kind::hessian_vector_product, .semiring = posed.semiring})[0],
               posed.dtype, shapes(posed), brought_along(posed)) {}

  void ask(Tensors direction, Tensors cotangents, HessianVectorProduct& answer) {
    const api::Call& call = posed_.call;
    const std::span<const Tensor> operands = call.operands;
    if (direction.size() != operands.size()) {
      throw OperandCountError(std::to_string(operands.size()) + " operands need as many directions, but " +
                              std::to_string(direction.size()) + " were given");
    }
    check_count(call.graph, cotangents);
    bring_cotangents(sweep_, call, cotangents);
    const std::size_t values = call.graph.outputs().size();
    for (std::size_t f = 0; f < operands.size(); ++f) {
      sweep_.bring(values + f, brought(call, direction[f], call.graph.factors()[f].dims, operands[f].shape(),
                                       "the direction of operand ", f));
    }
    answer.tangents.resize(values);
    answer.products.resize(operands.size());
    const std::size_t first = sweep_.first_answer();
    for (std::size_t o = 0; o < values; ++o) sweep_.place(first + o, answer.tangents[o], "a tangent");
    for (std::size_t f = 0; f < operands.size(); ++f) {
      sweep_.place(first + values + f, answer.products[f], "the product of factor", call.graph.factors()[f].name);
    }
    const std::span<const Tensor> results = sweep_.run().subspan(first);
    std::copy_n(results.begin(), values, answer.tangents.begin());
    std::copy_n(results.begin() + static_cast<std::ptrdiff_t>(values), operands.size(), answer.products.begin());
    api::erase_outputs(call, answer.tangents, 0.0);
    api::check_results(answer.tangents, "the tangent of output", Semiring::real, call);
    api::check_results(answer.products, "the product of operand", Semiring::real, call);
  }
  [[nodiscard]] std::int64_t bytes() const { return sweep_.bytes(); }

 private:
  static std::vector<Tensor> shapes(const api::Posed& posed) {
    std::vector<Tensor> places = posed.call.output_shapes(posed.call.graph, posed.dtype);
    const std::vector<Tensor> inputs = posed.operands(
        posed.call.plan.parts({.kind = Question::Kind::hessian_vector_product, .semiring = posed.semiring})[0]);
    for (std::size_t f = 0; f < posed.call.plan.observed.factors().size(); ++f) {
      places.push_back(api::shape_only(inputs[f].dtype(), inputs[f].shape()));
    }
    return places;
  }
  /// Cotangents, directions, and zeros for evidence, which does not move.
  static std::vector<Tensor> brought_along(const api::Posed& posed) {
    const api::Call& call = posed.call;
    std::vector<Tensor> more = ones(call);
    more.resize(more.size() + call.operands.size());
    for (const DimId v : call.plan.observable) {
      more.push_back(engine::constant(0.0, Dtype::float64, call.shape(call.plan.axes(v))));
    }
    return more;
  }

  const api::Posed& posed_;
  api::Sweep sweep_;
};

}  // namespace

HessianVectorProduct hessian_vector_product(const Plan& plan, Tensors operands, Tensors direction,
                                            const RunOptions& options, Tensors cotangents) {
  const base::Watch watch(options.cancelled, options.progress);
  const Semiring semiring = differentiable(options.semiring);
  const api::Call call(plan, operands, options);
  const api::Posed posed(call, api::question_inputs(call, semiring, api::Look::before), semiring);
  HessianVectorProduct answer;
  HessianAsker(posed, !cotangents.empty()).ask(direction, cotangents, answer);
  return answer;
}

void hessian_vector_product_into(HessianVectorProduct& answer, const Plan& plan, Tensors operands, Tensors direction,
                                 Workspace& workspace, const RunOptions& options, Tensors cotangents) {
  const base::Watch watch(options.cancelled, options.progress);
  api::ask_held<HessianAsker>(workspace, plan, operands, options, !cotangents.empty(),
                              [&](HessianAsker& asker) { asker.ask(direction, cotangents, answer); });
}

HessianVectorProduct hessian_vector_product(std::string_view equation, Tensors operands, Tensors direction,
                                            const EinsumOptions& options, Tensors cotangents) {
  const auto [plan, how] = api::call_of(equation, operands, options);
  return hessian_vector_product(plan, operands, direction, how, cotangents);
}

}  // namespace plated
