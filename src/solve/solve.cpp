// The verbs on models: reduces a model, plans and runs the rest, and maps the answers back to the model's variables.
#include "plated/solve.hpp"

#include <algorithm>
#include <limits>

#include "base/watch.hpp"
#include "graph/answer_axes.hpp"
#include "graph/derived.hpp"
#include "plated/error.hpp"
#include "plated/marginals.hpp"
#include "reduce/log_range.hpp"
#include "reduce/queries.hpp"
#include "reduce/reduction.hpp"

namespace plated {
namespace {

/// A reduced model in log space.
class Solver {
 public:
  Solver(const Model& model, const SolveOptions& options)
      : watch_(options.cancelled, options.progress),
        model_(model),
        options_(options),
        reduction_(reduce::reduce(model)) {
    if (!reduction_.impossible) {
      reduce::check_log_range(reduction_.model);
      reduction_.model = in_space(std::move(reduction_.model), Space::log);
    }
    for (const auto& [variable, states] : reduction_.model.evidence) observable_.push_back(variable);
  }

  [[nodiscard]] const reduce::Reduction& reduction() const { return reduction_; }
  [[nodiscard]] const FactorGraph& graph() const { return reduction_.model.graph; }
  [[nodiscard]] const std::vector<Tensor>& factors() const { return reduction_.model.factors; }

  void check_possible() const {
    if (!reduction_.impossible) return;
    throw ImpossibleError("no assignment has a weight: the model and its evidence contradict each other");
  }

  /// A plan that will be run once.
  [[nodiscard]] Plan plan(const FactorGraph& graph, bool sums_only) const {
    return compile(
        graph::Derived::shared(graph),
        {.runs = 1, .memory_limit = options_.memory_limit, .sums_only = sums_only, .observable = observable_});
  }

  /// Options of a run; it is watched already.
  [[nodiscard]] RunOptions run_options() const {
    return {.semiring = Semiring::log,
            .threads = options_.threads,
            .memory_limit = options_.memory_limit,
            .evidence = reduction_.model.evidence,
            .lengths = reduction_.model.lengths,
            .cancelled = {},
            .progress = {}};
  }

  /// Expands a posterior over the remaining states to all states.
  [[nodiscard]] Tensor expanded(DimId v, Tensor posterior) const {
    const auto kept = reduction_.kept.find(v);
    const auto known = reduction_.known.find(v);
    if (kept == reduction_.kept.end() && known == reduction_.known.end()) return posterior;
    const std::int64_t states = model_.graph.dims()[v].size;
    const std::vector<double> entries = posterior.values();
    const std::size_t left = known != reduction_.known.end() ? 1 : kept->second.size();
    std::vector<double> all(entries.size() / left * static_cast<std::size_t>(states), 0.0);
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const std::size_t slice = k / left;
      all[slice * static_cast<std::size_t>(states) + static_cast<std::size_t>(state(v, slice, k % left))] = entries[k];
    }
    Tensor::Shape shape = posterior.shape();
    shape.back() = states;
    return posterior.dtype() == Dtype::float32 ? Tensor::of(shape, std::vector<float>(all.begin(), all.end()))
                                               : Tensor::of(shape, all);
  }

  /// Assignments of the reduced model in the model's own states.
  void expand(std::map<std::string, Integers>& assignment) const {
    for (auto& [name, states] : assignment) {
      const auto v = model_.graph.find(name);
      if (!v || (!reduction_.kept.contains(*v) && !reduction_.known.contains(*v))) continue;
      for (std::size_t k = 0; k < states.values.size(); ++k) {
        // −1 stays: it is a slice beyond a chain's length.
        if (states.values[k] >= 0) states.values[k] = state(*v, k, static_cast<std::size_t>(states.values[k]));
      }
    }
  }

 private:
  /// Slices are counted over samples, batches and plates; what is known repeats over the former.
  [[nodiscard]] std::int64_t state(DimId v, std::size_t slice, std::size_t reduced) const {
    const auto known = reduction_.known.find(v);
    if (known == reduction_.known.end()) return reduction_.kept.at(v)[reduced];
    return known->second.values[slice % known->second.values.size()];
  }

