// A schedule: the steps of a plan, over values that have dims but no data. The reverse sweep walks it backwards.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/problem.hpp"
#include "plated/semiring.hpp"

namespace plated::planner {

using ValueId = std::uint32_t;

/// The element type a value is kept in: the operands', or double where a plate has multiplied it.
enum class Precision : std::uint8_t { element, wide };

/// A tensor of the schedule: an operand, an intermediate, or an output.
struct Value {
  enum class Kind : std::uint8_t { operand, intermediate, output };
  Kind kind = Kind::intermediate;
  std::size_t index = 0;  // of the operand or output
  std::vector<DimId>
      dims;  // axes of an intermediate, row-major; of an operand or output as a set, in declaration order
  Precision precision = Precision::element;
};

/// One operation on whole tensors.
struct Step {
  enum class Kind : std::uint8_t {
    contract,       ///< out = (Product over `product` of the sum over `sum` of the product of inputs)^power
    leave_one_out,  ///< out[p] = product over all slices but p of `product`; power counts slices the input lacks
    weigh,          ///< out = scale · Σ exp(Σ added inputs − Σ subtracted inputs) · ∏ other inputs
    log_mass,       ///< out = log(first input) − second input, if there is one; −inf where the first is 0
  };
  Kind kind = Kind::contract;
  /// Of a leave-one-out product in the real semiring, further inputs are tangents of the first: out is then the mixed
  /// derivative in their directions.
  std::vector<ValueId> inputs;
  ValueId output = 0;
  SortedSet sum;
  SortedSet product;
  std::int64_t power = 1;
  SortedSet leaf;               // L of [TVE] Alg. 1
  SortedSet tied_power;         // the plates that `power` stands for
  std::uint32_t component = 0;  // index into Schedule::components
  /// The semiring of the step where it is not the run's: masses and tangents are real numbers.
  std::optional<Semiring> semiring;
  // Of weigh: how many inputs are added and how many, after them, subtracted. `sum` holds the dims that are not kept.
  std::uint32_t added = 0;
  std::uint32_t subtracted = 0;
  bool accumulate = false;  // onto what the output holds
  bool surprisal = false;   // terms times minus the logarithm of their weight
  double scale = 1;
};

/// One pass through the inner loop of [TVE] Alg. 1 as print() shows it: SumProduct(F_c, V_c) in leaf L leaves the
/// variables V_f, and Product over L ∖ L′ takes what is left to the plates L′. Steps of outputs belong to a last one,
/// whose sets are empty.
struct ComponentNote {
  SortedSet leaf;                // L
  SortedSet variables;           // V_c
  std::vector<ValueId> factors;  // F_c
  SortedSet remaining;           // V_f
  SortedSet parent;              // L′
};

struct Schedule {
  FactorGraph graph;
  Problem problem;
  bool sums_only = false;
  bool verified = false;  // after every pass, and those that questions append
  /// Dims of each operand's axes: the graph's factors, then the question's own (cotangents, directions).
  std::vector<std::vector<DimId>> operands;
  /// Dims of each output's axes: the graph's outputs, then a question's answers.
  std::vector<std::vector<DimId>> outputs;
  std::vector<Value> values;
  std::vector<Step> steps;
  std::vector<ComponentNote> components;
  /// Byte offsets of intermediates in a run's arena, and its size, for operands of float32 [0] and float64 [1].
  struct Arena {
    std::vector<std::int64_t> offset;
    std::int64_t bytes = 0;
  };
  std::array<Arena, 2> arena;

  /// Elements of a set of dims.
  [[nodiscard]] std::int64_t elements(const std::vector<DimId>& dims) const;
  /// The dims that a contraction loops over: those of its output, summed and multiplied ones.
  [[nodiscard]] std::vector<DimId> loops(const Step& step) const;
};

}  // namespace plated::planner
