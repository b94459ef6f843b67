// Blocks of slices of a plate, as runs of a model that was planned once.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "learn/counting.hpp"
#include "plated/fit.hpp"

namespace plated::learn {

/// What all restarts share. A block stands for the whole plate: its slices weigh as much as all slices do, so that what
/// is counted in it is an estimate of all counts, and the mean of its ln Z over all blocks is ln Z of the data.
class Minibatches {
 public:
  /// Of a model with its data. Throws UnknownNameError and OptionError for a plate that cannot be
  /// cut: a factor has an axis for it, or a variable outside of it that is not observed joins its slices.
  Minibatches(const Model& observed, const Data& data, const FitOptions& options, const std::vector<bool>& counted);

  [[nodiscard]] std::size_t count() const { return blocks_.size(); }
  [[nodiscard]] const Counting& counting() const { return *counting_; }
  /// Where the slices of a block begin, and how many there are.
  [[nodiscard]] std::int64_t first_slice(std::size_t block) const { return blocks_[block].slices[0]; }
  [[nodiscard]] std::int64_t slices(std::size_t block) const { return std::ssize(blocks_[block].slices); }
  /// The part of all data that a block has.
  [[nodiscard]] double share(std::size_t block) const { return blocks_[block].weight / weight_; }
  /// The model with the data of a block.
  [[nodiscard]] Model model(std::size_t block) const;
  /// Gives a run the evidence, lengths, weights and size of a block, and its log-probabilities of numbers: those of
  /// likelihoods that are learnt are zeros, to be written.
  void observe(std::size_t block, RunOptions& run, std::vector<Tensor>& factors) const;

 private:
  /// The weights of the other plates in a block, besides its model.
  [[nodiscard]] Model model(std::size_t block, Weights& weights) const;

  struct Block {
    std::vector<std::int64_t> slices;
    double weight = 0;
  };

  Model model_;                  // without its states, lists and lengths
  Data all_;                     // without weights of the plate
  std::vector<double> weights_;  // [slice]
  DimId plate_ = 0;
  std::vector<bool> counted_;
  std::vector<Block> blocks_;
  double weight_ = 0;  // of all of them
  std::optional<Counting> counting_;
};

}  // namespace plated::learn
