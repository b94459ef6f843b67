// Plans questions, each once, and graphs whose sizes are fixed once for each size.
#include "api/plan_impl.hpp"

#include <algorithm>

#include "adjoint/questions.hpp"
#include "api/observations.hpp"
#include "base/checked_size.hpp"
#include "graph/ends.hpp"
#include "graph/spell.hpp"
#include "planner/point_ends.hpp"
#include "plated/error.hpp"

namespace plated::api {
namespace {

using adjoint::Asked;
using adjoint::Forward;

constexpr std::size_t most_others = 16;  // plans for other sizes, or with weights

/// Joint marginals of variables, factors and sets as outputs: any set of variables, and logarithms that do not
/// underflow. The first is the total.
std::vector<std::vector<DimId>> joint_axes(const PlanImpl& plan, const MarginalOptions& wanted) {
  const FactorGraph& graph = plan.graph;
  std::vector<std::vector<DimId>> axes{plan.axes.batch()};
  if (wanted.variables && wanted.log) {
    for (const DimId v : adjoint::posterior_variables(graph)) axes.push_back(plan.axes(v));
  }
  for (std::size_t f = 0; wanted.factors && wanted.log && f < graph.factors().size(); ++f) {
    axes.push_back(plan.axes.of(graph.factor_plates(f), graph.factor_variables(f)));
  }
  for (const std::vector<std::string>& set : wanted.sets) {
    std::vector<DimId> variables;
    for (const std::string& name : set) {
      const auto v = graph.find(name);
      if (!v || graph.dims()[*v].kind != DimKind::variable) {
        throw UnknownNameError("a joint marginal is asked for " + graph::quoted(name) +
                               ", and the model has no such variable");
      }
      if (std::find(variables.begin(), variables.end(), *v) != variables.end()) {
        throw DuplicateNameError("a joint marginal is asked for " + graph::quoted(name) +
                                 " twice: name each variable of a set once");
      }
      variables.push_back(*v);
    }
    axes.push_back(plan.axes(variables));
  }
  return axes;
}

std::vector<Asked> marginals(const PlanImpl& plan, const MarginalOptions& wanted) {
  std::vector<Asked> parts;
  const auto filtered = wanted.filtered && wanted.variables
                            ? graph::by_outermost_chain(plan.graph, adjoint::posterior_variables(plan.graph))
                            : graph::VariablesOfChains{};
  if (!filtered.empty()) {
    // Each variable from an output of its own, with those of the same chain; all else is as without.
    MarginalOptions others = wanted;
    others.filtered = others.variables = false;
    if (others.factors || !others.sets.empty()) parts = marginals(plan, others);
    for (const auto& [chain, variables] : filtered) {
      std::vector<std::vector<DimId>> axes{plan.axes.batch()};
      for (const DimId v : variables) axes.push_back(plan.axes(v));
      parts.push_back({.kind = Asked::Kind::outputs,
                       .keep_sums = true,
                       .own_outputs = false,
                       .filtered = chain,
                       .axes = std::move(axes)});
    }
    return parts;
  }
  if (!wanted.log && (wanted.variables || wanted.factors || wanted.sets.empty())) {
    parts.push_back({.kind = Asked::Kind::marginals,
                     .forward = plan.forward_of_total(),
                     .variables = wanted.variables,
                     .factors = wanted.factors,
                     .sweep = adjoint::sweep_schedule});
  }
  if (wanted.log || !wanted.sets.empty()) {
    parts.push_back({.kind = Asked::Kind::outputs,
                     .keep_sums = true,  // for sums in double
                     .own_outputs = false,
                     .axes = joint_axes(plan, wanted)});
  }
  return parts;
}

/// The best total with each state, as outputs; states that runs give have that of the total.
Asked max_marginals(const PlanImpl& plan) {
  Asked asked{.kind = Asked::Kind::outputs,
              .forward = Forward::total,
              .keep_sums = true,  // in double
              .own_outputs = false,
              .axes = {plan.axes.batch()}};
  for (const DimId v : adjoint::posterior_variables(plan.graph)) {
    const auto given = plan.options.observations.find(v);
    const bool is_known = given != plan.options.observations.end() && !given->second.partial;
    if (!is_known) asked.axes.push_back(plan.axes(v));
  }
  return asked;
}

}  // namespace

PlanImpl::PlanImpl(FactorGraph asked, std::optional<FactorGraph> with_evidence, std::vector<DimId> observed_variables,
                   planner::Options how)
    : graph(std::move(asked)),
      with_evidence_(std::move(with_evidence)),
      observed(with_evidence_ ? *with_evidence_ : graph),
      observable(std::move(observed_variables)),
      axes(graph),
      options(std::move(how)),
      of_outputs_(simplest(observed, Forward::outputs)),
      of_total_(simplest(observed, Forward::total)) {
  for (const Forward forward : {Forward::outputs, Forward::total, Forward::both}) {
    total_of_[static_cast<std::size_t>(forward)] = adjoint::total_of(observed, forward);
  }
  planner::add_exponents_of_ends(graph, options.weights);
  fixed_ = planner::needs_fixed_sizes(observed, options);
}

std::shared_ptr<const Runnable> PlanImpl::runnable(const Asked& asked) const {
  return planned_(asked, [&] { return schedule(asked); });
}

const Runnable& PlanImpl::value() const {
  if (const Runnable* known = value_.load(std::memory_order_acquire)) return *known;
  auto made = runnable({.kind = Asked::Kind::outputs});
  const std::lock_guard lock(mutex_);
  if (!own_value_) own_value_ = std::move(made);
  value_.store(own_value_.get(), std::memory_order_release);
  return *own_value_;
}

planner::Schedule PlanImpl::schedule(const Asked& asked) const {
  const auto with_buffers = [&](planner::Schedule schedule) {
    schedule.reuses_buffers = !options.without.contains("reuse_buffers");
    return schedule;
  };
  planner::Options how = options;
  how.observations = observations_for(asked, observed, options.observations);
  const auto forward = [&](Forward which) {
    // Nothing else will continue the forward run of a plan that is for a single one.
    const Asked alone{.kind = Asked::Kind::forward, .forward = which};
    if (options.order.runs == 1) return with_buffers(adjoint::schedule_for(alone, observed, how, {}));
    return with_buffers(runnable(alone)->schedule());
  };
  return adjoint::schedule_for(asked, observed, how, forward);
}

std::int64_t PlanImpl::bytes_beside(const Asked& part, const planner::Extents& extents) const {
  constexpr std::int64_t size = sizeof(double);
  const auto bytes = [&](const std::vector<DimId>& dims, std::int64_t copies) {
    std::vector<std::int64_t> factors{size, copies};
    for (const DimId d : dims) factors.push_back(extents[d]);
    return base::checked_product(factors);
  };
  switch (part.kind) {
    case Asked::Kind::entropy:
    case Asked::Kind::expectation:
      return bytes(axes.batch(), 1);
    case Asked::Kind::leave_one_out:
      return bytes(runnable(part)->schedule().outputs.back(), 1);
    default:
      return 0;
  }
}

std::vector<Asked> PlanImpl::parts(const Question& question) const {
  const adjoint::SweepPlanner sweep = adjoint::sweep_schedule;
  switch (question.kind) {
    case Question::Kind::value:
      return {{.kind = Asked::Kind::outputs}};
    case Question::Kind::gradient:
      return {{.kind = Asked::Kind::gradient,
               .forward = of_outputs_,
               .semiring = question.semiring,
               .chosen = std::vector<bool>(graph.factors().size(), true),
               .sweep = sweep}};
    case Question::Kind::hessian_vector_product:
      return {{.kind = Asked::Kind::hessian, .forward = of_outputs_, .semiring = question.semiring, .sweep = sweep}};
    case Question::Kind::marginals:
      return marginals(*this, question.wanted);
    case Question::Kind::max_marginals:
      return {max_marginals(*this)};
    case Question::Kind::map:
    case Question::Kind::sample:
      return {{.kind = Asked::Kind::choices}};
    case Question::Kind::entropy:
      return {{.kind = Asked::Kind::entropy, .forward = of_total_, .sweep = sweep}};
    case Question::Kind::expectation:
      return {{.kind = Asked::Kind::expectation,
               .forward = of_total_,
               .chosen = std::vector<bool>(graph.factors().size(), true),
               .sweep = sweep}};
    case Question::Kind::leave_one_out: {
      const auto plate = graph.find(question.plate);
      if (!plate || !has_slices(graph.dims()[*plate].kind)) {
        throw UnknownNameError("slices of '" + question.plate +
                               "' are to be left out, and the model has no such plate or chain");
      }
      return {{.kind = Asked::Kind::leave_one_out, .forward = Forward::total, .plate = *plate, .sweep = sweep}};
    }
  }
  throw OptionError("not a question");
}

template <class Make>
std::shared_ptr<const PlanImpl> PlanImpl::other(const Key& key, Make make) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = others_.find(key); found != others_.end()) return found->second;
  }
  // Made outside the lock: two threads may make the same at once, and the first is kept.
  std::shared_ptr<const PlanImpl> plan = make();
  const std::lock_guard lock(mutex_);
  if (others_.size() >= most_others) others_.clear();  // those being run live on with their callers
  return others_.try_emplace(key, std::move(plan)).first->second;
}

