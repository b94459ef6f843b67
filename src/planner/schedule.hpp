// A schedule: the steps of a plan, over values that have dims but no data. The reverse sweep walks it backwards.
//
// It knows the domains of variables, and no other sizes: how many slices plates and batch dims have is told when it is
// bound.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/boxed.hpp"
#include "planner/extents.hpp"
#include "planner/problem.hpp"
#include "plated/semiring.hpp"

namespace plated::planner {

using ValueId = std::uint32_t;

struct Schedule;

/// The element type a value is kept in: the operands', or double where a plate has multiplied it. That of messages
/// along a chain is the operands' where a shift is taken out of each, and double in other semirings.
enum class Precision : std::uint8_t { element, wide, message };

/// A tensor of the schedule: an operand, an intermediate, or an output.
struct Value {
  enum class Kind : std::uint8_t { operand, intermediate, output };
  Kind kind = Kind::intermediate;
  std::size_t index = 0;  // of the operand or output
  std::vector<DimId>
      dims;  // axes of an intermediate, row-major; of an operand or output as a set, in declaration order
  Precision precision = Precision::element;
};

/// out = (Product over `product` of the sum over `sum` of the product of inputs)^power
struct Contract {
  SortedSet sum;
  SortedSet product;
  Power power;
  SortedSet leaf = {};     // L of [TVE] Alg. 1
  bool empty_sum = false;  // over nothing: zero
  /// The semiring of the step where it is not the run's: masses and tangents are real numbers.
  std::optional<Semiring> semiring = {};
};

/// out[p] = product over all slices but p of `product`; `power` counts slices that the input lacks. In the real
/// semiring, further inputs are tangents of the first: out is then the mixed derivative in their directions.
struct LeaveOneOut {
  SortedSet product;
  Power power;
  SortedSet leaf = {};
  std::optional<Semiring> semiring = {};
};

/// out = scale · Σ exp(Σ added inputs − Σ subtracted inputs) · ∏ other inputs
struct Weigh {
  SortedSet sum;  // the dims that are not kept
  std::uint32_t added = 0;
  std::uint32_t subtracted = 0;  // after the added ones
  Scale scale;
  bool accumulate = false;  // onto what the output holds
  bool surprisal = false;   // terms times minus the logarithm of their weight
};

/// out = log(first input) − second input, if there is one; −inf where the first is 0
struct LogMass {};

/// out = first input ^ (product of the others − less), in each slice: these exponents are real numbers in any semiring.
struct Raise {
  int less = 0;
  SortedSet leaf = {};
  std::optional<Semiring> semiring = {};
};

/// out = Product over `product` of the first input at the observed states of `variables`, which the next inputs give,
/// one for each. With `partial`, the last input is read where a state is −1.
struct Gather {
  SortedSet variables;
  SortedSet product = {};
  bool partial = false;
  SortedSet leaf = {};
  std::optional<Semiring> semiring = {};
};

/// out = Σ over `sum` of the first input, added at the observed states that the others give: what a gather passes back
/// to its first input or, with `of_rest`, to its last one.
struct Scatter {
  SortedSet variables;
  SortedSet sum;
  bool of_rest = false;
};

/// message ← (⊕ message ⊗ before ⊗ matrix) ⊗ after, with one link and a matrix that is the same in all slices and rows:
/// the form of hidden Markov models. Numbers of a body's operands.
struct ScanForm {
  std::size_t matrix = 0;
  std::optional<std::size_t> before;  // over states before a slice, and rows
  std::optional<std::size_t> after;
};

/// Messages along a chain. The body makes the next message of the last one, once for each slice; out = the last one.
///
/// Inputs are those of the body: the first message, then what has the chain and is sliced along it, or is the same in
/// all slices. If it is `ragged`, which slices exist comes last: 0 in those that do not, which leave the message as it
/// is. Where messages carry ends along, the first one is zero where two names of a state differ.
struct Scan {
  DimId chain = 0;
  bool forward = true;  // from the first slice to the last
  bool ragged = false;
  /// Its first operand is the message before a slice, over `kept` and `before`; its output: over `kept` and `after`.
  std::shared_ptr<const Schedule> body;
  std::vector<DimId> kept;    // plates, batch dims and variables outside of the chain
  std::vector<DimId> before;  // states, one for each link
  std::vector<DimId> after;
  std::vector<DimId> start;  // what the first message, and ends that are carried along, call these states
  SortedSet leaf = {};
  /// Of messages where it is not the run's: masses are real numbers.
  std::optional<Semiring> semiring = {};
  /// Values over the chain and the messages before each slice, and what was taken out of them, over the chain and
  /// `kept`; `none` where nobody reads them.
  ValueId messages = none;
  ValueId shifts = none;
  /// Where a reverse sweep follows: the messages after each slice, before a shift is taken out, as other steps compute
  /// them of `messages` for all slices at once.
  ValueId results = none;
  /// What else the body's outputs 1, 2, … are: values that have the chain hold those of each slice, others their sum.
  std::vector<ValueId> answers = {};
  /// The last answer is what the first one was in the slice that was run before: in the first slice that is run, this
  /// operand, which is as large.
  std::optional<std::size_t> echo = {};
  /// Of masses that run back along a scan of that form: what binding needs to run kernels in place of the body.
  struct Smoothing {
    ScanForm form;             // the other scan's, as operands of this body
    std::size_t messages = 0;  // before each slice of it, also an operand
  };
  std::optional<Smoothing> smoothing = {};
};

/// There are many steps, and few of the largest kind.
using Operation = std::variant<Contract, LeaveOneOut, Weigh, LogMass, Raise, Gather, Scatter, base::Boxed<Scan>>;

/// One operation on whole tensors.
struct Step {
  Operation operation;
  std::vector<ValueId> inputs;
  ValueId output = 0;
  std::uint32_t component = 0;  // index into Schedule::components

