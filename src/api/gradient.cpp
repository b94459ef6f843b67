// value_and_gradient.
#include "plated/gradient.hpp"

#include <algorithm>

#include "api/ask.hpp"
#include "api/cotangents.hpp"
#include "api/held.hpp"
#include "api/inputs.hpp"
#include "api/padding.hpp"
#include "api/plan_cache.hpp"
#include "api/repeated_gradient.hpp"
#include "api/sweep.hpp"
#include "base/watch.hpp"
#include "engine/check_operands.hpp"
#include "engine/inspect.hpp"
#include "engine/log_posterior.hpp"
#include "plated/error.hpp"

namespace plated {
namespace {

using api::bring_cotangents;
using api::check_count;
using api::differentiable;
using api::ones;

/// Of cotangents that are finite.
bool any_negative(Tensors cotangents, int threads) {
  return std::any_of(cotangents.begin(), cotangents.end(), [&](const Tensor& cotangent) {
    return cotangent.data() != nullptr && !engine::admits(cotangent, Semiring::max_product, threads);
  });
}

}  // namespace

namespace api {

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

}  // namespace api

ValueAndGradient api::ask_gradient(const Posed& posed, const GradientOptions& gradient) {
  const Call& call = posed.call;
  ValueAndGradient answer;
  const auto& parameters = api::GradientAsker::parameters(call.graph, call.operands, call.options, gradient, {});
  api::GradientAsker(posed, parameters).ask(gradient, answer);
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

/// Its parameters are those of the first call.
struct api::RepeatedGradient::Impl {
  std::function<bool()> cancelled;
  std::function<void(double)> progress;
  GradientOptions gradient;
  HeldQuestion<api::GradientAsker> question;
};

api::RepeatedGradient::RepeatedGradient(const Plan& plan, Tensors operands, const RunOptions& options,
                                        GradientOptions gradient) {
  const api::GradientAsker::Parameters parameters =
      api::GradientAsker::parameters(plan.graph(), operands, options, gradient, gradient.gradients);
  impl_ = std::unique_ptr<Impl>(new Impl{
      options.cancelled, options.progress, std::move(gradient), {plan, operands, options, parameters, Numbers::stay}});
}
api::RepeatedGradient::RepeatedGradient(RepeatedGradient&&) noexcept = default;
api::RepeatedGradient& api::RepeatedGradient::operator=(RepeatedGradient&&) noexcept = default;
api::RepeatedGradient::~RepeatedGradient() = default;

void api::RepeatedGradient::ask(Tensors operands, ValueAndGradient& answer) {
  const base::Watch watch(impl_->cancelled, impl_->progress);
  impl_->question.set(operands);
  impl_->question.ask([&](api::GradientAsker& asker) { asker.ask(impl_->gradient, answer); });
}

void value_and_gradient_into(ValueAndGradient& answer, const Plan& plan, Tensors operands, Workspace& workspace,
                             const RunOptions& options, const GradientOptions& gradient) {
  const base::Watch watch(options.cancelled, options.progress);
  const auto& parameters = api::GradientAsker::parameters(plan.graph(), operands, options, gradient, answer.gradients);
  api::ask_held<api::GradientAsker>(workspace, plan, operands, options, parameters,
                                    [&](api::GradientAsker& asker) { asker.ask(gradient, answer); });
}

ValueAndGradient value_and_gradient(std::string_view equation, Tensors operands, const EinsumOptions& options,
                                    const GradientOptions& gradient) {
  const auto [plan, how] = api::call_of(equation, operands, options);
  return value_and_gradient(plan, operands, how, gradient);
}

}  // namespace plated
