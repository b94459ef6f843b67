// Appends the steps of a question to a schedule: weighted sums, real contractions, and the values they need.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/elimination.hpp"
#include "planner/schedule.hpp"

namespace plated::adjoint {

using base::SortedSet;
using planner::Contract;
using planner::none;
using planner::Schedule;
using planner::Step;
using planner::Value;
using planner::ValueId;

/// The terms of a weighted sum: exp(Σ added − Σ subtracted) · ∏ factors · scale.
struct Terms {
  std::vector<ValueId> added = {};
  std::vector<ValueId> subtracted = {};
  std::vector<ValueId> factors = {};
  planner::Scale scale = {};
  bool surprisal = false;
};

class StepWriter {
 public:
  explicit StepWriter(planner::Schedule& schedule);

  [[nodiscard]] planner::Schedule& schedule() { return schedule_; }
  /// A copy of a step: the schedule grows.
  [[nodiscard]] Step step(std::size_t s) const { return schedule_.steps[s]; }
  [[nodiscard]] SortedSet dims(ValueId value) const;
  /// The elements of a set of dims, plates being of a nominal size.
  [[nodiscard]] double nominal_elements(const SortedSet& dims) const;
  /// The loops of a step, as a set.
  [[nodiscard]] SortedSet loops(const planner::Step& step) const;

  /// An operand that the question brings along, read through the dims of `like`.
  ValueId add_operand(std::vector<DimId> axes, ValueId like);
  /// One that has a type of its own, as those of bodies do.
  ValueId add_operand(std::vector<DimId> dims, planner::Precision precision);
  /// An answer of the question, with the given axes.
  ValueId add_output(std::vector<DimId> axes);
  /// A row-major intermediate, in double unless said otherwise.
  ValueId add_intermediate(std::vector<DimId> dims, planner::Precision precision = planner::Precision::wide);

  /// Writes the sum of `terms` over `loops` into `out`, or adds it. A loop that neither a term nor the output carries
  /// counts its slices; a dim of the output that is no loop shares the sum among its slices.
  void weigh(ValueId out, Terms terms, const SortedSet& loops, bool accumulate);
  /// Writes or adds a value, summed over dims that `out` does not have.
  void copy(ValueId out, ValueId from, bool accumulate = false) {
    weigh(out, {.factors = {from}}, dims(from), accumulate);
  }
  /// The product of the inputs summed over all but `kept`, in a semiring, into a new value or into `out`.
  ValueId contract(std::vector<ValueId> inputs, const std::vector<DimId>& kept, Semiring semiring, ValueId out = none);
  /// The number 0.
  ValueId zero();
  /// Products of all slices but one's own; with tangents, their derivative.
  ValueId leave_one_out(std::vector<ValueId> inputs, const SortedSet& product, const planner::Power& power,
                        Semiring semiring);
  /// What a step multiplies over plates: its inputs' product in each slice, in double.
  ValueId slice_product(const planner::Step& step, Semiring semiring);
  /// log mass − normaliser, or log mass alone, over the dims of both.
  ValueId log_mass(ValueId mass, ValueId normaliser = none);

  /// Appends a step.
  void add(planner::Operation operation, std::vector<ValueId> inputs, ValueId output);

  /// Whether a step's loops outnumber the elements of its inputs and output so much that it is worth a matrix product,
  /// plates being neither small nor large.
  [[nodiscard]] bool is_matrix_product(const planner::Step& step) const;

 private:
  ValueId add_value(planner::Value value);

  planner::Schedule& schedule_;
};

}  // namespace plated::adjoint
