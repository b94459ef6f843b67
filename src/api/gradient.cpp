// value_and_gradient and hessian_vector_product.
#include "plated/gradient.hpp"

#include <algorithm>

#include "api/ask.hpp"
#include "api/held.hpp"
#include "api/inputs.hpp"
#include "api/padding.hpp"
#include "api/plan_cache.hpp"
#include "api/sweep.hpp"
#include "base/watch.hpp"
#include "engine/check_operands.hpp"
#include "engine/indicator.hpp"
#include "engine/inspect.hpp"
#include "engine/log_posterior.hpp"
#include "plated/error.hpp"

namespace plated {
namespace {

Semiring differentiable(Semiring semiring) {
  if (semiring == Semiring::log || semiring == Semiring::real) return semiring;
  throw OptionError("gradients exist in the log and real semirings, not in " + std::string(name(semiring)));
}

/// Throws OperandCountError unless there are none or one for each output.
void check_count(const FactorGraph& graph, Tensors cotangents) {
  if (cotangents.empty() || cotangents.size() == graph.outputs().size()) return;
  throw OperandCountError("the model has " + std::to_string(graph.outputs().size()) + " outputs, but " +
                          std::to_string(cotangents.size()) + " cotangents were given");
}

/// Cotangents of ones.
std::vector<Tensor> ones(const api::Call& call) {
  std::vector<Tensor> all;
  for (const Output& output : call.graph.outputs()) {
    const Tensor cotangent = engine::constant(1.0, Dtype::float64, call.shape(output.dims));
    all.push_back(api::zero_padded(call, output.dims, cotangent));
  }
  return all;
}

/// What a question brings along for some dims, checked; what is not there has none. `what` and a number name it.
Tensor brought(const api::Call& call, const Tensor& given, const std::vector<DimId>& dims, const Tensor::Shape& shape,
               const char* what, std::size_t number) {
  const Tensor existing = api::zero_padded(call, dims, given);
  const bool fits = existing.shape() == shape && (existing.data() != nullptr || existing.elements() == 0);
  if (!fits || !engine::admits(existing, Semiring::real, 1)) {
    engine::check_like(what + std::to_string(number), existing, shape);
  }
  return existing;
}

/// Has a sweep read these cotangents in place of ones.
void bring_cotangents(api::Sweep& sweep, const api::Call& call, Tensors given) {
  for (std::size_t o = 0; o < given.size(); ++o) {
    const std::vector<DimId>& dims = call.graph.outputs()[o].dims;
    sweep.bring(o, brought(call, given[o], dims, sweep.brought_shape(o), "the cotangent of output ", o));
  }
}

/// Of cotangents that are finite.
bool any_negative(Tensors cotangents, int threads) {
  return std::any_of(cotangents.begin(), cotangents.end(), [&](const Tensor& cotangent) {
    return cotangent.data() != nullptr && !engine::admits(cotangent, Semiring::max_product, threads);
  });
}

class GradientAsker {
 public:
  struct Parameters {
    std::vector<bool> wanted;  // [factor]
    bool has_cotangents = false;
    bool nonnegative = true;  // cotangents
    bool wide = true;         // places
    bool operator==(const Parameters&) const = default;
  };
  static Semiring semiring(const RunOptions& options) { return differentiable(options.semiring); }
  static void take(const api::Call& call, Semiring semiring, api::Look look, api::Inputs& inputs) {
    api::take_question_inputs(call, semiring, look, inputs);
  }

  /// The parameters of a call, good until the next one on this thread. Throws OperandCountError.
  static const Parameters& parameters(const FactorGraph& graph, Tensors operands, const RunOptions& options,
                                      const GradientOptions& gradient, const std::vector<Tensor>& places) {
    check_count(graph, gradient.cotangents);
    if (!gradient.gradients.empty() && gradient.gradients.size() != operands.size()) {
      throw OperandCountError(std::to_string(operands.size()) + " operands have as many gradients, but places for " +
                              std::to_string(gradient.gradients.size()) + " were given");
    }
    // Kept between calls: a question that has been asked before must not allocate.
    thread_local Parameters known;
    const Dtype dtype = engine::element_dtype(operands);
    known.wanted.assign(operands.size(), true);
    known.wide = true;
    for (std::size_t f = 0; f < operands.size(); ++f) {
      const bool told = !gradient.gradients.empty();
      known.wanted[f] = !told || gradient.gradients[f].data() != nullptr;
      const bool has_place = told || (f < places.size() && places[f].data() != nullptr);
      const Dtype written = !has_place ? operands[f].dtype() : told ? gradient.gradients[f].dtype() : places[f].dtype();
      known.wide = known.wide && (!known.wanted[f] || size_of(written) >= size_of(dtype));
    }
    known.has_cotangents = !gradient.cotangents.empty();
    known.nonnegative = !any_negative(gradient.cotangents, std::max(1, options.threads));
    return known;
  }

  GradientAsker(const api::Posed& posed, const Parameters& parameters)
      : posed_(posed),
        wanted_(parameters.wanted),
        sweep_(posed, asked(posed, parameters), posed.dtype, shapes(posed, wanted_), ones(posed.call)) {}

