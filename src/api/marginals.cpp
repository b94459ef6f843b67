// marginals: probabilities from one reverse sweep; joint sets and logarithms from outputs of their own.
#include "plated/marginals.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "adjoint/questions.hpp"
#include "api/ask.hpp"
#include "api/held.hpp"
#include "api/inputs.hpp"
#include "api/joint_posteriors.hpp"
#include "api/plan_cache.hpp"
#include "api/sweep.hpp"
#include "base/watch.hpp"
#include "engine/check_answers.hpp"
#include "engine/erase.hpp"
#include "engine/indicator.hpp"
#include "engine/log_posterior.hpp"
#include "engine/normalise.hpp"
#include "graph/ends.hpp"
#include "plated/error.hpp"

namespace plated {
namespace {

using adjoint::Asked;

constexpr const char* posterior_of = "the posterior of";
constexpr double impossible = -std::numeric_limits<double>::infinity();

class MarginalsAsker {
 public:
  using Parameters = MarginalOptions;
  static Semiring semiring(const RunOptions& /*options*/) { return Semiring::log; }
  static void take(const api::Call& call, Semiring /*semiring*/, api::Look look, api::Inputs& inputs) {
    api::take_log_inputs(call, look, inputs);
  }

  MarginalsAsker(const api::Posed& posed, const MarginalOptions& wanted)
      : posed_(posed),
        call_(posed.call),
        graph_(call_.graph),
        wanted_(wanted),
        parts_(call_.plan.parts({.kind = Question::Kind::marginals, .semiring = Semiring::log, .wanted = wanted_})) {
    const bool ends = wanted_.ends && !graph_.chains().empty();
    const auto has_joints = [](const Asked& part) { return part.kind == Asked::Kind::outputs && !part.filtered; };
    if (ends && std::none_of(parts_.begin(), parts_.end(), has_joints)) {
      parts_.push_back({.kind = Asked::Kind::outputs, .own_outputs = false, .axes = {graph::batch_axes(graph_)}});
    }
    swept_ = adjoint::posterior_variables(graph_);  // ascending
    if (wanted_.filtered) filtered_ = graph::by_outermost_chain(graph_, swept_);
    for (const DimId v : graph::variables(graph_)) {
      if (std::binary_search(swept_.begin(), swept_.end(), v)) continue;
      certain_.push_back({v, call_.shape(call_.plan.axes(v))});
    }
    for (const Asked& part : parts_) {
      if (part.kind == Asked::Kind::outputs) {
        joints_.try_emplace(&part, posed, part, wanted_.ends && !part.filtered);
      } else {
        make_sweep(part);
      }
    }
  }

  void ask(Marginals& answer) {
    answer_ = &answer;
    has_total_ = false;
    base::Phases phases;
    for (const Asked& part : parts_) {
      const auto phase = phases.next(parts_.size() > 1 && &part == parts_.data() ? 0.5 : 1.0);
      const auto outputs = joints_.find(&part);
      if (outputs == joints_.end()) {
        probabilities(part);
      } else if (part.filtered) {
        filtered(*part.filtered, outputs->second);
      } else {
        joints(part, outputs->second);
      }
    }
    if (wanted_.variables) add_certain(wanted_.log);
    check_answers();
  }
  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t sum = sweep_ ? sweep_->bytes() : 0;
    for (const auto& entry : joints_) sum += entry.second.bytes();
    return sum;
  }

 private:
  struct Variable {
    DimId id;
    Tensor::Shape shape;
  };
  [[nodiscard]] const std::string& name(DimId v) const { return graph_.dims()[v].name; }

  /// One sweep for all variables and, if asked for, all factors.
  void make_sweep(const Asked& asked) {
    std::vector<Tensor> answers;
    for (std::size_t k = 0; asked.variables && k < swept_.size(); ++k) {
      answers.push_back(api::shape_only(posed_.dtype, call_.shape(call_.plan.axes(swept_[k]))));
    }
    const std::vector<Tensor> operands = asked.factors ? posed_.operands(asked) : std::vector<Tensor>{};
    for (std::size_t f = 0; asked.factors && f < call_.plan.observed.factors().size(); ++f) {
      answers.push_back(api::shape_only(posed_.dtype, operands[f].shape()));
    }
    sweep_.emplace(posed_, asked, Dtype::float64, std::move(answers),
                   std::vector<Tensor>{engine::constant(1.0, Dtype::float64, call_.batch_shape())});
  }

