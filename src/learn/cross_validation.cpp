// Fits a model to all slices of a plate but those of a fold, and scores it on these.
#include "learn/cross_validation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/random.hpp"
#include "graph/spell.hpp"
#include "learn/fit_once.hpp"
#include "learn/learnt_parts.hpp"
#include "learn/observations.hpp"
#include "learn/take_slices.hpp"
#include "learn/with_data.hpp"
#include "model/likelihoods.hpp"
#include "plated/error.hpp"

namespace plated::learn {
namespace {

DimId plate_to_fold(const Model& observed, const std::string& name) {
  const auto dim = observed.graph.find(name);
  if (dim && observed.graph.dims()[*dim].kind == DimKind::plate) return *dim;
  if (dim && observed.graph.dims()[*dim].kind == DimKind::chain) {
    throw OptionError(graph::quoted(name) +
                      " is a chain, whose slices depend on each other: cross-validation deals the slices of a plate");
  }
  throw UnknownNameError("there is no plate " + graph::quoted(name) + " to cross-validate over");
}

std::vector<std::size_t> learnt_factors(const Model& model, const std::vector<std::string>& learn) {
  std::vector<std::size_t> result;
  for (const auto& group : learnt_groups(model, learn)) result.insert(result.end(), group.begin(), group.end());
  return result;
}

/// Slices in a random order, cut into folds whose sizes differ by one at most.
std::vector<std::vector<std::int64_t>> deal(std::int64_t slices, int folds, std::uint64_t seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(slices));
  std::iota(order.begin(), order.end(), 0);
  base::Random random(seed ^ 0x5DEECE66Du);
  for (std::size_t k = order.size(); k > 1; --k)
    std::swap(order[k - 1], order[random.below(static_cast<std::uint32_t>(k))]);
  std::vector<std::vector<std::int64_t>> result(static_cast<std::size_t>(folds));
  for (std::size_t k = 0; k < order.size(); ++k) result[k % result.size()].push_back(order[k]);
  for (auto& fold : result) std::sort(fold.begin(), fold.end());
  return result;
}

std::vector<std::int64_t> all_but(std::int64_t slices, const std::vector<std::int64_t>& left_out) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(slices));
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::int64_t> result;
  std::set_difference(all.begin(), all.end(), left_out.begin(), left_out.end(), std::back_inserter(result));
  return result;
}

/// Whether anything in a plate has data.
bool is_seen(const Model& observed, DimId plate) {
  const FactorGraph& graph = observed.graph;
  const std::string& name = graph.dims()[plate].name;
  return std::any_of(observed.lists.begin(), observed.lists.end(),
                     [&](const auto& entry) { return entry.second.slices.contains(name); }) ||
         std::any_of(observed.evidence.begin(), observed.evidence.end(),
                     [&](const auto& entry) {
                       return graph::contains(graph.variable_plates()[*graph.find(entry.first)], plate);
                     }) ||
         std::any_of(observed.measurements.begin(), observed.measurements.end(), [&](const auto& entry) {
           return graph::contains(graph.factor_plates(model::factors_measuring(observed, entry.first)[0]), plate);
         });
}

/// Gives a list of probabilities so many states; those that the data of a fold do not have are impossible in it.
void widen(Likelihood& likelihood, std::size_t states) {
  const std::size_t own = model::parameter_states(likelihood);
  if (own >= states) return;
  Tensor& narrow = likelihood.parameters.at("probabilities");
  Tensor::Shape shape = narrow.shape();
  shape.back() = static_cast<std::int64_t>(states);
  Tensor wide(Dtype::float64, shape);
  const std::vector<double> numbers = narrow.values();
  for (std::size_t k = 0; k < numbers.size(); ++k) wide.data<double>()[k / own * states + k % own] = numbers[k];
  narrow = std::move(wide);
}

/// The likelihoods of a model, those that were learnt as a fold has them, with the states that all data have.
std::map<std::string, Likelihood, std::less<>> with_learnt(const Model& model, const Model& fold, const Model& all,
                                                           const std::vector<std::size_t>& learnt) {
  auto likelihoods = model.likelihoods;
  for (const std::size_t f : learnt) {
    const auto found = likelihoods.find(model.graph.factors()[f].name);
    if (found == likelihoods.end()) continue;
    found->second = fold.likelihoods.at(found->first);
    widen(found->second, model::parameter_states(all.likelihoods.at(found->first)));
  }
  return likelihoods;
}

}  // namespace

