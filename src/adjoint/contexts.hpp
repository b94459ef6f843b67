// Contexts: what surrounds a value, summed over everything else, sent backwards from the total.
//
// A step passes on what its other inputs contribute, and a product over plates what the other slices do. Sums run over
// variables alone: every slice has a context of its own. Along a chain contexts of messages run the other way.
#pragma once

#include <functional>
#include <vector>

#include "adjoint/scan_slices.hpp"

namespace plated::adjoint {

class Contexts {
 public:
  /// In a semiring whose products over plates need not be divided: all but real.
  Contexts(StepWriter& writer, Semiring semiring);

  /// Ask for the context of a value; to be called before run().
  void want(ValueId value) { active_[value] = true; }
  /// The context of a value; an empty product where it is `none`.
  void seed(ValueId value, ValueId context) {
    is_known_[value] = true;
    context_[value] = context;
  }
  /// Called for each value whose context is known, before it is passed on, with the step that writes it.
  using Visit = std::function<void(const Step& step)>;
  void run(const Visit& visit);

  /// The value and its context; where that is an empty product, the value alone.
  [[nodiscard]] std::vector<ValueId> with_context(std::vector<ValueId> values, ValueId of) const;
  [[nodiscard]] ValueId context(ValueId value) const { return context_[value]; }

  /// What runs back along a scan: the contexts of messages after each slice, what was taken out of them, and the
  /// context of the first message.
  struct Returned {
    ValueId messages = none;
    ValueId shifts = none;
    ValueId first = none;
  };
  /// Writes further outputs of the body, given the context of the message before the slice.
  using Answer = std::function<void(SliceBody& body, planner::Scan& back, ValueId around)>;
  /// Sends the context of a scan's last message back along the chain.
  [[nodiscard]] Returned send_back(const Slices& slices, const Answer& answer) const;

 private:
  void spread_activity();
  void pass_to(const Step& step, std::size_t input);
  void pass_along(const Slices& slices);

  StepWriter& writer_;
  Semiring semiring_;
  std::size_t forward_steps_;
  std::vector<bool> active_;      // [value]: its context is asked for, or leads to one that is
  std::vector<bool> is_known_;    // [value]
  std::vector<ValueId> context_;  // [value]
  AllSlices scans_;
};

}  // namespace plated::adjoint