  void ask(const GradientOptions& gradient, ValueAndGradient& answer) {
    const api::Call& call = posed_.call;
    bring_cotangents(sweep_, call, gradient.cotangents);
    place(gradient, answer);
    const std::span<const Tensor> results = sweep_.run(&finite_);
    base::tell_progress(1);
    answer.values.resize(call.graph.outputs().size());
    if (posed_.inputs.recentred()) {
      const std::vector<Tensor> values = posed_.given_outputs(posed_.dtype);
      for (std::size_t o = 0; o < values.size(); ++o) {
        engine::put(values[o], posed_.dtype, answer.values[o], "an output");
      }
    } else {
      std::copy_n(results.begin(), answer.values.size(), answer.values.begin());
    }
    api::erase_outputs(call, answer.values, posed_.semiring);
    answer.gradients.resize(call.operands.size());
    unseen_.clear();
    std::size_t next = sweep_.first_answer();
    for (std::size_t f = 0; f < call.operands.size(); ++f) {
      const bool seen = !wanted_[f] || finite_[next];
      answer.gradients[f] = wanted_[f] ? results[next++] : Tensor();
      unseen_.push_back(seen ? Tensor() : answer.gradients[f]);
    }
    api::check_results(answer.values, "output", posed_.semiring, call);
    api::check_results(unseen_, "the gradient of operand", Semiring::real, call);
  }
  [[nodiscard]] std::int64_t bytes() const { return sweep_.bytes(); }

 private:
  static adjoint::Asked asked(const api::Posed& posed, const Parameters& parameters) {
    adjoint::Asked asked = posed.call.plan.parts({.kind = Question::Kind::gradient, .semiring = posed.semiring})[0];
    asked.nonnegative = parameters.nonnegative;
    asked.reads_answers = parameters.wide;
    asked.chosen = parameters.wanted;
    return asked;
  }
  static std::vector<Tensor> shapes(const api::Posed& posed, const std::vector<bool>& wanted) {
    std::vector<Tensor> places;
    const std::span<const Tensor> operands = posed.call.operands;
    for (std::size_t f = 0; f < operands.size(); ++f) {
      if (wanted[f]) places.push_back(api::shape_only(operands[f].dtype(), operands[f].shape()));
    }
    return places;
  }

  /// Where results go: the caller's places, or those of the last answer.
  void place(const GradientOptions& gradient, const ValueAndGradient& answer) {
    const Tensor none;
    const auto given = [&](const std::vector<Tensor>& list, std::size_t k) -> const Tensor& {
      return k < list.size() ? list[k] : none;
    };
    for (std::size_t o = 0; posed_.kept() == nullptr && o < sweep_.first_answer(); ++o) {
      sweep_.place(o, given(answer.values, o), "an output");
    }
    const bool told = !gradient.gradients.empty();
    places_.clear();
    std::size_t next = sweep_.first_answer();
    for (std::size_t f = 0; f < wanted_.size(); ++f) {
      if (!wanted_[f]) continue;
      const Tensor& at = told ? gradient.gradients[f] : given(answer.gradients, f);
      if (told) places_.push_back(at);
      if (!told) sweep_.place(next, at, "the gradient of factor", posed_.call.graph.factors()[f].name);
      ++next;
    }
    if (!told) return;
    engine::check_gradients(posed_.call.graph, posed_.call.extents(), wanted_, places_, sweep_.operands());
    for (std::size_t k = 0; k < places_.size(); ++k) sweep_.place_checked(sweep_.first_answer() + k, places_[k]);
  }

  const api::Posed& posed_;
  std::vector<bool> wanted_;
  api::Sweep sweep_;
  std::vector<Tensor> places_;
  std::vector<bool> finite_;
  std::vector<Tensor> unseen_;  // gradients that the run has not looked at as it wrote them
};

}  // namespace

ValueAndGradient api::ask_gradient(const Posed& posed, const GradientOptions& gradient) {
  const Call& call = posed.call;
  ValueAndGradient answer;
  const auto& parameters = GradientAsker::parameters(call.graph, call.operands, call.options, gradient, {});
  GradientAsker(posed, parameters).ask(gradient, answer);
  return answer;
}

ValueAndGradient value_and_gradient(const Plan& plan, Tensors operands, const RunOptions& options,
                                    const GradientOptions& gradient) {
  const base::Watch watch(options.cancelled, options.progress);
  const Semiring semiring = differentiable(options.semiring);
  const api::Call call(plan, operands, options);
  return api::pose_as_given(call, semiring,
                            [&](const api::Posed& posed) { return api::ask_gradient(posed, gradient); });
}

void value_and_gradient_into(ValueAndGradient& answer, const Plan& plan, Tensors operands, Workspace& workspace,
                             const RunOptions& options, const GradientOptions& gradient) {
  const base::Watch watch(options.cancelled, options.progress);
  const auto& parameters = GradientAsker::parameters(plan.graph(), operands, options, gradient, answer.gradients);
  api::ask_held<GradientAsker>(workspace, plan, operands, options, parameters,
                               [&](GradientAsker& asker) { asker.ask(gradient, answer); });
}

ValueAndGradient value_and_gradient(std::string_view equation, Tensors operands, const EinsumOptions& options,
                                    const GradientOptions& gradient) {
  return value_and_gradient(api::cached_plan(equation, operands, options), operands, api::run_options(options),
                            gradient);
}

namespace {

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
  return hessian_vector_product(api::cached_plan(equation, operands, options), operands, direction,
                                api::run_options(options), cotangents);
}

}  // namespace plated
