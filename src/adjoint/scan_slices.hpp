// The slices of a scan: the steps that compute all of them at once, and bodies that compute one as these steps do.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "adjoint/step_writer.hpp"

namespace plated::adjoint {

/// The steps that compute a scan's messages after all slices at once.
struct Slices {
  std::size_t scan = 0;            // the step
  std::vector<std::size_t> steps;  // those that depend on the messages before the slices, ascending
};
/// Of all scans among the first steps of a schedule that were planned for a sweep.
[[nodiscard]] std::vector<Slices> find_slices(const Schedule& schedule, std::size_t steps);

/// The scan against a scan's direction whose first message is over the last message's states; without a body.
[[nodiscard]] planner::Scan returning(const Schedule& schedule, const Step& step, std::vector<DimId> kept);
/// The input of a scan that says which slices exist; `none` where all do.
[[nodiscard]] ValueId presence_of(const Step& step);

/// The body of a scan beside or against another one: it has the steps of one slice, to which others are added. Its
/// operands are slices of values of the schedule and what it carries along.
class SliceBody {
 public:
  SliceBody(const Schedule& schedule, const Slices& slices);
  SliceBody(const SliceBody&) = delete;
  SliceBody& operator=(const SliceBody&) = delete;

  /// A value of the schedule in the slice.
  [[nodiscard]] ValueId operator[](ValueId value) const { return inside_[value]; }
  /// The same of any value, as a further operand if need be.
  ValueId read(ValueId value);
  /// The operand that is carried along, in double or as the messages of the run.
  ValueId carry(std::vector<DimId> dims, planner::Precision precision);
  [[nodiscard]] StepWriter& writer() { return writer_; }

  /// Gives the scan this body, without steps that nothing reads, and appends what it reads to the scan's inputs.
  void become_body_of(planner::Scan& scan, std::vector<ValueId>& inputs);

 private:
  ValueId add(Value value);
  ValueId add_operand(std::vector<DimId> dims, planner::Precision precision);
  [[nodiscard]] std::vector<DimId> without_chain(ValueId value) const;

  const Schedule& schedule_;
  DimId chain_;
  std::shared_ptr<Schedule> body_;
  StepWriter writer_;
  std::vector<ValueId> inside_;  // [value of the schedule]
  std::vector<ValueId> inputs_;
  std::size_t message_ = 0;
};

[[nodiscard]] std::vector<DimId> joined(std::vector<DimId> dims, const std::vector<DimId>& more);

}  // namespace plated::adjoint
