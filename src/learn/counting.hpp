// The E-step: a model and its data, planned once, and run on the numbers of each restart.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "api/repeated_gradient.hpp"
#include "learn/learnt.hpp"
#include "learn/spread_lists.hpp"
#include "plated/fit.hpp"
#include "plated/gradient.hpp"
#include "plated/plan.hpp"

namespace plated::learn {

/// What all restarts share.
///
/// A variable that only its own distribution holds, and some or all of whose cells are missing, gets one more state
/// here: missing cells are observed in it, and its weight is one, which is what the distribution sums to. So they count
/// nothing for the other states.
class Counting {
 public:
  /// Whether other data than those of the model will be counted under, which may have missing cells.
  enum class Missing { known, possible };

  /// Of a model with its data, and with the factors of lists. `counted` says of which factors counts are wanted; those
  /// of others are not computed.
  Counting(Model model, const Weights& weights, std::vector<bool> counted, std::int64_t memory_limit,
           std::vector<model::Listed> lists = {}, Missing missing = Missing::known);

  [[nodiscard]] const FactorGraph& graph() const { return plan_.graph(); }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  /// Its evidence, lengths and weights.
  [[nodiscard]] const RunOptions& run() const { return run_; }
  [[nodiscard]] const std::vector<bool>& counted() const { return counted_; }
  /// Tables, also those that lists are read at.
  [[nodiscard]] const std::vector<Tensor>& factors() const { return factors_; }
  [[nodiscard]] const std::vector<model::Listed>& lists() const { return lists_; }
  [[nodiscard]] bool is_counted(std::size_t factor) const { return counted_[factor]; }
  /// Whether runs read what a list says of its table in place of a factor.
  [[nodiscard]] bool is_listed(std::size_t factor) const {
    return std::any_of(lists_.begin(), lists_.end(),
                       [&](const model::Listed& list) { return list.factor() == factor; });
  }
  /// Zeros in the layout of a counted factor's operand, whose counts are laid out alike. That of a distribution is
  /// stored by the states of its child, then row-major: what is read at an observed child lies in a row, and so do
  /// those of missing cells, behind all others.
  [[nodiscard]] Tensor operand(std::size_t factor) const;
  /// The operand as it is in the model, to be changed by M-steps.
  [[nodiscard]] Tensor start(std::size_t factor) const;
  /// The evidence of some data, as runs take it; the graph is the model's with the sizes of the data. Where cells may
  /// be missing it is a copy, and else the data themselves.
  [[nodiscard]] Evidence as_planned(const FactorGraph& sizes, Evidence evidence) const;

 private:
  friend class Counts;
  [[nodiscard]] static Plan planned(const FactorGraph& graph, const Evidence& evidence, std::int64_t memory_limit);

  /// Gives variables their states for missing cells, and factors their logarithms.
  [[nodiscard]] FactorGraph prepared(const Model& model);
  /// Of a shape without the state for missing cells.
  [[nodiscard]] Tensor operand(std::size_t factor, Tensor::Shape shape) const;
  /// Row-major numbers in the layout of a counted factor's operand.
  void put(std::size_t factor, const Tensor::Shape& shape, const std::vector<double>& numbers, double* to) const;

  Missing missing_;
  std::vector<bool> counted_;
  std::vector<bool> padded_;                           // [factor]: its child has a state for missing cells
  std::vector<std::optional<std::size_t>> child_;      // [factor]: the axis of a counted distribution's child
  std::map<std::string, std::int64_t> missing_state_;  // of variables that have one
  std::vector<model::Listed> lists_;
  std::vector<Tensor> factors_;  // in log space, as planned but for tables of lists
  Evidence evidence_;            // until it is planned for
  RunOptions run_;
  Plan plan_;
};

/// The numbers of one restart and what is counted under them.
class Counts {
 public:
  /// Runs on so many threads; `cancelled` may be empty.
  Counts(const Counting& counting, int threads, std::function<bool()> cancelled,
         std::function<void(double)> progress = {});

  [[nodiscard]] Operands operands() const { return {.logs = logs_, .counts = counts_, .threads = run_.threads}; }
  /// ln Z of all batches, and the counts. One sweep forward, one backward.
  double count();
  /// ln Z alone.
  [[nodiscard]] double log_total() const;
  /// The direction in which curve() differentiates, in the layout of a counted factor's operand.
  void clear_direction();
  [[nodiscard]] double* direction(std::size_t factor) const;
  /// The derivative of all counts in the direction: products of the Hessian of ln Z, by factor, laid out as counts.
  const std::vector<Tensor>& curve();
  /// The counts of a factor in the model's own shape.
  [[nodiscard]] Tensor counts_of(std::size_t factor) const;

 private:
  const Counting& counting_;
  std::optional<api::RepeatedGradient> gradient_;  // once it has been asked for
  std::vector<Tensor> factors_;
  std::vector<Tensor> operands_;  // the same, but for tables that lists are read at
  std::vector<Tensor> found_counts_;
  ValueAndGradient found_;
  GradientOptions places_;  // of the gradients that are wanted
  std::vector<Tensor> direction_, run_direction_;
  std::optional<Workspace> curving_;  // once it has been asked for
  HessianVectorProduct curved_;
  std::vector<Tensor> curves_;
  RunOptions run_;
  std::vector<double*> logs_;          // [factor]
  std::vector<const double*> counts_;  // [factor]
  mutable SpreadLists lists_;
};

}  // namespace plated::learn
