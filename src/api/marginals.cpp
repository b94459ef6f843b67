// marginals: probabilities from one reverse sweep; joint sets and logarithms from outputs of their own.
#include "plated/marginals.hpp"

#include <algorithm>
#include <set>

#include "adjoint/questions.hpp"
#include "api/chained.hpp"
#include "api/inputs.hpp"
#include "api/log_posterior.hpp"
#include "api/plan_cache.hpp"
#include "api/question_inputs.hpp"
#include "base/watch.hpp"
#include "chain/posterior.hpp"
#include "engine/check_answers.hpp"
#include "engine/normalise.hpp"
#include "plated/error.hpp"

namespace plated {
namespace {

class Asker {
 public:
  Asker(const api::PlanImpl& impl, std::span<const Tensor> operands, const RunOptions& options)
      : impl_(impl),
        options_(options),
        inputs_(api::log_inputs(impl, operands, options)),
        settings_(api::question_settings(options, inputs_, Semiring::log)),
        dtype_(engine::element_dtype(operands)),
        batch_(api::sizes(impl.graph, adjoint::batch_axes(impl.graph))) {}

  /// The same with chains.
  void chained(const MarginalOptions& wanted, Marginals& result) {
    chain::PosteriorQuestion question{.factors = wanted.factors ? impl_.graph.factors().size() : 0,
                                      .filtered = wanted.filtered,
                                      .dtype = dtype_,
                                      .check = [&](const Tensor& total) { take_total(total, result); }};
    if (wanted.variables) question.variables = api::variables(impl_.graph);
    chain::Posterior answer = chain::posterior(*api::total_program(impl_), question, inputs_.centred,
                                               api::ChainCall(impl_, options_, settings_));
    for (auto& [v, tensor] : answer.variables) take_variable(v, std::move(tensor), result);
    take_factors(std::move(answer.factors), result);
  }

  /// One sweep for all variables and, if asked for, all factors.
  void probabilities(const MarginalOptions& wanted, Marginals& result) {
    const std::vector<DimId> variables =
        wanted.variables ? adjoint::posterior_variables(impl_.graph) : std::vector<DimId>{};
    const std::string key =
        std::string("marginals") + (wanted.variables ? " of variables" : "") + (wanted.factors ? " of factors" : "");
    const auto runnable = impl_.question(key, [&] {
      return adjoint::marginal_schedule(impl_.observed, impl_.options, wanted.variables, wanted.factors);
    });
    std::vector<Tensor> inputs = inputs_.centred;
    inputs.push_back(api::constant(1.0, Dtype::float64, batch_));
    std::vector<Tensor> outputs{api::shape_only(Dtype::float64, batch_)};
    for (const DimId v : variables) {
      outputs.push_back(api::shape_only(dtype_, api::sizes(impl_.graph, impl_.axes(v))));
    }
    if (wanted.factors) {
      for (const Factor& factor : impl_.observed.factors()) {
        outputs.push_back(api::shape_only(dtype_, api::sizes(impl_.graph, factor.dims)));
      }
    }
    outputs = runnable->run(std::move(outputs), inputs, settings_);
    take_total(outputs[0], result);
    for (std::size_t k = 0; k < variables.size(); ++k) take_variable(variables[k], outputs[1 + k], result);
    if (wanted.variables) add_certain(false, result);
    if (wanted.factors) {
      const auto first = outputs.begin() + static_cast<std::ptrdiff_t>(1 + variables.size());
      take_factors({first, first + static_cast<std::ptrdiff_t>(impl_.graph.factors().size())}, result);
    }
  }

