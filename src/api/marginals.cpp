// marginals: probabilities from one reverse sweep; joint sets and logarithms from outputs of their own.
#include "plated/marginals.hpp"

#include <limits>

#include "adjoint/questions.hpp"
#include "api/ask.hpp"
#include "api/inputs.hpp"
#include "api/plan_cache.hpp"
#include "base/watch.hpp"
#include "engine/check_answers.hpp"
#include "engine/erase.hpp"
#include "engine/indicator.hpp"
#include "engine/log_posterior.hpp"
#include "engine/normalise.hpp"
#include "plated/error.hpp"

namespace plated {
namespace {

using adjoint::Asked;

class Asker {
 public:
  Asker(const api::Posed& posed, const MarginalOptions& wanted)
      : posed_(posed), call_(posed.call), graph_(call_.graph), wanted_(wanted) {}

  Marginals run() {
    std::vector<Asked> parts =
        call_.plan.parts({.kind = Question::Kind::marginals, .semiring = Semiring::log, .wanted = wanted_});
    const bool ends = wanted_.ends && !graph_.chains().empty();
    if (ends && (parts.empty() || parts.back().kind != Asked::Kind::outputs || parts.back().filtered)) {
      parts.push_back({.kind = Asked::Kind::outputs, .own_outputs = false, .axes = {graph::batch_axes(graph_)}});
    }
    base::Phases phases;
    for (const Asked& part : parts) {
      const auto phase = phases.next(parts.size() > 1 && &part == parts.data() ? 0.5 : 1.0);
      if (part.filtered) {
        filtered(part);
      } else if (part.kind == Asked::Kind::outputs) {
        joints(part);
      } else {
        probabilities(part);
      }
    }
    check_answers();
    return std::move(result_);
  }

 private:
  /// One sweep for all variables and, if asked for, all factors.
  void probabilities(const Asked& asked) {
    const std::vector<DimId> variables = asked.variables ? adjoint::posterior_variables(graph_) : std::vector<DimId>{};
    std::vector<Tensor> answers;
    for (const DimId v : variables) {
      answers.push_back(api::shape_only(posed_.dtype, call_.shape(call_.plan.axes(v))));
    }
    const std::vector<Tensor> operands = asked.factors ? posed_.operands(asked) : std::vector<Tensor>{};
    for (std::size_t f = 0; asked.factors && f < call_.plan.observed.factors().size(); ++f) {
      answers.push_back(api::shape_only(posed_.dtype, operands[f].shape()));
    }
    const Tensor ones = engine::constant(1.0, Dtype::float64, call_.batch_shape());
    std::vector<Tensor> outputs = posed_.run(asked, Dtype::float64, std::move(answers), {ones});
    take_total(outputs[posed_.total(asked)]);
    auto next = outputs.begin() + static_cast<std::ptrdiff_t>(posed_.outputs(asked));
    for (const DimId v : variables) take_variable(v, *next++);
    if (asked.variables) add_certain(false);
    if (asked.factors) take_factors({next, next + static_cast<std::ptrdiff_t>(graph_.factors().size())});
  }

  /// Each variable given the slices up to its own.
  void filtered(const Asked& asked) {
    const std::vector<Tensor> outputs = totals(asked, {});
    if (result_.log_partition.data() == nullptr) take_total(outputs[0]);
    std::size_t next = 1;
    for (const DimId v : adjoint::posterior_variables(graph_)) {
      erase(asked.axes[next], true, outputs[next]);
      result_.variables.emplace(graph_.dims()[v].name,
                                engine::posterior(outputs[next], graph_.dims()[v].size, wanted_.log, posed_.dtype));
      ++next;
    }
    add_certain(wanted_.log);
  }

  /// Joint marginals as outputs of the plan.
  void joints(const Asked& asked) {
    std::vector<std::vector<std::string>> names;
    for (const std::vector<DimId>& axes : asked.axes) names.push_back(graph::names(graph_, axes));
    std::vector<std::vector<DimId>> axes = asked.axes;
    const std::vector<std::string> ends = wanted_.ends ? add_ends(names, axes) : std::vector<std::string>{};
    const std::vector<Tensor> outputs = totals(asked, names);
    if (result_.log_partition.data() == nullptr) take_total(outputs[0]);
    for (std::size_t o = 1; o < axes.size(); ++o) erase(axes[o], true, outputs[o]);
    const auto posterior = [&](std::size_t o) {
      std::int64_t states = 1;
      for (const DimId d : axes[o]) states *= graph_.dims()[d].kind == DimKind::variable ? graph_.dims()[d].size : 1;
      return engine::posterior(outputs[o], states, wanted_.log, posed_.dtype);
    };
    std::size_t next = 1;
    if (wanted_.variables && wanted_.log) {
      for (const DimId v : adjoint::posterior_variables(graph_)) {
        result_.variables.emplace(graph_.dims()[v].name, posterior(next++));
      }
      add_certain(true);
    }
    for (std::size_t f = 0; wanted_.factors && wanted_.log && f < graph_.factors().size(); ++f, ++next) {
      const std::vector<double> copies =
          call_.exponents().empty() ? std::vector<double>{}
                                    : engine::product_over(call_.extents(), call_.exponents(), asked.axes[next]);
      result_.factors.push_back(engine::factor_posterior(graph_, call_.extents(), f, asked.axes[next], outputs[next],
                                                         copies, true, posed_.dtype));
    }
    for (std::size_t s = 0; s < wanted_.sets.size(); ++s) result_.sets.push_back(posterior(next++));
    for (const std::string& end : ends) result_.variables.emplace(end, posterior(next++));
  }

