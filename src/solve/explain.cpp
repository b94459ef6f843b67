// Explains what solving a model would do.
#include "model/sizes.hpp"
#include "model/unknown_name.hpp"
#include "plated/error.hpp"
#include "solve/solver.hpp"
#include "tensor/taken.hpp"

namespace plated {
namespace {

using Kind = Question::Kind;

/// The options with some state in all slices of variables that will be observed.
SolveOptions as_if_observed(const Model& model, const SolveOptions& options, const std::vector<std::string>& observed) {
  SolveOptions result = options;
  for (const std::string& name : observed) {
    const auto v = find_variable(model, name);
    if (!v) model::fail_without_variable(model, name, "to be observed");
    const auto sizes = model::sizes_of(model.graph, model.graph.variable_plates()[*v], false);
    result.evidence.insert_or_assign(model.graph.dims()[*v].name, tensor::repeated(0, sizes));
  }
  return result;
}

void add_plans(Explanation& result, const solve::Solver& solver, const std::vector<reduce::Query>& queries) {
  const auto add = [&](Plan plan, const auto& observed) {
    Question& question = result.questions.emplace_back(result.question);
    solver.name_observed(question, observed);
    result.cost += plan.cost(question, {}, Dtype::float64);
    result.plans.push_back(std::move(plan));
  };
  switch (result.question.kind) {
    case Kind::value:
      add(solver.plan(true), solver.observed());
      result.dropped = result.plans[0].dropped();
      break;
    case Kind::marginals:
      for (const auto& [plan, question] : solver.messages()) {
        result.questions.push_back(question);
        result.cost += plan.cost(question, {}, Dtype::float64);
        result.plans.push_back(plan);
      }
      for (const reduce::Query& query : queries) add(solver.plan(query), query);
      break;
    case Kind::map:
    case Kind::sample:
    case Kind::entropy:
      add(solver.plan(false), solver.observed());
      break;
    default:
      throw OptionError("a model is explained for ln Z, marginals, MAP, samples and the entropy, not for " +
                        std::string(name(result.question.kind)));
  }
}

}  // namespace

Explanation explain(const Model& model, Question::Kind kind, const SolveOptions& options,
                    const std::vector<std::string>& observed) {
  const Model own = model;  // plans outlive the call, and share its graph
  const SolveOptions with = as_if_observed(own, options, observed);
  solve::Solver solver(own, with, reduce::Reading::in_place, observed.empty());
  solver.check_possible();
  if (kind == Kind::marginals) solver.take_messages([&](DimId v) { return solver.is_known(v); }, false);
  const reduce::Reduction& reduction = solver.reduction();
  const std::vector<reduce::Query> queries = reduce::marginal_queries(solver.graph(), solver.observed());
  Explanation result{.absorbed = static_cast<std::int64_t>(reduction.known.size() + reduction.listed.size()),
                     .question = {.kind = kind, .semiring = kind == Kind::map ? Semiring::max_plus : Semiring::log},
                     .sweeps = static_cast<std::int64_t>(queries.size())};
  for (const auto& [v, kept] : reduction.kept) {
    if (kept.size() == 1) {
      ++result.determined;
    } else {
      result.impossible += model.graph.dims()[v].size - static_cast<std::int64_t>(kept.size());
    }
  }
  for (const reduce::Query& query : queries) result.sweep_flops += query.flops;
  add_plans(result, solver, queries);
  return result;
}

}  // namespace plated
