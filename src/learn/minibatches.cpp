// Cuts data along a plate whose slices nothing joins, and gives each block the weight of all.
#include "learn/minibatches.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "graph/spell.hpp"
#include "learn/cut.hpp"
#include "plated/error.hpp"

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

/// [slice]: ones where none are given.
std::vector<double> weights_of(const Weights& given, const std::string& plate, std::int64_t slices) {
  std::vector<double> each(static_cast<std::size_t>(slices), 1.0);
  const auto found = given.find(plate);
  if (found == given.end()) return each;
  const Tensor& weights = found->second;
  if (weights.rank() != 0 && weights.shape() != Tensor::Shape{slices}) {
    refuse_batches(plate, "there are not as many weights as slices");
  }
  const std::vector<double> values = weights.values();
  for (std::size_t k = 0; k < each.size(); ++k) each[k] = values[weights.rank() == 0 ? 0 : k];
  if (!std::all_of(each.begin(), each.end(), [](double w) { return std::isfinite(w) && w >= 0; })) {
    refuse_batches(plate, "its weights are not all finite and not negative");
  }
  if (!std::isfinite(std::accumulate(each.begin(), each.end(), 0.0))) {
    refuse_batches(plate, "the sum of its weights overflows");
  }
  return each;
}

}  // namespace

Minibatches::Minibatches(const Model& observed, const Data& data, const FitOptions& options,
                         const std::vector<bool>& counted) {
  if (options.batch.size() > 1) throw OptionError("batches are of one plate, and several were named");
  const auto& [name, size] = *options.batch.begin();
  const DimId plate = plate_of_batches(observed.graph, name);
  if (size < 1) refuse_batches(name, "a batch has one slice at least");
  if (observed.lengths.contains(name)) refuse_batches(name, "it is ragged");
  if (const auto why = why_joined(observed, plate)) refuse_batches(name, *why);
  std::vector<double> each = weights_of(data.weights, name, observed.graph.dims()[plate].size);
  const double all = std::accumulate(each.begin(), each.end(), 0.0);
  const auto weight_of = [&](const CutBlock& block) {
    double sum = 0;
    for (const std::int64_t slice : block.slices) sum += each[static_cast<std::size_t>(slice)];
    return sum;
  };
  Cut cut = cut_evenly(observed, plate, size);
  std::erase_if(cut.blocks, [&](const CutBlock& block) { return !(weight_of(block) > 0); });
  if (cut.blocks.empty()) refuse_batches(name, "it has no slices of any weight");
  for (const CutBlock& block : cut.blocks) {
    const double own = weight_of(block);
    shares_.push_back(own / all);
    for (const std::int64_t slice : block.slices) each[static_cast<std::size_t>(slice)] *= all / own;
  }
  Weights weights = data.weights;
  weights.insert_or_assign(name, Tensor::of(each));
  blocks_.emplace(observed, weights, counted, options.memory_limit, std::move(cut));
}

}  // namespace plated::learn