  template <class Kind>
  [[nodiscard]] bool is() const {
    return as<Kind>() != nullptr;
  }
  /// The operation, if it is of this kind.
  template <class Kind>
  [[nodiscard]] const Kind* as() const {
    if constexpr (std::is_same_v<Kind, Scan>) {
      const auto* boxed = std::get_if<base::Boxed<Kind>>(&operation);
      return boxed != nullptr ? &**boxed : nullptr;
    } else {
      return std::get_if<Kind>(&operation);
    }
  }
};

/// The dims that a step sums over: none in leave-one-out products, logarithms and powers.
[[nodiscard]] const SortedSet& summed(const Step& step);
/// The plates that a contraction, a gather or a leave-one-out product multiplies over, whether its inputs have them or
/// not.
[[nodiscard]] SortedSet multiplied(const Step& step);
/// The leaf that a step belongs to; empty outside of components.
[[nodiscard]] const SortedSet& leaf_of(const Step& step);
/// Whether a step adds to what its output holds.
[[nodiscard]] bool accumulates(const Step& step);

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
  Extents extents;  // of the graph: what runs take where nothing else is said
  Problem problem;
  bool sums_only = false;
  bool verified = false;       // after every pass, and those that questions append
  bool reuses_buffers = true;  // places of values that are not read any more are taken again
  /// The axes of weights, by weighted plate: batch dims, plates that all of it is in, and the plate itself.
  std::map<DimId, std::vector<DimId>> weights;
  /// Observed variables that factors are read at.
  Observations observations;
  /// Dims of each operand's axes: the graph's factors, the weights, then the question's own (cotangents, directions).
  std::vector<std::vector<DimId>> operands;
  /// Dims of each output's axes: the graph's outputs, then a question's answers.
  std::vector<std::vector<DimId>> outputs;
  std::vector<Value> values;
  std::vector<Step> steps;
  /// So many first steps and the values they write are those of a forward schedule, whose run may have been kept.
  std::size_t forward_steps = 0;
  std::vector<ComponentNote> components;

  /// Whether an operand holds the states of an observed variable.
  [[nodiscard]] bool is_index(std::size_t operand) const;
  /// What a value that is an operand is called in print.
  [[nodiscard]] std::string operand_name(const Value& value) const;

  /// The dims that a step loops over: those of its output, multiplied and summed ones.
  [[nodiscard]] std::vector<DimId> loops(const Step& step) const;
};

/// Calls visit(value) for each value that a step writes: its output, and what a scan keeps besides.
template <class Visit>
void for_each_output(const Step& step, const Visit& visit) {
  visit(step.output);
  const auto* scan = step.as<Scan>();
  if (scan == nullptr) return;
  if (scan->messages != none) visit(scan->messages);
  if (scan->shifts != none) visit(scan->shifts);
  for (const ValueId v : scan->answers) visit(v);
}

/// The schedule of a slice, without values and steps, over the dims of a schedule.
[[nodiscard]] std::shared_ptr<Schedule> empty_body(const Schedule& schedule);

/// Which steps write what an output is computed from; all outputs, where none is named. A sweep back from it takes
/// those that compute the slices of its scans with them.
[[nodiscard]] std::vector<bool> steps_before(const Schedule& schedule, std::optional<std::size_t> output = {},
                                             bool with_slices = false);

}  // namespace plated::planner
