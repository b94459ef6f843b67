// Repeats steps of a plan without something: one slice of a plate at a time, or some of its operands.
//
// Products over the plate are replaced by the products of all slices but one: a value that depends on one of these has
// the plate as an axis, the slice that is left out. Of a plate that the plan has left out for its single slice, and of
// operands that are left out, steps are repeated without what is gone.
#pragma once

#include <optional>
#include <vector>

#include "adjoint/step_writer.hpp"

namespace plated::adjoint {

class LeftOut {
 public:
  LeftOut(StepWriter& writer, std::optional<DimId> plate);

  /// Leaves out an operand, whole.
  void leave_out_operand(ValueId operand) { gone_[operand] = true; }
  /// Repeats a step where something else than before enters it; in order.
  void repeat(const Step& step);
  /// The inputs of a step that are not gone, without what is left out.
  [[nodiscard]] std::vector<ValueId> replaced(const Step& step) const;
  [[nodiscard]] ValueId without(ValueId value) const { return without_[value] != none ? without_[value] : value; }

 private:
  [[nodiscard]] bool changes(const Step& step) const;
  [[nodiscard]] bool has_plate(const std::vector<ValueId>& values) const;
  ValueId repeat(planner::Operation operation, std::vector<ValueId> inputs, ValueId like);
  void leave_out_slice(const Step& step);
  [[nodiscard]] bool is_in_plate(DimId variable) const;
  void find_gone();
  void leave_out_single(const Step& step);
  void repeat_scan(const Step& step);
  /// What takes the place of a value that is gone: ones over its variables outside of the plate.
  ValueId ones_for(ValueId gone);

  StepWriter& writer_;
  std::optional<DimId> plate_;
  bool is_absent_;                // the plan has left the plate out
  std::vector<ValueId> without_;  // [value]: the same without a slice; `none` where it is the same
  std::vector<bool> gone_;        // [value]: it is all left out
};

}  // namespace plated::adjoint
