// max_marginals: the best total with each state of each variable, as outputs of a plan in a selective semiring.
#include <deque>

#include "adjoint/questions.hpp"
#include "api/ask.hpp"
#include "api/held.hpp"
#include "api/inputs.hpp"
#include "api/plan_cache.hpp"
#include "api/sweep.hpp"
#include "base/watch.hpp"
#include "engine/erase.hpp"
#include "engine/indicator.hpp"
#include "engine/log_posterior.hpp"
#include "plated/marginals.hpp"
#include "semiring/dispatch.hpp"
#include "semiring/selective.hpp"

namespace plated {
namespace {

class MaxMarginalsAsker {
 public:
  struct Parameters {
    bool operator==(const Parameters&) const = default;
  };
  static Semiring semiring(const RunOptions& options) { return semiring::selective(options.semiring); }
  static void take(const api::Call& call, Semiring semiring, api::Look /*look*/, api::Inputs& inputs) {
    api::take_given_inputs(call, semiring, inputs);
  }

  explicit MaxMarginalsAsker(const api::Posed& posed, Parameters /*none*/ = {})
      : posed_(posed),
        asked_(posed.call.plan.parts({.kind = Question::Kind::max_marginals, .semiring = posed.semiring})[0]),
        sweep_(posed, asked_, Dtype::float64, shapes()),
        zero_(semiring::dispatch(posed.semiring, [](auto ring) { return decltype(ring)::zero(); })) {
    const api::Call& call = posed.call;
    const engine::Exponents presence = call.presence();
    std::size_t next = sweep_.first_answer();
    for (const DimId v : graph::variables(call.graph)) {
      const std::vector<DimId> axes = call.plan.axes(v);
      const bool is_output = next < asked_.axes.size() && asked_.axes[next] == axes;
      variables_.push_back(
          {v, call.shape(axes), is_output ? next++ : 0, engine::Absent(call.extents(), presence, axes)});
    }
  }

  void ask(std::map<std::string, Tensor>& answer) {
    for (const Variable& of : variables_) {
      if (of.output > 0) sweep_.place(of.output, answer[name(of)], what, name(of));
    }
    const std::span<const Tensor> results = sweep_.run();
    api::check_results(results.subspan(sweep_.first_answer()), "max_marginals: output", posed_.semiring, posed_.call);
    base::tell_progress(1);
    for (const Variable& of : variables_) {
      Tensor& place = answer[name(of)];
      const IntegerView* observed = posed_.call.observed(of.id);
      if (of.output > 0) {
        place = results[of.output];
      } else if (posed_.call.graph.dims()[of.id].size > 1) {
        engine::put_everywhere(zero_, of.shape, posed_.dtype, place, what, name(of));
      } else {
        // The best total of a variable that has one state is that of all.
        engine::put_repeated(results[sweep_.total()], of.shape, posed_.dtype, place, what, name(of));
        observed = nullptr;
      }
      if (observed != nullptr) {
        totals_.assign(results[sweep_.total()].begin(), results[sweep_.total()].end());
        engine::put_observed(*observed, totals_, zero_, place);
      }
      if (of.output == 0) {
        api::check_results(std::span(&place, 1), "max_marginals: output", posed_.semiring, posed_.call);
      }
      of.absent.erase(place, zero_);
    }
  }
  [[nodiscard]] std::int64_t bytes() const { return sweep_.bytes(); }

 private:
  static constexpr const char* what = "the max-marginals of";
  struct Variable {
    DimId id;
    Tensor::Shape shape;
    std::size_t output;     // 0: of none
    engine::Absent absent;  // slices that do not exist
  };

  [[nodiscard]] std::vector<Tensor> shapes() const {
    std::vector<Tensor> places;
    for (std::size_t o = 1; o < asked_.axes.size(); ++o) {
      places.push_back(api::shape_only(posed_.dtype, posed_.call.shape(asked_.axes[o])));
    }
    return places;
  }
  [[nodiscard]] const std::string& name(const Variable& of) const { return posed_.call.graph.dims()[of.id].name; }

  const api::Posed& posed_;
  adjoint::Asked asked_;
  api::Sweep sweep_;
  double zero_;
  std::deque<Variable> variables_;
  std::vector<double> totals_;  // for each batch
};

}  // namespace

std::map<std::string, Tensor> api::ask_max_marginals(const Posed& posed) {
  std::map<std::string, Tensor> answer;
  MaxMarginalsAsker(posed).ask(answer);
  return answer;
}

void max_marginals_into(std::map<std::string, Tensor>& answer, const Plan& plan, Tensors operands, Workspace& workspace,
                        const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  api::ask_held<MaxMarginalsAsker>(workspace, plan, operands, options, MaxMarginalsAsker::Parameters{},
                                   [&](MaxMarginalsAsker& asker) { asker.ask(answer); });
}

std::map<std::string, Tensor> max_marginals(const Plan& plan, Tensors operands, const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  const Semiring semiring = semiring::selective(options.semiring);
  const api::Call call(plan, operands, options);
  return api::ask_max_marginals(api::Posed(call, api::given_inputs(call, semiring), semiring));
}

std::map<std::string, Tensor> max_marginals(std::string_view equation, Tensors operands, const EinsumOptions& options) {
  const auto [plan, how] = api::call_of(equation, operands, options);
  return max_marginals(plan, operands, how);
}

}  // namespace plated
