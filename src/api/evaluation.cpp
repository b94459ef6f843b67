// evaluate: runs a plan forward, keeps its values, and answers questions from them.
#include "plated/evaluation.hpp"

#include <algorithm>
#include <memory>
#include <mutex>

#include "api/ask.hpp"
#include "api/inputs.hpp"
#include "api/padding.hpp"
#include "api/plan_cache.hpp"
#include "base/watch.hpp"
#include "engine/check_operands.hpp"
#include "engine/inspect.hpp"
#include "engine/log_posterior.hpp"
#include "engine/recentre.hpp"
#include "engine/slice.hpp"
#include "plated/error.hpp"

namespace plated {

struct Evaluation::Impl {
  Impl(const Plan& of, std::span<const Tensor> given, const RunOptions& how)
      : plan(of), operands(given.begin(), given.end()), options(how), call(plan, operands, options) {
    evaluate();
  }

  /// Runs forward.
  void evaluate() {
    const auto run = [&](api::Look look) {
      own = std::make_unique<api::Posed>(call, api::question_inputs(call, options.semiring, look), options.semiring);
      own->evaluate();
    };
    try {
      run(api::Look::by_run);
    } catch (const api::LeftToRun::Suspicious&) {
      run(api::Look::before);
    }
  }

  /// For questions about a posterior: in log space.
  const api::Posed& log() {
    if (options.semiring == Semiring::log) return *own;
    const std::lock_guard lock(mutex);
    if (!in_log) {
      in_log = std::make_unique<api::Posed>(call, api::log_inputs(call, api::Look::before), Semiring::log);
      in_log->held_elsewhere = own->held();
      in_log->evaluate();
      own->held_elsewhere = in_log->held();
    }
    return *in_log;
  }

  void want(const char* question, std::initializer_list<Semiring> semirings) const {
    if (std::find(semirings.begin(), semirings.end(), options.semiring) != semirings.end()) return;
    throw OptionError("an evaluation in the " + std::string(name(options.semiring)) + " semiring has no " + question);
  }
  void want_posterior(const char* question) const { want(question, {Semiring::log, Semiring::real}); }
  void want_best(const char* question) const {
    want(question, {Semiring::max_plus, Semiring::max_product, Semiring::min_plus});
  }