  void probabilities(const Asked& asked) {
    Marginals& answer = *answer_;
    const std::size_t factors = asked.factors ? graph_.factors().size() : 0;
    if (asked.factors) answer.factors.resize(factors);
    const bool writes_total = posed_.kept() == nullptr && !posed_.inputs.recentred();  // where it is wanted
    if (writes_total) sweep_->place(sweep_->total(), answer.log_partition, "log_partition");
    std::size_t next = sweep_->first_answer();
    if (asked.variables) {
      const Tensor none;  // an answer's place is made when it is known: there may be very many
      for (const DimId v : swept_) {
        const auto found = answer.variables.find(name(v));
        sweep_->place(next++, found == answer.variables.end() ? none : found->second, posterior_of, name(v));
      }
    }
    for (std::size_t f = 0; f < factors; ++f) {
      sweep_->place(next++, answer.factors[f], "the posterior of factor", graph_.factors()[f].name);
    }
    const std::span<const Tensor> results = sweep_->run();
    if (writes_total) answer.log_partition = results[sweep_->total()];
    take_total(results[sweep_->total()]);
    next = sweep_->first_answer();
    if (asked.variables) {
      for (const DimId v : swept_) {
        Tensor& posterior = answer.variables[name(v)] = results[next++];
        call_.plan.axes.put(v, axes_);
        if (const IntegerView* observed = call_.observed(v)) {
          engine::put_observed(*observed, certainty_, 0.0, posterior);
        }
        engine::normalise(graph_, axes_, posterior, call_.threads());
        erase(v, false, posterior);
      }
    }
    for (std::size_t f = 0; f < factors; ++f) {
      answer.factors[f] = results[next++];
      engine::normalise(graph_, graph_.factors()[f].dims, answer.factors[f], call_.threads());
    }
  }

  /// Each variable of a chain given the slices up to its own.
  void filtered(DimId chain, api::JointPosteriors& joints) {
    const Tensor& total = joints.run();
    if (!has_total_) take_total(total);
    std::size_t next = 1;
    for (const DimId v : filtered_.at(chain)) put(joints.posterior(next++, wanted_.log), name(v));
  }

  /// Joint marginals as outputs of the plan.
  void joints(const Asked& asked, api::JointPosteriors& joints) {
    Marginals& answer = *answer_;
    const Tensor& total = joints.run();
    if (!has_total_) take_total(total);
    std::size_t next = 1;
    if (wanted_.variables && wanted_.log && filtered_.empty()) {
      for (const DimId v : swept_) put(joints.posterior(next++, true), name(v));
    }
    if (wanted_.factors && wanted_.log) answer.factors.resize(graph_.factors().size());
    for (std::size_t f = 0; wanted_.factors && wanted_.log && f < graph_.factors().size(); ++f, ++next) {
      const std::vector<double> copies =
          call_.exponents().empty() ? std::vector<double>{}
                                    : engine::product_over(call_.extents(), call_.exponents(), asked.axes[next]);
      take(engine::factor_posterior(graph_, call_.extents(), f, asked.axes[next], joints.joint(next), copies, true,
                                    posed_.dtype),
           answer.factors[f], "the posterior of factor", graph_.factors()[f].name);
    }
    answer.sets.resize(wanted_.sets.size());
    for (Tensor& set : answer.sets) {
      engine::put(joints.posterior(next++, wanted_.log), posed_.dtype, set, "the joint posterior of a set");
    }
    for (const std::string& end : joints.ends()) put(joints.posterior(next++, wanted_.log), end);
  }

  void take_total(const Tensor& total) {
    has_total_ = true;
    engine::check_possible(graph_, total, Semiring::log);
    Tensor& place = answer_->log_partition;
    if (posed_.inputs.recentred()) {
      take(posed_.given_total(Dtype::float64), place, "log_partition", "");
    } else {
      api::check_results(std::span(&total, 1), "log_partition, output", Semiring::log, call_);
      if (place.data() != total.data()) engine::put(total, Dtype::float64, place, "log_partition");
    }
  }

