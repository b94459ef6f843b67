// Explains what solving a model would do.
#include "plated/error.hpp"
#include "solve/solver.hpp"

namespace plated {

Explanation explain(const Model& model, Question::Kind kind, const SolveOptions& options) {
  using Kind = Question::Kind;
  const Model own = model;  // plans outlive the call, and share its graph
  const solve::Solver solver(own, options);
  solver.check_possible();
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
  switch (kind) {
    case Kind::value:
      result.plans.push_back(solver.plan(true));
      result.dropped = result.plans[0].dropped();
      break;
    case Kind::marginals:
      for (const reduce::Query& query : queries) {
        result.plans.push_back(solver.plan(query));
      }
      break;
    case Kind::map:
    case Kind::sample:
    case Kind::entropy:
      result.plans.push_back(solver.plan(false));
      break;
    default:
      throw OptionError("a model is explained for ln Z, marginals, MAP, samples and the entropy, not for " +
                        std::string(name(kind)));
  }
  for (const Plan& plan : result.plans) result.cost += plan.cost(result.question, {}, Dtype::float64);
  return result;
}

}  // namespace plated