  /// Joint marginals as outputs of the plan: any set of variables, and logarithms that do not underflow.
  void joints(const MarginalOptions& wanted, Marginals& result) {
    const FactorGraph& graph = impl_.graph;
    const auto plates = graph.variable_plates();
    std::vector<std::vector<DimId>> axes;
    const auto add = [&](const std::set<DimId>& of_plates, const std::set<DimId>& states) {
      std::vector<DimId>& list = axes.emplace_back(adjoint::batch_axes(graph));
      list.insert(list.end(), of_plates.begin(), of_plates.end());
      std::stable_partition(list.begin(), list.end(), [&](DimId d) { return graph.dims()[d].kind != DimKind::chain; });
      list.insert(list.end(), states.begin(), states.end());
    };
    // With chains those of a single state, too: a slice may not exist.
    std::vector<DimId> variables;
    if (wanted.variables && wanted.log) {
      variables = impl_.chains ? api::variables(graph) : adjoint::posterior_variables(graph);
    }
    for (const DimId v : variables) axes.push_back(impl_.axes(v));
    const std::size_t factors = wanted.factors && wanted.log ? graph.factors().size() : 0;
    for (std::size_t f = 0; f < factors; ++f) {
      const std::vector<DimId> lives_in = graph.factor_plates(f);
      const std::vector<DimId> states = graph.factor_variables(f);
      add({lives_in.begin(), lives_in.end()}, {states.begin(), states.end()});
    }
    for (const std::vector<std::string>& set : wanted.sets) {
      std::set<DimId> of_plates, states;
      for (const std::string& name : set) {
        const auto v = graph.find(name);
        if (!v || graph.dims()[*v].kind != DimKind::variable) {
          throw UnknownNameError("a joint marginal is asked for '" + name + "', and the model has no such variable");
        }
        if (!states.insert(*v).second) {
          throw DuplicateNameError("a joint marginal is asked for '" + name +
                                   "' twice: name each variable of a set once");
        }
        of_plates.insert(plates[*v].begin(), plates[*v].end());
      }
      add(of_plates, states);
    }
    std::vector<std::vector<std::string>> asked{{}};
    std::vector<std::int64_t> states{1};  // of an output's slices
    std::string key = "joints";
    for (const std::vector<DimId>& list : axes) {
      auto& names = asked.emplace_back();
      states.push_back(1);
      key += ',';
      for (const DimId d : list) {
        names.push_back(graph.dims()[d].name);
        if (graph.dims()[d].kind == DimKind::variable) states.back() *= graph.dims()[d].size;
        key += ' ' + std::to_string(d);
      }
    }
    std::vector<std::string> ends;
    for (const Chain& chain : graph.chains()) {
      for (const Link& link : chain.links) {
        if (!wanted.ends) break;
        for (const bool is_first : {true, false}) {
          const DimId v = is_first ? link.source : link.target;
          ends.push_back(is_first ? first(graph.dims()[v].name) : last(graph.dims()[v].name));
          auto& names = asked.emplace_back();
          states.push_back(graph.dims()[v].size);
          for (const DimId d : impl_.axes(v)) {
            if (d != chain.dim) names.push_back(d == v ? ends.back() : graph.dims()[d].name);
          }
          key += ", " + ends.back();
        }
      }
    }
    std::vector<Tensor> outputs = totals(key, asked);
    if (result.log_partition.data() == nullptr) take_total(outputs[0], result);
    const auto posterior = [&](std::size_t o) { return api::posterior(outputs[o], states[o], wanted.log, dtype_); };
    std::size_t next = 1;
    for (const DimId v : variables) {
      result.variables.emplace(graph.dims()[v].name, posterior(next++));
    }
    if (wanted.variables && wanted.log) add_certain(true, result);
    for (std::size_t f = 0; f < factors; ++f, ++next) {
      result.factors.push_back(api::factor_posterior(graph, f, axes[next - 1], outputs[next], wanted.log, dtype_));
    }
    for (std::size_t s = 0; s < wanted.sets.size(); ++s) {
      result.sets.push_back(posterior(next++));
    }
    for (const std::string& end : ends) {
      result.variables.emplace(end, posterior(next++));
    }
  }

 private:
  /// Outputs in log space, in double; the first is log Z.
  std::vector<Tensor> totals(const std::string& key, const std::vector<std::vector<std::string>>& asked) {
    if (impl_.chains) {
      const auto part = impl_.chains->part(key, [&] { return impl_.observed.asking(asked); });
      return chain::outputs(*part, api::output_shapes(part->graph(), Dtype::float64), inputs_.centred,
                            api::ChainCall(impl_, options_, settings_));
    }
    const auto runnable = impl_.question(key, [&] {
      planner::Options how = impl_.options;
      how.sums_only = false;
      how.keep_sums = true;  // for sums in double
      return planner::plan(impl_.observed.asking(asked), how);
    });
    return runnable->run(api::output_shapes(runnable->schedule().graph, Dtype::float64), inputs_.centred, settings_);
  }

