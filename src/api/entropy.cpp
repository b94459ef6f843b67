// entropy and expectation: numbers that the reverse sweep adds up.
#include <algorithm>

#include "api/ask.hpp"
#include "api/held.hpp"
#include "api/inputs.hpp"
#include "api/plan_cache.hpp"
#include "api/sweep.hpp"
#include "base/watch.hpp"
#include "engine/check_answers.hpp"
#include "engine/check_operands.hpp"
#include "engine/indicator.hpp"
#include "engine/inspect.hpp"
#include "engine/log_posterior.hpp"
#include "plated/error.hpp"
#include "plated/marginals.hpp"

namespace plated {
namespace {

/// Statistics of a factor, checked. Entries of slices that do not exist are never read.
Tensor checked_statistic(const api::Call& call, std::size_t f, const Tensor& given) {
  const auto called = [&] { return "the statistics of operand " + std::to_string(f); };
  const Tensor::Shape& shape = call.operands[f].shape();
  if (given.shape() != shape) {
    throw SizeError(called() + " have the shape " + engine::shape_text(given.shape()) + ", but the operand has " +
                    engine::shape_text(shape));
  }
  // With zeros where there is nothing, so that nothing is added.
  Tensor checked = engine::without_padding(call.graph.factors()[f].dims, given, call.lengths(), Semiring::max_plus);
  if (!engine::admits(checked, Semiring::real, 1)) engine::check_like(called(), checked, shape);
  return checked;
}

/// A question whose only answer is a number for each batch.
class NumberAsker {
 public:
  static Semiring semiring(const RunOptions& /*options*/) { return Semiring::log; }
  static void take(const api::Call& call, Semiring /*semiring*/, api::Look look, api::Inputs& inputs) {
    api::take_log_inputs(call, look, inputs);
  }

  // Many steps add to the answer: in double, whatever it is rounded to in the end.
  NumberAsker(const api::Posed& posed, const adjoint::Asked& asked, const std::vector<Tensor>& statistics)
      : posed_(posed),
        sweep_(posed, asked, Dtype::float64, {api::shape_only(Dtype::float64, posed.call.batch_shape())},
               with_ones(posed, statistics)) {}

  void ask(Tensor& answer) {
    const std::span<const Tensor> results = sweep_.run();
    engine::check_possible(posed_.call.graph, results[sweep_.total()], Semiring::log);
    engine::put(results.back(), posed_.dtype, answer, "the answer");
    engine::check_answer("the answer", "", answer, Semiring::real);
  }
  [[nodiscard]] std::int64_t bytes() const { return sweep_.bytes(); }

 protected:
  void bring(std::size_t statistic, const Tensor& given) { sweep_.bring(1 + statistic, given); }

 private:
  static std::vector<Tensor> with_ones(const api::Posed& posed, const std::vector<Tensor>& statistics) {
    std::vector<Tensor> more{engine::constant(1.0, Dtype::float64, posed.call.batch_shape())};
    more.insert(more.end(), statistics.begin(), statistics.end());
    return more;
  }

  const api::Posed& posed_;
  api::Sweep sweep_;
};

class EntropyAsker : public NumberAsker {
 public:
  struct Parameters {
    bool operator==(const Parameters&) const = default;
  };
  explicit EntropyAsker(const api::Posed& posed, Parameters /*none*/ = {})
      : NumberAsker(posed, posed.call.plan.parts({.kind = Question::Kind::entropy})[0], {}) {}
};

class ExpectationAsker : public NumberAsker {
 public:
  /// Which factors have statistics.
  using Parameters = std::vector<bool>;
  ExpectationAsker(const api::Posed& posed, const Parameters& given)
      : NumberAsker(posed, asked_about(posed, given), std::vector<Tensor>(count(given))), posed_(posed) {}

  void ask(Tensors statistics, Tensor& answer) {
    std::size_t next = 0;
    for (std::size_t f = 0; f < statistics.size(); ++f) {
      if (statistics[f].data() != nullptr) bring(next++, checked_statistic(posed_.call, f, statistics[f]));
    }
    NumberAsker::ask(answer);
  }

 private:
  static std::size_t count(const Parameters& given) {
    return static_cast<std::size_t>(std::count(given.begin(), given.end(), true));
  }
  static adjoint::Asked asked_about(const api::Posed& posed, const Parameters& given) {
    adjoint::Asked asked = posed.call.plan.parts({.kind = Question::Kind::expectation})[0];
    asked.chosen = given;
    return asked;
  }

  const api::Posed& posed_;
};

/// Throws OperandCountError unless there is an entry for each factor.
const std::vector<bool>& given_statistics(const FactorGraph& graph, Tensors statistics) {
  if (statistics.size() != graph.factors().size()) {
    throw OperandCountError("the model has " + std::to_string(graph.factors().size()) +
                            " factors, but statistics for " + std::to_string(statistics.size()) + " were given");
  }
  // Kept between calls: a question that has been asked before must not allocate.
  thread_local std::vector<bool> given;
  given.clear();
  for (const Tensor& statistic : statistics) given.push_back(statistic.data() != nullptr);
  return given;
}

}  // namespace

Tensor api::ask_entropy(const Posed& posed) {
  Tensor answer;
  EntropyAsker(posed).ask(answer);
  return answer;
}

Tensor entropy(const Plan& plan, Tensors operands, const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  const api::Call call(plan, operands, options);
  return api::pose_in_log(call, [](const api::Posed& posed) { return api::ask_entropy(posed); });
}

void entropy_into(Tensor& answer, const Plan& plan, Tensors operands, Workspace& workspace, const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  api::ask_held<EntropyAsker>(workspace, plan, operands, options, EntropyAsker::Parameters{},
                              [&](EntropyAsker& asker) { asker.ask(answer); });
}

Tensor entropy(std::string_view equation, Tensors operands, const EinsumOptions& options) {
  const auto [plan, how] = api::call_of(equation, operands, options);
  return entropy(plan, operands, how);
}

Tensor api::ask_expectation(const Posed& posed, Tensors statistics) {
  Tensor answer;
  ExpectationAsker(posed, given_statistics(posed.call.graph, statistics)).ask(statistics, answer);
  return answer;
}

Tensor expectation(const Plan& plan, Tensors operands, Tensors statistics, const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  const api::Call call(plan, operands, options);
  return api::pose_in_log(call, [&](const api::Posed& posed) { return api::ask_expectation(posed, statistics); });
}

void expectation_into(Tensor& answer, const Plan& plan, Tensors operands, Tensors statistics, Workspace& workspace,
                      const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  api::ask_held<ExpectationAsker>(workspace, plan, operands, options, given_statistics(plan.graph(), statistics),
                                  [&](ExpectationAsker& asker) { asker.ask(statistics, answer); });
}

Tensor expectation(std::string_view equation, Tensors operands, Tensors statistics, const EinsumOptions& options) {
  const auto [plan, how] = api::call_of(equation, operands, options);
  return expectation(plan, operands, statistics, how);
}

}  // namespace plated
