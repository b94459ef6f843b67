// Changes the number of states of a latent variable, fits, and keeps the best by BIC.
#include "learn/vary.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "graph/derived.hpp"
#include "graph/ends.hpp"
#include "graph/spell.hpp"
#include "learn/learnt_parts.hpp"
#include "model/learning.hpp"
#include "model/likelihoods.hpp"
#include "model/unknown_name.hpp"
#include "plated/error.hpp"

namespace plated::learn {
namespace {

[[noreturn]] void refuse(const std::string& variable, const std::string& why) {
  throw OptionError("the number of states of " + graph::quoted(variable) + " cannot be varied: " + why);
}

/// The variable, those that links join it to, and the ends of these: they have the same states.
std::vector<DimId> joined(const FactorGraph& graph, DimId variable) {
  std::vector<DimId> all{variable};
  const auto add = [&](DimId dim) {
    if (!graph::contains(all, dim)) all.push_back(dim);
  };
  for (std::size_t k = 0; k < all.size(); ++k) {
    for (const Chain& chain : graph.chains()) {
      for (const Link& link : chain.links) {
        if (link.source == all[k]) add(link.target);
        if (link.target == all[k]) add(link.source);
      }
    }
    const std::string_view own = graph::split_end(graph.dims()[all[k]].name).variable;
    for (DimId d = 0; d < graph.dims().size(); ++d) {
      if (graph::split_end(graph.dims()[d].name).variable == own) add(d);
    }
  }
  return all;
}

void check_latent(const Model& model, const Data& data, DimId variable) {
  const std::string& name = model.graph.dims()[variable].name;
  const std::string shown = label(model, name);
  if (model.evidence.contains(name) || model.lists.contains(name) || data.states.contains(name) ||
      data.states.contains(shown) || data.lists.contains(name) || data.lists.contains(shown)) {
    refuse(shown, "it has data");
  }
  if (model.states.contains(name)) refuse(shown, "its states have names");
}

void check_table(const Model& model, std::size_t f, bool is_learnt, const std::string& variable) {
  const std::string factor = "factor " + graph::quoted(model.graph.factors()[f].name);
  if (!is_learnt) refuse(variable, factor + " holds it and is not learnt");
  if (model::likelihood_of(model, f) != nullptr) return;
  const auto learning = model.learning.find(model.graph.factors()[f].name);
  if (learning != model.learning.end() && learning->second.prior.rank() > 0) {
    refuse(variable, "the prior of " + factor + " has a number for each of its states");
  }
  const double zero = model.space == Space::log ? -std::numeric_limits<double>::infinity() : 0;
  const std::vector<double> numbers = model.factors[f].values();
  if (std::find(numbers.begin(), numbers.end(), zero) != numbers.end()) {
    refuse(variable, factor + " holds it and has zeros, which a table of another shape could not keep");
  }
}

}  // namespace

Model with_states(const Model& model, const Data& data, const FitOptions& options, const std::string& variable,
                  std::int64_t states) {
  const auto found = find_variable(model, variable);
  if (!found) model::fail_without_variable(model, variable, "to vary");
  if (states < 1) refuse(variable, "it must have one at least");
  const std::vector<DimId> dims = joined(model.graph, *found);
  for (const DimId dim : dims) check_latent(model, data, dim);
  std::vector<bool> learnt(model.factors.size(), false);
  for (const auto& group : learnt_groups(model, options.learn)) {
    for (const std::size_t f : group) learnt[f] = true;
  }
  Model result = model;
  const bool same = model.graph.dims()[*found].size == states;
  for (const DimId dim : dims) graph::Derived::resize_variable(result.graph, dim, states);
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    const Factor& factor = result.graph.factors()[f];
    const bool holds = std::any_of(dims.begin(), dims.end(), [&](DimId d) { return graph::contains(factor.dims, d); });
    if (!holds) continue;
    check_table(model, f, learnt[f], variable);
    if (same) continue;
    Tensor::Shape shape;
    for (const DimId d : factor.dims) shape.push_back(result.graph.dims()[d].size);
    const auto likelihood = result.likelihoods.find(factor.name);
    if (likelihood != result.likelihoods.end()) {
      likelihood->second.parameters.clear();
      result.factors[f] = model::neutral_numbers(std::move(shape), model.space);
      continue;
    }
    const std::int64_t of_child = shape[model::child_axis(result, f)];
    result.factors[f] = model::uniform_start(std::move(shape), of_child, model.space);
    // Whether it is learnt is settled: a list of names, or all distributions where the model says of none.
    result.learning[factor.name].started = false;
  }
  return result;
}

Fit fit_varied(const Model& model, const Data& data, const FitOptions& options) {
  if (options.vary.size() > 1) throw OptionError("one variable's number of states is varied, and several were named");
  const auto& [variable, counts] = *options.vary.begin();
  if (counts.empty()) refuse(variable, "no numbers of states were given");
  std::vector<Model> models;
  for (const std::int64_t states : counts) models.push_back(with_states(model, data, options, variable, states));
  std::optional<Fit> best;
  std::vector<Varied> varied;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    FitOptions one = options;
    one.vary.clear();
    if (options.progress) {
      one.progress = [&options, states = counts[k]](FitProgress now) {
        now.states = states;
        options.progress(now);
      };
    }
    std::optional<Fit> fitted;
    try {
      fitted = fit(models[k], data, one);
    } catch (const CancelledError&) {
      if (!best) throw;
      best->interrupted = true;
      break;
    }
    varied.push_back({.states = counts[k],
                      .log_likelihood = fitted->log_likelihood,
                      .parameters = fitted->parameters,
                      .aic = fitted->aic,
                      .bic = fitted->bic,
                      .held_out = fitted->held_out,
                      .cross_validated = fitted->cross_validated,
                      .converged = fitted->converged});
    const bool interrupted = fitted->interrupted || (best && best->interrupted);
    if (!best || fitted->bic < best->bic) best = std::move(fitted);
    best->interrupted = interrupted;
    if (interrupted) break;
  }
  best->varied = std::move(varied);
  return std::move(*best);
}

}  // namespace plated::learn