  void take_total(const Tensor& total, Marginals& result) {
    api::check_possible(impl_.graph, total, Semiring::log);
    if (inputs_.recentred()) {
      result.log_partition = api::given_total(impl_, inputs_, options_, settings_, Dtype::float64);
    } else {
      api::check_results(std::span(&total, 1), "log_partition, output", Semiring::log, options_);
      result.log_partition = total;
    }
  }

  void take_variable(DimId v, Tensor posterior, Marginals& result) {
    engine::normalise(impl_.graph, impl_.axes(v), posterior, settings_.threads);
    result.variables.emplace(impl_.graph.dims()[v].name, std::move(posterior));
  }

  void take_factors(std::vector<Tensor> posteriors, Marginals& result) {
    for (std::size_t f = 0; f < posteriors.size(); ++f) {
      engine::normalise(impl_.graph, impl_.graph.factors()[f].dims, posteriors[f], settings_.threads);
    }
    result.factors = std::move(posteriors);
  }

  /// Variables with a single state, and the empty tensors of variables that do not exist.
  void add_certain(bool log, Marginals& result) {
    for (const DimId v : api::variables(impl_.graph)) {
      if (result.variables.contains(impl_.graph.dims()[v].name)) continue;
      Tensor certain(dtype_, api::sizes(impl_.graph, impl_.axes(v)));
      const std::int64_t elements = certain.elements();
      const double entry = log ? 0.0 : 1.0;
      if (dtype_ == Dtype::float32) {
        std::fill_n(static_cast<float*>(certain.mutable_data()), elements, static_cast<float>(entry));
      } else {
        std::fill_n(static_cast<double*>(certain.mutable_data()), elements, entry);
      }
      result.variables.emplace(impl_.graph.dims()[v].name, std::move(certain));
    }
  }

  const api::PlanImpl& impl_;
  const RunOptions& options_;
  api::Inputs inputs_;
  engine::Settings settings_;
  Dtype dtype_;
  std::vector<std::int64_t> batch_;
};

/// A finite total does not say that all parts of it are numbers: what is impossible may have overflowed.
void check_answers(const Marginals& result, bool log) {
  const Semiring semiring = log ? Semiring::log : Semiring::real;
  for (const auto& [name, tensor] : result.variables) {
    engine::check_answer("the posterior of", name, tensor, semiring);
  }
  for (std::size_t f = 0; f < result.factors.size(); ++f) {
    engine::check_answer("the posterior of factor", std::to_string(f), result.factors[f], semiring);
  }
  for (std::size_t s = 0; s < result.sets.size(); ++s) {
    engine::check_answer("the joint posterior of set", std::to_string(s), result.sets[s], semiring);
  }
}

}  // namespace

Marginals marginals(const Plan& plan, std::span<const Tensor> operands, const RunOptions& options,
                    const MarginalOptions& wanted) {
  const base::Watch watch(options.cancelled, options.progress);
  Asker asker(api::PlanAccess::impl(plan), operands, options);
  Marginals result;
  const bool chains = api::PlanAccess::impl(plan).chains != nullptr;
  if (wanted.filtered && wanted.log) throw OptionError("filtered marginals are given as probabilities only");
  const bool outputs = wanted.log || !wanted.sets.empty() || (chains && wanted.ends);
  const bool sweep = wanted.variables || wanted.factors || wanted.sets.empty();
  base::Phases phases;
  if (!wanted.log && sweep) {
    const auto phase = phases.next(outputs ? 0.5 : 1.0);
    if (chains) {
      asker.chained(wanted, result);
    } else {
      asker.probabilities(wanted, result);
    }
  }
  if (outputs) {
    const auto phase = phases.next(1.0);
    asker.joints(wanted, result);
  }
  check_answers(result, wanted.log);
  watch.finish();
  return result;
}

Marginals marginals(std::string_view equation, const std::vector<Tensor>& operands, const EinsumOptions& options,
                    const MarginalOptions& wanted) {
  return marginals(api::cached_plan(equation, operands, options), operands, api::run_options(options), wanted);
}

}  // namespace plated
