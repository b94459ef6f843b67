// Second derivatives: tangents of every value along the plan, then the tangents of their masses against it.
#pragma once

#include <functional>
#include <vector>

#include "adjoint/reverse.hpp"

namespace plated::adjoint {

/// Extends a reverse sweep whose masses of all intermediates are known. The directions of all operands become operands,
/// in order; the tangents of all outputs, then the second derivatives by all operands, become answers.
class Hessian {
 public:
  Hessian(StepWriter& writer, const Reverse& reverse, Semiring semiring);
  void run();

 private:
  void take_tangents();
  void tangent_of(const planner::Step& step);
  /// The tangents of a scan's messages run along with them.
  void tangents_along(const Slices& slices);
  /// Passes the tangent of a step's mass, and what the tangents of its inputs make of its mass, on to inputs.
  using Accepts = std::function<bool(ValueId input)>;
  void curve(const planner::Step& step, const Accepts& accepts);
  /// The tangents of the masses of a scan's messages run back along the chain.
  void curve_along(const Slices& slices);
  void curve_log(const planner::Step& step, std::size_t input);
  void curve_real(const planner::Step& step, std::size_t input);
  /// Adds terms to the tangent of a value, or to that of its mass.
  void add(std::vector<ValueId>& list, ValueId value, Terms terms, const SortedSet& loops);
  /// Adds a derivative of a power, times factors.
  void add_slope(std::vector<ValueId>& list, ValueId value, const planner::Step& step,
                 const std::vector<ValueId>& factors, int order = 1);
  /// Tangents of gathers, and what curved masses they pass back.
  void tangent_of_gathered(const planner::Step& step);
  void curve_gathered(const planner::Step& step);
  /// A gather that multiplies over plates in the real semiring, as a product of slices whose tangent is known.
  [[nodiscard]] planner::Step product_of_gathered(const planner::Step& step);
  void add_whole(std::vector<ValueId>& list, ValueId value, ValueId whole);

  /// The inputs of a step but for some, with one of them replaced by its tangent.
  [[nodiscard]] std::vector<ValueId> inputs_but(const planner::Step& step, std::size_t input,
                                                std::size_t tangent = ~std::size_t{0}) const;
  /// Of a step that multiplies over plates in the real semiring: its slices, the products of all others, and tangents.
  struct Products {
    ValueId product = none;
    ValueId others = none;
    ValueId product_tangent = none;
    ValueId others_tangent = none;
  };
  const Products& products(const planner::Step& step);

  StepWriter& writer_;
  const Reverse& reverse_;
  Semiring semiring_;
  std::vector<ValueId> tangent_;    // [value]
  std::vector<ValueId> curved_;     // [value]: the tangent of its mass
  std::vector<ValueId> answer_;     // [value]: where a tangent or the tangent of a mass goes, if asked for
  std::vector<Products> products_;  // [value]: of the step that writes it
};

}  // namespace plated::adjoint
