// Cuts data along a plate whose slices nothing joins.
#include "learn/minibatches.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/sorted_set.hpp"
#include "graph/spell.hpp"
#include "learn/take_slices.hpp"
#include "learn/with_data.hpp"
#include "model/likelihoods.hpp"
#include "model/measured.hpp"
#include "plated/error.hpp"
#include "tensor/check_entries.hpp"

namespace plated::learn {
namespace {

[[noreturn]] void refuse_batches(const std::string& plate, const std::string& why) {
  throw OptionError("the data cannot be read in batches of " + graph::quoted(plate) + ": " + why);
}

DimId plate_of_batches(const FactorGraph& graph, const std::string& name) {
  const auto found = graph.find(name);
  if (found && graph.dims()[*found].kind == DimKind::plate) return *found;
  throw UnknownNameError("there is no plate " + graph::quoted(name) + " to have batches");
}

/// Throws where blocks of the plate are not independent of each other.
void check_apart(const Model& model, DimId plate) {
  const FactorGraph& graph = model.graph;
  const std::string& name = graph.dims()[plate].name;
  const auto is_known = [&](DimId v) {
    const auto seen = model.evidence.find(graph.dims()[v].name);
    return seen != model.evidence.end() && tensor::range_of(seen->second).least >= 0;
  };
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    const Factor& factor = graph.factors()[f];
    if (!base::contains(graph.factor_plates(f), plate)) continue;
    if (std::find(factor.dims.begin(), factor.dims.end(), plate) != factor.dims.end()) {
      refuse_batches(name, "factor " + graph::quoted(factor.name) + " has an axis for it");
    }
    for (const DimId v : graph.factor_variables(f)) {
      const DimId in = graph.dims()[v].end == End::none ? v : graph.dims()[v].of;
      if (base::contains(graph.variable_plates()[in], plate) || is_known(v)) continue;
      refuse_batches(name, graph::quoted(graph.dims()[v].name) + ", which is outside of it, joins its slices");
    }
  }
}

/// Blocks would name the index of a number without a density by their own count.
void check_fixed_likelihoods(const Model& observed, const std::vector<bool>& learnt) {
  for (const auto& [name, numbers] : observed.measurements) {
    for (const std::size_t f : model::factors_measuring(observed, name)) {
      if (learnt[f]) continue;
      const model::Measured all = model::measured(observed, f);
      const auto components = model::components_of(*model::likelihood_of(observed, f), std::span(&all, 1));
      model::check_support(observed, f, all, components);
    }
  }
}

}  // namespace

Minibatches::Minibatches(const Model& observed, const Data& data, const FitOptions& options,
                         const std::vector<bool>& counted)
    : model_(observed), all_{.weights = data.weights}, counted_(counted) {
  if (options.batch.size() > 1) throw OptionError("batches are of one plate, and several were named");
  const auto& [name, size] = *options.batch.begin();
  plate_ = plate_of_batches(observed.graph, name);
  if (size < 1) refuse_batches(name, "a batch has one slice at least");
  if (observed.lengths.contains(name)) refuse_batches(name, "it is ragged");
  check_apart(observed, plate_);
  check_fixed_likelihoods(observed, counted);
  const std::int64_t slices = observed.graph.dims()[plate_].size;
  weights_.assign(static_cast<std::size_t>(slices), 1.0);
  if (const auto given = all_.weights.extract(name)) {
    const Tensor& weights = given.mapped();
    if (weights.rank() != 0 && weights.shape() != Tensor::Shape{slices}) {
      refuse_batches(name, "there are not as many weights as slices");
    }
    const std::vector<double> values = weights.values();
    for (std::size_t k = 0; k < weights_.size(); ++k) weights_[k] = values[weights.rank() == 0 ? 0 : k];
    if (!std::all_of(weights_.begin(), weights_.end(), [](double w) { return std::isfinite(w) && w >= 0; })) {
      refuse_batches(name, "its weights are not all finite and not negative");
    }
    if (!std::isfinite(std::accumulate(weights_.begin(), weights_.end(), 0.0))) {
      refuse_batches(name, "the sum of its weights overflows");
    }
  }
  for (std::int64_t begin = 0; begin < slices; begin += size) {
    Block block;
    block.slices.resize(static_cast<std::size_t>(std::min(size, slices - begin)));
    std::iota(block.slices.begin(), block.slices.end(), begin);
    for (const std::int64_t slice : block.slices) block.weight += weights_[static_cast<std::size_t>(slice)];
    weight_ += block.weight;
    if (block.weight > 0) blocks_.push_back(std::move(block));
  }
  if (blocks_.empty()) refuse_batches(name, "it has no slices of any weight");
  std::vector<model::Listed> lists = sorted_lists(observed, all_.weights, plate_);
  model_.lists.clear();
  all_.states = std::exchange(model_.evidence, {});
  all_.lengths = std::exchange(model_.lengths, {});
  Weights first;
  Model planned = model::bound(with_lists(model(0, first), lists), counted);
  first.insert_or_assign(name, Tensor::scalar(1.0));
  counting_.emplace(std::move(planned), first, counted, options.memory_limit, std::move(lists),
                    Counting::Missing::possible);
}

Model Minibatches::model(std::size_t block) const {
  Weights weights;
  return model(block, weights);
}

Model Minibatches::model(std::size_t block, Weights& weights) const {
  ModelAndData part = take_slices(model_, all_, plate_, blocks_[block].slices);
  part.model.evidence = std::move(part.data.states);
  part.model.lengths = std::move(part.data.lengths);
  part.model.measurements = take_measurements(model_, plate_, blocks_[block].slices);
  weights = std::move(part.data.weights);
  return std::move(part.model);
}

void Minibatches::observe(std::size_t block, RunOptions& run, std::vector<Tensor>& factors) const {
  const Block& at = blocks_[block];
  const std::string& name = model_.graph.dims()[plate_].name;
  Model part = model(block, run.weights);
  run.evidence = counting_->as_planned(part.graph, std::move(part.evidence));
  run.lengths = IntegersByName(part.lengths);
  run.sizes.insert_or_assign(name, std::ssize(at.slices));
  if (!model_.measurements.empty()) {
    part.evidence.clear();
    part = model::bound(std::move(part), counted_);
    for (const auto& [measured, numbers] : model_.measurements) {
      for (const std::size_t f : model::factors_measuring(model_, measured)) {
        factors[f] = counted_[f] ? Tensor(Dtype::float64, part.factors[f].shape()) : part.factors[f];
      }
    }
  }
  std::vector<double> weights;
  for (const std::int64_t slice : at.slices) {
    weights.push_back(weights_[static_cast<std::size_t>(slice)] * weight_ / at.weight);
  }
  run.weights.insert_or_assign(name, Tensor::of(weights));
}

}  // namespace plated::learn
