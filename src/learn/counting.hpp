// A model planned for its E-steps, and how the numbers of its factors lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/listed.hpp"
#include "plated/fit.hpp"
#include "plated/plan.hpp"

namespace plated::learn {

/// A variable that only its own distribution holds, and some or all of whose cells are missing, gets one more state
/// here: missing cells are observed in it, and its weight is one, which is what the distribution sums to. So they count
/// nothing for the other states.
class Counting {
 public:
  /// Of a model with the factors of lists and of numbers, and with all data, which may be read in parts. `counted` says
  /// of which factors counts are wanted; those of others are not computed.
  Counting(const Model& model, std::vector<bool> counted, std::int64_t memory_limit,
           const std::vector<model::Listed>& lists);

  [[nodiscard]] const FactorGraph& graph() const { return plan_.graph(); }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const std::vector<bool>& counted() const { return counted_; }
  /// Tables, also those that lists are read at.
  [[nodiscard]] const std::vector<Tensor>& factors() const { return factors_; }
  [[nodiscard]] bool is_counted(std::size_t factor) const { return counted_[factor]; }
  /// Whether runs read what a list says of its table in place of a factor.
  [[nodiscard]] bool is_listed(std::size_t factor) const { return listed_[factor]; }
  /// Zeros in the layout of a counted factor's operand, whose counts are laid out alike. That of a distribution is
  /// stored by the states of its child, then row-major: what is read at an observed child lies in a row, and so do
  /// those of missing cells, behind all others.
  [[nodiscard]] Tensor operand(std::size_t factor) const;
  /// The operand as it is in the model, to be changed by M-steps.
  [[nodiscard]] Tensor start(std::size_t factor) const;
  /// The shape of a factor without the state for missing cells, where its operand has the given one.
  [[nodiscard]] Tensor::Shape without_missing(std::size_t factor, Tensor::Shape shape) const;
  /// Row-major numbers in the layout of a counted factor's operand.
  void put(std::size_t factor, const Tensor::Shape& shape, const std::vector<double>& numbers, double* to) const;
  /// The evidence of some data, as runs take it; the graph is the model's with the sizes of the data. Where cells may
  /// be missing it is a copy, and else the data themselves.
  [[nodiscard]] Evidence as_planned(const FactorGraph& sizes, Evidence evidence) const;
  /// The same for many runs: what takes several times the bytes that it needs is copied, too.
  [[nodiscard]] Evidence kept_as_planned(const FactorGraph& sizes, Evidence evidence) const;

 private:
  /// Gives variables their states for missing cells, and factors their logarithms.
  [[nodiscard]] FactorGraph prepared(const Model& model, const std::vector<model::Listed>& lists);
  [[nodiscard]] Plan planned(const FactorGraph& graph, const Evidence& evidence, std::int64_t memory_limit) const;
  /// Of a shape without the state for missing cells.
  [[nodiscard]] Tensor operand(std::size_t factor, Tensor::Shape shape) const;

  std::vector<bool> counted_, listed_;
  std::vector<bool> padded_;                           // [factor]: its child has a state for missing cells
  std::vector<std::optional<std::size_t>> child_;      // [factor]: the axis of a counted distribution's child
  std::map<std::string, std::int64_t> missing_state_;  // of variables that have one
  std::vector<Tensor> factors_;                        // in log space, as planned but for tables of lists
  Plan plan_;
};

}  // namespace plated::learn