  const base::Watch watch_;
  const Model& model_;
  const SolveOptions& options_;
  reduce::Reduction reduction_;
  std::vector<std::string> observable_;
};

std::vector<std::int64_t> batch_sizes(const FactorGraph& graph) {
  std::vector<std::int64_t> sizes;
  for (const DimId d : graph::batch_axes(graph)) sizes.push_back(graph.dims()[d].size);
  return sizes;
}

}  // namespace

Tensor log_partition(const Model& model, const SolveOptions& options) {
  const Solver solver(model, options);
  if (solver.reduction().impossible) {
    const double nothing = -std::numeric_limits<double>::infinity();
    const auto shape = batch_sizes(model.graph);
    return Tensor::of(shape, Tensor::scalar(nothing).broadcast(shape).values());
  }
  return solver.plan(solver.graph(), true).run(solver.factors(), solver.run_options())[0];
}

std::map<std::string, Tensor> marginals(const Model& model, const SolveOptions& options) {
  const Solver solver(model, options);
  solver.check_possible();
  const std::vector<reduce::Query> queries = reduce::marginal_queries(solver.graph());
  double flops = 0;
  for (const reduce::Query& query : queries) flops += query.flops;
  std::map<std::string, Tensor> result;
  {
    base::Phases phases;
    for (const reduce::Query& query : queries) {
      const bool whole = query.factors.size() == solver.factors().size();
      std::vector<Tensor> some;
      for (std::size_t k = 0; !whole && k < query.factors.size(); ++k) {
        some.push_back(solver.factors()[query.factors[k]]);
      }
      const Plan plan = solver.plan(reduce::query_graph(solver.graph(), query), false);
      const auto phase = phases.next(flops > 0 ? query.flops / flops : 1.0);
      Marginals posterior = marginals(plan, whole ? solver.factors() : some, solver.run_options());
      for (const DimId v : query.variables) {
        auto found = posterior.variables.extract(model.graph.dims()[v].name);
        if (found.empty()) continue;
        found.mapped() = solver.expanded(v, std::move(found.mapped()));
        result.insert(std::move(found));
      }
    }
  }
  base::tell_progress(1);
  return result;
}

MapResult map(const Model& model, const SolveOptions& options) {
  const Solver solver(model, options);
  solver.check_possible();
  MapResult result = map(solver.plan(solver.graph(), false), solver.factors(), solver.run_options());
  solver.expand(result.assignment);
  return result;
}

std::map<std::string, Integers> sample(const Model& model, const SampleOptions& draws, const SolveOptions& options) {
  const Solver solver(model, options);
  solver.check_possible();
  auto result = sample(solver.plan(solver.graph(), false), solver.factors(), draws, solver.run_options());
  solver.expand(result);
  return result;
}

Tensor entropy(const Model& model, const SolveOptions& options) {
  const Solver solver(model, options);
  solver.check_possible();
  return entropy(solver.plan(solver.graph(), false), solver.factors(), solver.run_options());
}

Outline outline(const Model& model, Question::Kind kind, const SolveOptions& options) {
  using Kind = Question::Kind;
  const Model own = model;  // plans outlive the call, and share its graph
  const Solver solver(own, options);
  solver.check_possible();
  const reduce::Reduction& reduction = solver.reduction();
  const std::vector<reduce::Query> queries = reduce::marginal_queries(solver.graph());
  Outline result{.absorbed = static_cast<std::int64_t>(reduction.known.size()),
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
      result.plans.push_back(solver.plan(solver.graph(), true));
      result.dropped = result.plans[0].dropped();
      break;
    case Kind::marginals:
      for (const reduce::Query& query : queries) {
        result.plans.push_back(solver.plan(reduce::query_graph(solver.graph(), query), false));
      }
      break;
    case Kind::map:
    case Kind::sample:
    case Kind::entropy:
      result.plans.push_back(solver.plan(solver.graph(), false));
      break;
    default:
      throw OptionError("a model is outlined for ln Z, marginals, MAP, samples and the entropy, not for " +
                        std::string(name(kind)));
  }
  for (const Plan& plan : result.plans) result.cost += plan.cost(result.question, {}, Dtype::float64);
  return result;
}

}  // namespace plated