std::shared_ptr<const PlanImpl> PlanImpl::at(const planner::Extents& extents) const {
  if (!fixed_) return nullptr;
  bool same = true;
  for (DimId d = 0; d < extents.size() && same; ++d) same = graph.dims()[d].size == extents[d];
  if (same) return nullptr;
  return other({.extents = extents}, [&] {
    std::optional<FactorGraph> evidence;
    if (with_evidence_) evidence = with_evidence_->resized(extents);
    return std::make_shared<const PlanImpl>(graph.resized(extents), std::move(evidence), observable, options);
  });
}

std::shared_ptr<const PlanImpl> PlanImpl::serving(const Question& question) const {
  const planner::Observations observations =
      observations_of(graph, axes, observable, question.observed, question.partly_observed);
  WeightAxes weights;
  if (!question.weights.empty() || !question.lengths.empty()) {
    weights = engine::exponent_axes(graph, question.weights, question.lengths);
  }
  return serving(weights, observations);
}

std::shared_ptr<const PlanImpl> PlanImpl::serving(const engine::Exponents& exponents,
                                                  const planner::Observations& observations) const {
  WeightAxes weights;
  for (const auto& [plate, exponent] : exponents) weights[plate] = exponent.axes;
  return serving(weights, observations);
}

std::shared_ptr<const PlanImpl> PlanImpl::serving(const WeightAxes& weights,
                                                  const planner::Observations& observations) const {
  if (weights.empty() && observations.empty()) return nullptr;
  return other({.weights = weights, .observations = observations}, [&] {
    planner::Options how = options;
    if (!weights.empty()) how.weights = weights;
    how.observations = observations;
    return std::make_shared<const PlanImpl>(graph, with_evidence_, observable, std::move(how));
  });
}

std::shared_ptr<const PlanImpl> PlanImpl::asking(const std::vector<std::vector<std::string>>& outputs) const {
  return other({.outputs = outputs}, [&] {
    planner::Options how = options;
    how.observations.clear();  // evidence is a factor like any other
    return std::make_shared<const PlanImpl>(observed.asking(outputs), std::nullopt, std::vector<DimId>{},
                                            std::move(how));
  });
}

}  // namespace plated::api