  Plan plan;
  std::vector<Tensor> operands;
  RunOptions options;
  api::Call call;
  std::unique_ptr<api::Posed> own;
  std::mutex mutex;
  std::unique_ptr<api::Posed> in_log;  // of an evaluation in the real semiring, once a posterior is asked for
};

Evaluation::Evaluation(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Evaluation Plan::evaluate(Tensors operands, const RunOptions& options) const {
  const base::Watch watch(options.cancelled, options.progress);
  return Evaluation(std::make_shared<Evaluation::Impl>(*this, operands, options));
}

Evaluation evaluate(std::string_view equation, Tensors operands, const EinsumOptions& options) {
  const auto [plan, how] = api::call_of(equation, operands, options);
  return plan.evaluate(operands, how);
}

Semiring Evaluation::semiring() const { return impl_->options.semiring; }

std::vector<Tensor> Evaluation::value() const {
  const api::Posed& own = *impl_->own;
  const base::Watch watch(impl_->options.cancelled, impl_->options.progress);
  std::vector<Tensor> values;
  if (own.inputs.recentred()) {
    values = own.given_outputs(own.dtype);
  } else {
    // Copies: what is kept changes with update().
    for (std::size_t o = 0; o < impl_->call.graph.outputs().size(); ++o) {
      const Tensor& kept = own.kept()->outputs()[o];
      values.push_back(engine::filled(own.dtype, kept.shape(), kept.values()));
    }
  }
  api::erase_outputs(impl_->call, values, own.semiring);
  api::check_results(values, "output", own.semiring, impl_->call);
  return values;
}

std::vector<Tensor> Evaluation::gradient(Tensors cotangents) const {
  impl_->want_posterior("gradient");
  const base::Watch watch(impl_->options.cancelled, impl_->options.progress);
  return api::ask_gradient(*impl_->own, {.cotangents = {cotangents.begin(), cotangents.end()}}).gradients;
}

std::vector<Tensor> Evaluation::gradient(Tensors cotangents, std::span<const std::int64_t> operands) const {
  impl_->want_posterior("gradient");
  const base::Watch watch(impl_->options.cancelled, impl_->options.progress);
  GradientOptions options{.cotangents = {cotangents.begin(), cotangents.end()},
                          .gradients = std::vector<Tensor>(impl_->operands.size())};
  for (const std::int64_t k : operands) {
    if (k < 0 || k >= static_cast<std::int64_t>(impl_->operands.size())) {
      throw OptionError("a gradient is asked for operand " + std::to_string(k) + ", and there are " +
                        std::to_string(impl_->operands.size()));
    }
    const Tensor& operand = impl_->operands[static_cast<std::size_t>(k)];
    options.gradients[static_cast<std::size_t>(k)] = Tensor::uninitialised(operand.dtype(), operand.shape());
  }
  return api::ask_gradient(*impl_->own, options).gradients;
}

Marginals Evaluation::marginals(const MarginalOptions& wanted) const {
  impl_->want_posterior("marginals");
  const base::Watch watch(impl_->options.cancelled, impl_->options.progress);
  return api::ask_marginals(impl_->log(), wanted);
}

std::map<std::string, Integers> Evaluation::sample(const SampleOptions& draws) const {
  impl_->want_posterior("samples");
  const base::Watch watch(impl_->options.cancelled, impl_->options.progress);
  return api::ask_sample(impl_->log(), draws);
}

Tensor Evaluation::entropy() const {
  impl_->want_posterior("entropy");
  const base::Watch watch(impl_->options.cancelled, impl_->options.progress);
  return api::ask_entropy(impl_->log());
}

Tensor Evaluation::expectation(Tensors statistics) const {
  impl_->want_posterior("expectation");
  const base::Watch watch(impl_->options.cancelled, impl_->options.progress);
  return api::ask_expectation(impl_->log(), statistics);
}

MapResult Evaluation::map() const {
  impl_->want_best("best assignment (max_plus has it for log, max_product for real)");
  const base::Watch watch(impl_->options.cancelled, impl_->options.progress);
  return api::ask_map(*impl_->own);
}

std::map<std::string, Tensor> Evaluation::max_marginals() const {
  impl_->want_best("max-marginals (max_plus has them for log, max_product for real)");
  const base::Watch watch(impl_->options.cancelled, impl_->options.progress);
  if (!impl_->own->inputs.recentred()) return api::ask_max_marginals(*impl_->own);
  // Scores are those of the operands as they were given.
  const Semiring semiring = impl_->options.semiring;
  return api::ask_max_marginals(api::Posed(impl_->call, api::given_inputs(impl_->call, semiring), semiring));
}

void Evaluation::update(std::size_t operand, std::span<const std::int64_t> index) {
  const base::Watch watch(impl_->options.cancelled, impl_->options.progress);
  const api::Call& call = impl_->call;
  const std::vector<Factor>& factors = call.graph.factors();
  if (operand >= factors.size()) {
    throw OperandCountError("operand " + std::to_string(operand) + " has changed, but the model has " +
                            std::to_string(factors.size()) + " factors");
  }
  const std::vector<engine::Slice> slices = engine::slices_at(call.graph, operand, impl_->operands[operand], index);
  const api::Inputs& inputs = impl_->own->inputs;
  // Of an operand that lacks slices or is too large, the run has read a copy.
  const bool copied = inputs.given[operand].data() != impl_->operands[operand].data() ||
                      (inputs.recentred() && inputs.offsets[operand]);
  if (copied) {
    impl_->in_log.reset();
    return impl_->evaluate();
  }
  const Tensor slice = engine::part_of(call.graph.factors()[operand].dims, impl_->operands[operand], slices);
  const engine::Inspection seen = engine::inspect(slice, impl_->options.semiring, call.threads());
  if (!seen.admitted && impl_->options.check == Check::all) {
    engine::refuse_values(call.graph, operand, impl_->operands[operand], impl_->options.semiring);
  }
  if (api::is_to_be_distribution(factors[operand], impl_->options.semiring, impl_->options)) {
    engine::check_distribution(call.graph, operand, impl_->operands[operand], impl_->options.semiring, Tensor{},
                               call.threads(), slices);
  }
  impl_->in_log.reset();
  impl_->own->held_elsewhere = 0;
  // A slice that has become very large is reduced like the operands of a fresh evaluation.
  const bool adds = impl_->options.semiring == Semiring::log || impl_->options.semiring == Semiring::max_plus ||
                    impl_->options.semiring == Semiring::min_plus;
  const bool large = adds && impl_->options.check == Check::all &&
                     engine::large_offsets(call.graph, call.extents(), operand, impl_->operands[operand],
                                           seen.magnitude, impl_->options.semiring, call.threads());
  if (large) return impl_->evaluate();
  impl_->own->evaluated().update(operand, slices);
}

void Evaluation::update(std::string_view factor, std::span<const std::int64_t> index) {
  const std::vector<Factor>& factors = impl_->call.graph.factors();
  const auto found =
      std::find_if(factors.begin(), factors.end(), [&](const Factor& known) { return known.name == factor; });
  if (found == factors.end()) {
    throw UnknownNameError("factor '" + std::string(factor) + "' has changed, and the model has no such factor");
  }
  update(static_cast<std::size_t>(found - factors.begin()), index);
}

}  // namespace plated
