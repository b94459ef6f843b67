// A model with its data, planned once and run on all of them or on blocks of slices of a plate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "learn/counting.hpp"
#include "learn/cut.hpp"
#include "model/listed.hpp"
#include "plated/fit.hpp"
#include "plated/plan.hpp"

namespace plated::learn {

/// What all restarts share.
class Blocks {
 public:
  /// What a run on a block reads.
  struct Run {
    RunOptions options;           ///< evidence, lengths, weights and sizes
    std::vector<Tensor> factors;  ///< log-probabilities of numbers; for those that are learnt just the shape. Tables as
                                  ///< they are in the model, also those that lists are read at
  };

  /// Of a model with its data. Without a cut there is one block, of all of them.
  Blocks(const Model& observed, const Weights& weights, const std::vector<bool>& counted, std::int64_t memory_limit,
         std::optional<Cut> cut = {});

  [[nodiscard]] std::size_t count() const { return cut_ ? cut_->blocks.size() : 1; }
  [[nodiscard]] bool is_cut() const { return cut_.has_value(); }
  [[nodiscard]] const Counting& counting() const { return *counting_; }
  /// The part of a run through all blocks that a block takes.
  [[nodiscard]] double share(std::size_t block) const { return cut_ ? cut_->blocks[block].work / work_ : 1; }
  /// Whether a factor is the likelihood of numbers that are observed, and so has an axis for each of its plates.
  [[nodiscard]] bool is_measured(std::size_t factor) const { return measured_[factor]; }
  /// The model with the data of a block, but for its lists.
  [[nodiscard]] Model model(std::size_t block) const;
  [[nodiscard]] Run run(std::size_t block) const { return run(block, false); }
  /// Prepares all blocks for many runs.
  void keep();
  /// Of blocks that are kept.
  [[nodiscard]] const Run& kept(std::size_t block) const { return kept_[block]; }

  /// Their groups are sorted by block.
  [[nodiscard]] const std::vector<model::Listed>& lists() const { return lists_; }
  /// Which of their slices is the first of a block.
  [[nodiscard]] std::int64_t first_slice(std::size_t block) const { return first_[block]; }
  /// The message of a list in a block, with room for all groups of its slices, and the part of it that runs read.
  [[nodiscard]] Tensor message(const model::Listed& list, std::size_t block) const;
  [[nodiscard]] Tensor read_part(const model::Listed& list, const Tensor& message, std::size_t block) const;

 private:
  /// The weights of a block besides.
  [[nodiscard]] Model model(std::size_t block, Weights& weights) const;
  [[nodiscard]] Run run(std::size_t block, bool keeps) const;
  void sort_lists(const Model& observed, const Weights& weights);

  Model model_;  // with its data, but for lists
  Weights weights_;
  std::vector<bool> counted_, measured_;
  std::int64_t memory_limit_;
  std::optional<Cut> cut_;
  double work_ = 0;
  std::vector<model::Listed> lists_;
  std::vector<std::int64_t> first_;  // [block]
  std::optional<Counting> counting_;
  std::vector<Run> kept_;
};

}  // namespace plated::learn