  /// Asks for the first and last slices of linked variables, too; returns their names. Their axes are those of the
  /// variables but for the chain.
  std::vector<std::string> add_ends(std::vector<std::vector<std::string>>& asked,
                                    std::vector<std::vector<DimId>>& axes) {
    std::vector<std::string> ends;
    for (const Chain& chain : graph_.chains()) {
      for (const Link& link : chain.links) {
        for (const bool is_first : {true, false}) {
          const DimId v = is_first ? link.source : link.target;
          ends.push_back(is_first ? first(graph_.dims()[v].name) : last(graph_.dims()[v].name));
          auto& names = asked.emplace_back();
          axes.push_back(call_.plan.axes(v));
          std::erase(axes.back(), chain.dim);
          for (const DimId d : axes.back()) names.push_back(d == v ? ends.back() : graph_.dims()[d].name);
        }
      }
    }
    return ends;
  }

  /// Outputs in log space, in double; the first is log Z.
  std::vector<Tensor> totals(const Asked& asked, const std::vector<std::vector<std::string>>& names) {
    const api::PlanImpl& plan = call_.plan;
    // Ends that the graph does not name are dims of another one.
    const bool other = names.size() > asked.axes.size();
    const auto of_names = other ? plan.asking(names) : nullptr;
    const auto runnable =
        other ? of_names->runnable({.kind = Asked::Kind::outputs, .keep_sums = true}) : plan.runnable(asked);
    const FactorGraph& graph = runnable->schedule().graph;
    planner::Extents extents = call_.extents();
    for (std::size_t d = extents.size(); d < graph.dims().size(); ++d) extents.push_back(graph.dims()[d].size);
    std::vector<Tensor> places;
    for (const Output& output : graph.outputs()) {
      places.push_back(api::shape_only(Dtype::float64, planner::sizes(extents, output.dims)));
    }
    engine::Settings settings = posed_.settings();
    settings.extents = &extents;
    return runnable->run(std::move(places), posed_.operands(runnable->schedule(), posed_.inputs.centred()), settings);
  }

  void take_total(const Tensor& total) {
    engine::check_possible(graph_, total, Semiring::log);
    if (posed_.inputs.recentred()) {
      result_.log_partition = posed_.given_total(Dtype::float64);
    } else {
      api::check_results(std::span(&total, 1), "log_partition, output", Semiring::log, call_);
      result_.log_partition = total;
    }
  }

  void take_variable(DimId v, Tensor posterior) {
    const std::vector<DimId> axes = call_.plan.axes(v);
    if (const Integers* observed = call_.observed(v)) {
      engine::put_observed(*observed, std::vector<double>{1.0}, 0.0, posterior);
    }
    engine::normalise(graph_, axes, posterior, call_.threads());
    erase(axes, false, posterior);
    result_.variables.emplace(graph_.dims()[v].name, std::move(posterior));
  }

  void take_factors(std::vector<Tensor> posteriors) {
    for (std::size_t f = 0; f < posteriors.size(); ++f) {
      engine::normalise(graph_, graph_.factors()[f].dims, posteriors[f], call_.threads());
    }
    result_.factors = std::move(posteriors);
  }

  /// A slice that stands for nothing has no posterior.
  void erase(const std::vector<DimId>& axes, bool log, const Tensor& posterior) const {
    if (call_.exponents().empty()) return;
    engine::erase(call_.extents(), call_.exponents(), axes, posterior,
                  log ? -std::numeric_limits<double>::infinity() : 0.0);
  }

  /// Variables with a single state, and the empty tensors of variables without any.
  void add_certain(bool log) {
    const std::vector<DimId> variables = graph::variables(graph_);
    if (result_.variables.size() == variables.size()) return;
    for (const DimId v : variables) {
      if (result_.variables.contains(graph_.dims()[v].name)) continue;
      Tensor certain = engine::filled(posed_.dtype, call_.shape(call_.plan.axes(v)), log ? 0.0 : 1.0);
      erase(call_.plan.axes(v), log, certain);
      result_.variables.emplace(graph_.dims()[v].name, std::move(certain));
    }
  }

  /// A finite total does not say that all parts of it are numbers: what is impossible may have overflowed.
  void check_answers() const {
    const Semiring semiring = wanted_.log ? Semiring::log : Semiring::real;
    for (const auto& [name, tensor] : result_.variables) {
      engine::check_answer("the posterior of", name, tensor, semiring);
    }
    const auto check = [&](const std::vector<Tensor>& answers, const char* what) {
      engine::check_answers(answers, what, semiring, engine::Suspect::operands, call_.threads());
    };
    check(result_.factors, "the posterior of factor");
    check(result_.sets, "the joint posterior of set");
  }

  const api::Posed& posed_;
  const api::Call& call_;
  const FactorGraph& graph_;
  const MarginalOptions& wanted_;
  Marginals result_;
};

}  // namespace

Marginals api::ask_marginals(const Posed& posed, const MarginalOptions& wanted) { return Asker(posed, wanted).run(); }

Marginals marginals(const Plan& plan, std::span<const Tensor> operands, const RunOptions& options,
                    const MarginalOptions& wanted) {
  const base::Watch watch(options.cancelled, options.progress);
  const api::Call call(plan, operands, options);
  Marginals result = api::pose_in_log(call, [&](const api::Posed& posed) { return api::ask_marginals(posed, wanted); });
  watch.finish();
  return result;
}

Marginals marginals(std::string_view equation, const std::vector<Tensor>& operands, const EinsumOptions& options,
                    const MarginalOptions& wanted) {
  return marginals(api::cached_plan(equation, operands, options), operands, api::run_options(options), wanted);
}

}  // namespace plated
