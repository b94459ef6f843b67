// Prepares a model and its data, runs EM from all starts, and puts the best numbers into the model.
#include "learn/fit_once.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/derived.hpp"
#include "graph/spell.hpp"
#include "learn/em.hpp"
#include "learn/emission.hpp"
#include "learn/equal_slices.hpp"
#include "learn/information.hpp"
#include "learn/learnt_parts.hpp"
#include "learn/observations.hpp"
#include "learn/restarts.hpp"
#include "learn/stepwise.hpp"
#include "learn/table.hpp"
#include "learn/with_data.hpp"
#include "model/learning.hpp"
#include "model/likelihoods.hpp"
#include "plated/error.hpp"

namespace plated {
namespace {

void check_options(const FitOptions& options) {
  const auto refuse = [](const std::string& why) { throw OptionError(why); };
  if (options.restarts < 1) refuse("there must be one restart at least, and not " + std::to_string(options.restarts));
  if (options.iterations < 0) refuse("iterations must not be below zero");
  if (!(options.tolerance >= 0)) refuse("the tolerance must not be below zero");
  if (!(options.pseudo_count >= 0) || std::isinf(options.pseudo_count)) {
    refuse("the pseudo-count must be finite and not below zero");
  }
  if (options.standard_errors && !options.batch.empty()) {
    refuse("standard errors are those of a fit to all data at once: ask for them without batches");
  }
}

/// The best of those that have got anywhere.
std::size_t best_of(const std::vector<learn::Outcome>& outcomes) {
  std::size_t best = outcomes.size();
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    if (outcomes[k].history.empty()) continue;
    if (best == outcomes.size() || outcomes[k].history.back() > outcomes[best].history.back()) best = k;
  }
  if (best == outcomes.size()) throw CancelledError("the fit was cancelled before anything was computed");
  return best;
}

/// What is learnt is a distribution, whether or not the numbers that it starts from sum to one.
void declare_distribution(Model& model, std::size_t f) {
  Factor factor = model.graph.factors()[f];
  factor.distribution_of = factor.dims[model::child_axis(model, f)];
  factor.trusted = true;
  graph::Derived::put_factor(model.graph, f, std::move(factor));
}

Fit summary(const std::vector<learn::Outcome>& outcomes) {
  Fit result;
  result.best = best_of(outcomes);
  const learn::Outcome& best = outcomes[result.best];
  result.log_likelihood = best.log_likelihood;
  result.objective = best.history.back();
  result.history = best.history;
  result.converged = best.converged;
  for (const learn::Outcome& outcome : outcomes) {
    result.interrupted = result.interrupted || outcome.interrupted || outcome.history.empty();
    const double objective =
        outcome.history.empty() ? -std::numeric_limits<double>::infinity() : outcome.history.back();
    result.restarts.push_back(
        {.objective = objective, .iterations = outcome.iterations, .converged = outcome.converged});
  }
  return result;
}

/// A model with its data, planned for all of them at once or for batches.
class Planned {
 public:
  Planned(const Model& observed, const Data& data, const FitOptions& options, const std::vector<bool>& learnt) {
    if (!options.batch.empty()) {
      batches_.emplace(observed, data, options, learnt);
      return;
    }
    learn::WeightedModel joined = learn::join_equal_slices(observed, data.weights);
    all_.emplace(joined.model, joined.weights, learnt, options.memory_limit,
                 learn::cut_by_length(joined.model, joined.weights), 0.5);
    all_->keep();
  }

  [[nodiscard]] const learn::Blocks& blocks() const { return batches_ ? batches_->blocks() : *all_; }
  /// Whether there is an M-step for each block.
  [[nodiscard]] bool in_batches() const { return batches_.has_value(); }
  [[nodiscard]] learn::MakeRunner runners(const learn::LearntParts& parts, const FitOptions& options) const {
    return [&](int threads, std::function<bool()> cancelled) -> std::unique_ptr<learn::Runner> {
      if (!batches_) return std::make_unique<learn::Em>(parts, *all_, options, threads, cancelled);
      return std::make_unique<learn::Stepwise>(parts, *batches_, options, threads, std::move(cancelled));
    };
  }

 private:
  std::optional<learn::Blocks> all_;
  std::optional<learn::Minibatches> batches_;
};

/// Lets random starts scatter around what is observed: counts where nothing tells latent states apart.
void centre_starts(const learn::LearntParts& parts, const learn::MakeRunner& make, const FitOptions& options) {
  const bool draws = options.restarts > 1 ||
                     std::any_of(parts.begin(), parts.end(), [](const auto& part) { return !part->started(); });
  if (!draws) return;
  base::Random random(options.seed);
  std::vector<double> even;
  for (const auto& part : parts) {
    const std::size_t offset = even.size();
    even.resize(offset + part->size());
    part->even(std::span(even).subspan(offset), random);
  }
  const auto statistics = make(options.threads, options.cancelled)->count(std::move(even));
  std::size_t offset = 0;
  for (std::size_t k = 0; statistics && k < parts.size(); ++k) {
    parts[k]->centre(std::span(*statistics).subspan(offset, parts[k]->statistics()));
    offset += parts[k]->statistics();
  }
}

}  // namespace

Fit learn::fit_once(const Model& model, const Data& data, const FitOptions& options) {
  check_options(options);
  Model observed = learn::with_data(model, data);
  const std::vector<std::vector<std::size_t>> groups = learn::learnt_groups(observed, options.learn);
  std::vector<bool> learnt(model.factors.size(), false);
  for (const auto& group : groups) {
    for (const std::size_t f : group) {
      learnt[f] = true;
      if (model::likelihood_of(observed, f) == nullptr) declare_distribution(observed, f);
    }
  }
  const Planned planned(observed, data, options, learnt);
  learn::LearntParts parts;
  for (const auto& group : groups) {
    if (model::likelihood_of(observed, group[0]) != nullptr) {
      parts.push_back(std::make_unique<learn::Emission>(observed, group, planned.blocks(), planned.in_batches()));
      continue;
    }
    const std::string& child = observed.children[group[0]];
    const bool seen = observed.evidence.contains(child) || observed.lists.contains(child);
    parts.push_back(std::make_unique<learn::Table>(observed, group, options.pseudo_count, seen));
  }
  if (options.standard_errors) learn::check_information(parts, options);
  const learn::MakeRunner make = planned.runners(parts, options);
  centre_starts(parts, make, options);
  const std::vector<learn::Outcome> outcomes = learn::run_restarts(parts, make, options);
  Fit result = summary(outcomes);
  result.model = learn::resized_like(model, observed.graph);
  std::size_t offset = 0;
  for (const auto& part : parts) {
    part->store(std::span(outcomes[result.best].parameters).subspan(offset, part->size()), result.model);
    offset += part->size();
    result.parameters += part->free();
  }
  result.observations = learn::count_observations(observed, data.weights, learnt);
  const auto free = static_cast<double>(result.parameters);
  result.aic = 2 * free - 2 * result.log_likelihood;
  // Less than one observation, of no slices or of small weights, is no reward.
  result.bic = free * std::log(std::max(1.0, result.observations)) - 2 * result.log_likelihood;
  result.notes = learn::swappable_states(observed, learnt);
  const std::vector<std::string>& more = outcomes[result.best].notes;
  result.notes.insert(result.notes.end(), more.begin(), more.end());
  if (options.standard_errors && !result.interrupted) {
    learn::add_standard_errors(result, observed, parts, planned.blocks(), outcomes[result.best].parameters, options);
  }
  return result;
}

}  // namespace plated