  /// An answer of its own memory becomes the caller's, or is copied into it.
  static void take(Tensor made, Tensor& place, const char* what, const std::string& name) {
    if (place.data() == nullptr) {
      place = std::move(made);
    } else {
      engine::put(made, made.dtype(), place, what, name);
    }
  }
  void put(const Tensor& posterior, const std::string& variable) {
    engine::put(posterior, posed_.dtype, answer_->variables[variable], posterior_of, variable);
  }

  /// A slice that stands for nothing has no posterior.
  void erase(DimId v, bool log, const Tensor& posterior) {
    if (call_.exponents().empty()) return;
    const auto [known, is_new] = absent_.try_emplace(v);
    if (is_new) known->second = engine::Absent(call_.extents(), call_.exponents(), call_.plan.axes(v));
    known->second.erase(posterior, log ? impossible : 0.0);
  }

  /// Variables with a single state, and the empty tensors of variables without any.
  void add_certain(bool log) {
    for (const Variable& of : certain_) {
      Tensor& place = answer_->variables[name(of.id)];
      engine::put_everywhere(log ? 0.0 : 1.0, of.shape, posed_.dtype, place, posterior_of, name(of.id));
      erase(of.id, log, place);
    }
  }

  /// A finite total does not say that all parts of it are numbers: what is impossible may have overflowed.
  void check_answers() const {
    const Semiring semiring = wanted_.log ? Semiring::log : Semiring::real;
    for (const auto& [name, tensor] : answer_->variables) {
      engine::check_answer("the posterior of", name, tensor, semiring);
    }
    const auto check = [&](const std::vector<Tensor>& answers, const char* what) {
      engine::check_answers(answers, what, semiring, engine::Suspect::operands, call_.threads());
    };
    check(answer_->factors, "the posterior of factor");
    check(answer_->sets, "the joint posterior of set");
  }

  const api::Posed& posed_;
  const api::Call& call_;
  const FactorGraph& graph_;
  MarginalOptions wanted_;
  std::vector<Asked> parts_;
  std::vector<DimId> swept_;
  graph::VariablesOfChains filtered_;  // of swept ones
  std::vector<Variable> certain_;      // with a single state, or without any
  const std::vector<double> certainty_{1.0};
  std::vector<DimId> axes_;                 // of the variable at hand
  std::map<DimId, engine::Absent> absent_;  // slices of variables that stand for nothing
  std::optional<api::Sweep> sweep_;
  std::map<const Asked*, api::JointPosteriors> joints_;  // of the parts that ask for outputs
  Marginals* answer_ = nullptr;
  bool has_total_ = false;
};

}  // namespace

Marginals api::ask_marginals(const Posed& posed, const MarginalOptions& wanted) {
  Marginals answer;
  MarginalsAsker(posed, wanted).ask(answer);
  return answer;
}

void marginals_into(Marginals& answer, const Plan& plan, Tensors operands, Workspace& workspace,
                    const RunOptions& options, const MarginalOptions& wanted) {
  const base::Watch watch(options.cancelled, options.progress);
  api::ask_held<MarginalsAsker>(workspace, plan, operands, options, wanted,
                                [&](MarginalsAsker& asker) { asker.ask(answer); });
  watch.finish();
}

Marginals marginals(const Plan& plan, Tensors operands, const RunOptions& options, const MarginalOptions& wanted) {
  const base::Watch watch(options.cancelled, options.progress);
  const api::Call call(plan, operands, options);
  Marginals result = api::pose_in_log(call, [&](const api::Posed& posed) { return api::ask_marginals(posed, wanted); });
  watch.finish();
  return result;
}

Marginals marginals(std::string_view equation, Tensors operands, const EinsumOptions& options,
                    const MarginalOptions& wanted) {
  const auto [plan, how] = api::call_of(equation, operands, options);
  return marginals(plan, operands, how, wanted);
}

}  // namespace plated
