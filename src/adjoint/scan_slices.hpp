// The slices of a scan: the steps that compute all of them at once, and bodies that compute one as these steps do.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "adjoint/step_writer.hpp"

namespace plated::adjoint {

using base::joined;

/// The steps that compute a scan's messages after all slices at once.
struct Slices {
  std::size_t scan = 0;            // the step
  std::vector<std::size_t> steps;  // those that depend on the messages before the slices, ascending
};
/// The slices of all scans of a schedule that was planned for a sweep.
class AllSlices {
 public:
  explicit AllSlices(const Schedule& schedule);

  [[nodiscard]] const std::vector<Slices>& list() const { return list_; }
  /// The slices whose messages after them a step writes; null where it writes none.
  [[nodiscard]] const Slices* ended_by(std::size_t step) const;
  /// The messages before slices that a step computes from them, and that sweeps back pass nothing to: what they are
  /// owed comes along the chain. `none` of other steps.
  [[nodiscard]] ValueId messages_in(std::size_t step) const { return messages_in_[step]; }

 private:
  std::vector<Slices> list_;
  std::vector<std::uint32_t> ended_by_;  // [step]: index in list_
  std::vector<ValueId> messages_in_;     // [step]
};

/// The scan against a scan's direction whose first message is over the last message's states; without a body.
[[nodiscard]] planner::Scan returning(const Schedule& schedule, const Step& step, std::vector<DimId> kept);
/// The input of a scan that says which slices exist; `none` where all do.
[[nodiscard]] ValueId presence_of(const Step& step);

/// The body of a scan beside or against another one: it has the steps of one slice, to which others are added. Its
/// operands are slices of values of the schedule and what it carries along.
class SliceBody {
 public:
  /// Its message is over these dims, in double or as the messages of the run.
  SliceBody(const Schedule& schedule, const Slices& slices, std::vector<DimId> message, planner::Precision precision);
  SliceBody(const SliceBody&) = delete;
  SliceBody& operator=(const SliceBody&) = delete;

  /// A value of the schedule in the slice.
  [[nodiscard]] ValueId operator[](ValueId value) const { return inside_[value]; }
  /// The same of any value, as a further operand if need be.
  ValueId read(ValueId value);
  [[nodiscard]] ValueId message() const { return message_; }
  [[nodiscard]] StepWriter& writer() { return writer_; }

  /// Appends the scan with this body, without steps that nothing reads, from a first message on; its last message.
  ValueId append_to(StepWriter& writer, planner::Scan scan, ValueId first, std::vector<DimId> dims);

 private:
  [[nodiscard]] std::vector<DimId> without_chain(ValueId value) const;

  const Schedule& schedule_;
  std::size_t scan_;
  DimId chain_;
  std::shared_ptr<Schedule> body_;
  StepWriter writer_;
  std::vector<ValueId> inside_;  // [value of the schedule]
  std::vector<ValueId> inputs_;
  ValueId message_;
};

}  // namespace plated::adjoint
