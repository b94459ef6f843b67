// The E-step: the numbers of one restart, and what is counted under them in all blocks of the data.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "api/repeated_gradient.hpp"
#include "learn/blocks.hpp"
#include "learn/learnt.hpp"
#include "learn/spread_lists.hpp"
#include "plated/gradient.hpp"

namespace plated::learn {

/// The operand of a likelihood has those of its blocks one behind the other, and so have its counts.
class Counts {
 public:
  /// Of blocks that are kept. Runs on so many threads; `cancelled` may be empty.
  Counts(const Blocks& blocks, int threads, const std::function<bool()>& cancelled,
         const std::function<void(double)>& progress = {});

  [[nodiscard]] Operands operands() const { return {.logs = logs_, .counts = counts_, .threads = threads_}; }
  /// ln Z of all batches, and the counts. One sweep forward, one backward for each block; sums are in their order.
  double count();
  /// ln Z alone.
  [[nodiscard]] double log_total() const;
  /// The direction in which curve() differentiates, in the layout of a counted factor's operand.
  void clear_direction();
  [[nodiscard]] double* direction(std::size_t factor) const;
  /// The derivative of all counts in the direction: products of the Hessian of ln Z, by factor, laid out as counts.
  const std::vector<Tensor>& curve();
  /// The counts of a factor in the model's own shape, unless it is the likelihood of numbers that are cut.
  [[nodiscard]] Tensor counts_of(std::size_t factor) const;

 private:
  /// One block; its tensors are by factor.
  struct Block {
    RunOptions run;
    std::vector<Tensor> operands;                   // of runs: in place of tables that lists are read at, messages
    std::vector<Tensor> messages;                   // of these lists, for all of the block's slices
    std::vector<Tensor> found_messages;             // the same of counts
    GradientOptions places;                         // of the gradients that are wanted
    std::optional<api::RepeatedGradient> gradient;  // once it has been asked for
    ValueAndGradient found;
    std::vector<Tensor> direction, direction_messages;  // once curve() has been asked for
    HessianVectorProduct curved;
  };

  void prepare(std::size_t block);
  void prepare_directions();
  /// The part of a likelihood's numbers that a block has.
  [[nodiscard]] Tensor part_of(const Tensor& all, std::size_t factor, std::size_t block) const;
  /// Where a block's sums of tables are put: where those of all blocks are, if it is the only one.
  [[nodiscard]] std::vector<Tensor>& places_of(std::vector<Tensor>& sums) {
    return blocks_.count() > 1 ? block_counts_ : sums;
  }
  /// Adds what a block has put there to the sums.
  void add_tables(std::size_t block, std::vector<Tensor>& sums) const;

  const Blocks& blocks_;
  const Counting& counting_;
  int threads_;
  std::vector<Tensor> factors_;
  std::vector<Tensor> found_counts_;
  std::vector<Tensor> tables_;        // the same as factors, but what tables say of rows in the place of these
  std::vector<Tensor> sums_;          // of counts of these
  std::vector<Tensor> block_counts_;  // of those of a block
  std::vector<Tensor> direction_, table_direction_, curves_, curve_sums_;
  std::vector<Block> each_;
  std::optional<Workspace> curving_;   // once it has been asked for
  std::vector<double*> logs_;          // [factor]
  std::vector<const double*> counts_;  // [factor]
  mutable SpreadLists lists_, rows_;
};

}  // namespace plated::learn