void check_folds(const Model& model, const Data& data, const FitOptions& options) {
  if (options.cross_validate.size() > 1)
    throw OptionError("cross-validation is over one plate, and several were named");
  const auto& [name, folds] = *options.cross_validate.begin();
  const Model observed = with_data(model, data);
  const DimId plate = plate_to_fold(observed, name);
  const std::string quoted = graph::quoted(name);
  // The size of a plate that lists alone speak of follows their rows, and weights would not.
  if (!observed.lists.empty() && data.weights.contains(name)) {
    throw OptionError("slices of plate " + quoted + " have weights and rows: they cannot be dealt to folds");
  }
  const std::int64_t size = observed.graph.dims()[plate].size;
  if (folds < 2 || folds > size) {
    throw OptionError("plate " + quoted + " has " + std::to_string(size) + " slices, which cannot be dealt to " +
                      std::to_string(folds) + " folds: there are two at least, with a slice each");
  }
  if (observed.lengths.contains(name)) {
    throw OptionError("plate " + quoted + " is ragged: its slices cannot be dealt to folds");
  }
  for (const std::size_t f : learnt_factors(observed, options.learn)) {
    const Factor& factor = observed.graph.factors()[f];
    if (!graph::contains(factor.dims, plate)) continue;
    throw OptionError("factor " + graph::quoted(factor.name) + " is learnt and has an axis for plate " + quoted +
                      ": nothing would be learnt about the slices that are held out");
  }
  if (!is_seen(observed, plate))
    throw OptionError("plate " + quoted + " cannot be cross-validated: no variable in it has data");
}

void cross_validate(Fit& result, const Model& model, const Data& data, const FitOptions& options) {
  const auto& [name, folds] = *options.cross_validate.begin();
  const Model observed = with_data(model, data);
  const DimId plate = *observed.graph.find(name);
  const std::int64_t size = observed.graph.dims()[plate].size;
  const std::vector<std::size_t> learnt = learnt_factors(observed, options.learn);
  const EvaluateOptions how{
      .threads = options.threads, .memory_limit = options.memory_limit, .cancelled = options.cancelled};
  const double all_cells = count_cells(observed);
  double total = 0;
  try {
    for (std::vector<std::int64_t>& held_out : deal(size, folds, options.seed)) {
      FitOptions of_fold = options;
      of_fold.standard_errors = false;
      const int number = static_cast<int>(result.folds.size());
      if (options.progress) {
        of_fold.progress = [&options, number](FitProgress now) {
          now.fold = number;
          options.progress(now);
        };
      }
      const ModelAndData others = take_slices(observed, data.weights, plate, all_but(size, held_out));
      const Fit fitted = fit_once(others.model, others.data, of_fold);
      if (fitted.interrupted) throw CancelledError("a fold was interrupted");
      Model whole = observed;
      for (const std::size_t f : learnt) whole.factors[f] = fitted.model.factors[f];
      whole.likelihoods = with_learnt(whole, fitted.model, result.model, learnt);
      // What slices share that is latent, the others tell of: ln p given them, and not by themselves.
      const double log_likelihood =
          evaluate(whole, {.weights = data.weights}, how).log_likelihood - fitted.log_likelihood;
      if (std::isinf(log_likelihood)) {
        result.notes.push_back("fold " + std::to_string(number) +
                               ": what is held out has no probability under what the others teach; pseudo-counts "
                               "would leave it some");
      }
      result.folds.push_back({.slices = std::move(held_out),
                              .log_likelihood = log_likelihood,
                              .cells = all_cells - count_cells(with_data(others.model, others.data)),
                              .iterations = fitted.restarts[fitted.best].iterations,
                              .converged = fitted.converged});
      total += log_likelihood;
    }
    result.cross_validated = total;
  } catch (const CancelledError&) {
    result.interrupted = true;
  }
}

}  // namespace plated::learn
