// Takes the data of blocks.
#include "learn/blocks.hpp"

#include <numeric>
#include <utility>

#include "base/sorted_set.hpp"
#include "learn/take_slices.hpp"
#include "learn/with_data.hpp"
#include "model/likelihoods.hpp"
#include "model/measured.hpp"

namespace plated::learn {
namespace {

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

std::vector<std::int64_t> first_slices(std::int64_t count) {
  std::vector<std::int64_t> slices(static_cast<std::size_t>(count));
  std::iota(slices.begin(), slices.end(), std::int64_t{0});
  return slices;
}

}  // namespace

Blocks::Blocks(const Model& observed, const Weights& weights, const std::vector<bool>& counted,
               std::int64_t memory_limit, std::optional<Cut> cut)
    : model_(observed),
      weights_(weights),
      counted_(counted),
      measured_(observed.factors.size(), false),
      memory_limit_(memory_limit),
      cut_(std::move(cut)),
      first_(1, 0) {
  if (cut_) check_fixed_likelihoods(observed, counted_);
  for (const auto& [name, numbers] : observed.measurements) {
    for (const std::size_t f : model::factors_measuring(observed, name)) measured_[f] = true;
  }
  if (cut_) {
    for (const CutBlock& block : cut_->blocks) {
      first_.push_back(first_.back() + std::ssize(block.slices));
      work_ += block.work;
    }
  }
  sort_lists(observed, weights);
  model_.lists.clear();
  // Plans are for all sizes; verdicts are those of the whole model.
  const std::vector<bool> open(measured_.size(), true);
  counting_.emplace(model::bound(with_lists(model_, lists_), open), counted_, memory_limit, lists_);
}

void Blocks::sort_lists(const Model& observed, const Weights& weights) {
  if (!cut_) {
    lists_ = sorted_lists(observed, weights);
    return;
  }
  const Dim& plate = observed.graph.dims()[cut_->plate];
  std::vector<std::int64_t> order;
  for (const CutBlock& block : cut_->blocks) order.insert(order.end(), block.slices.begin(), block.slices.end());
  Model sorted = observed;
  for (auto& [name, list] : sorted.lists) {
    if (list.slices.contains(plate.name)) list = rows_about(list, plate.name, plate.size, order);
  }
  lists_ = sorted_lists(sorted, weights, cut_->plate);
}

Model Blocks::model(std::size_t block) const {
  Weights weights;
  return model(block, weights);
}

Model Blocks::model(std::size_t block, Weights& weights) const {
  weights = weights_;
  if (!cut_) return model_;
  const CutBlock& at = cut_->blocks[block];
  // Chains first, so that copies have no more than what is read.
  Model part = model_;
  for (const auto& [dim, longest] : at.longest) part = sliced(part, weights, dim, first_slices(longest));
  return sliced(part, weights, cut_->plate, at.slices);
}

void Blocks::keep() {
  kept_.clear();
  for (std::size_t block = 0; block < count(); ++block) kept_.push_back(run(block, true));
}

Blocks::Run Blocks::run(std::size_t block, bool keeps) const {
  Run run{.options = {.semiring = Semiring::log, .memory_limit = memory_limit_}, .factors = counting_->factors()};
  Model part = model(block, run.options.weights);
  Evidence seen = std::exchange(part.evidence, {});
  run.options.evidence = keeps ? counting_->kept_as_planned(part.graph, std::move(seen))
                               : counting_->as_planned(part.graph, std::move(seen));
  run.options.lengths = IntegersByName(part.lengths);
  if (cut_) {
    const auto size = [&](DimId dim) {
      const Dim& known = part.graph.dims()[dim];
      run.options.sizes.insert_or_assign(known.name, known.size);
    };
    size(cut_->plate);
    for (const auto& [dim, longest] : cut_->blocks[block].longest) size(dim);
  }
  if (model_.measurements.empty()) return run;
  part = model::bound(std::move(part), counted_);
  for (std::size_t f = 0; f < measured_.size(); ++f) {
    if (measured_[f]) run.factors[f] = part.factors[f];
  }
  return run;
}

Tensor Blocks::message(const model::Listed& list, std::size_t block) const {
  return {Dtype::float64, cut_ ? list.shape(std::ssize(cut_->blocks[block].slices)) : list.shape()};
}

Tensor Blocks::read_part(const model::Listed& list, const Tensor& message, std::size_t block) const {
  if (!cut_) return message;
  Tensor::Shape shape = message.shape();
  for (std::size_t k = 0; k < list.plates().size(); ++k) {
    const auto found = cut_->blocks[block].longest.find(list.plates()[k]);
    if (found != cut_->blocks[block].longest.end()) shape[k] = found->second;
  }
  if (shape == message.shape()) return message;
  return Tensor::view(static_cast<double*>(message.mutable_data()), shape, message.strides())
      .keeping(std::make_shared<Tensor>(message));
}

}  // namespace plated::learn
