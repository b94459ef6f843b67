// Computes leave-one-out totals: repeats the plan with every product over the plate replaced by the products of all
// slices but one. A value that depends on one of these products has the plate as an axis: the slice that is left out.
#include <algorithm>

#include "adjoint/question_schedule.hpp"
#include "adjoint/questions.hpp"
#include "adjoint/step_writer.hpp"

namespace plated::adjoint {
namespace {

using base::contains;
using planner::Contract;
using planner::Schedule;
using planner::Step;
using planner::Value;

class Predictive {
 public:
  Predictive(StepWriter& writer, DimId plate)
      : writer_(writer), plate_(plate), without_(writer.schedule().values.size(), none) {}

  void run(std::vector<DimId> axes) {
    const std::size_t steps = writer_.schedule().steps.size();
    const ValueId answer = writer_.add_output(std::move(axes));
    for (std::size_t s = 0; s < steps; ++s) {
      const Step step = writer_.schedule().steps[s];  // a copy: the schedule grows
      if (writer_.schedule().values[step.output].kind == Value::Kind::output) {
        writer_.add(Contract{}, replaced(step), answer);
      } else if (contains(multiplied(step), plate_)) {
        leave_out(step);
      } else if (std::any_of(step.inputs.begin(), step.inputs.end(), [&](ValueId v) { return without_[v] != none; })) {
        without_[step.output] = repeat(step.operation, replaced(step), step.output);
      }
    }
  }

 private:
  std::vector<ValueId> replaced(const Step& step) const {
    std::vector<ValueId> inputs;
    for (const ValueId v : step.inputs) inputs.push_back(without_[v] != none ? without_[v] : v);
    return inputs;
  }

  /// An operation on other inputs; its value has the dims of `like`, and the plate in front of them where an input
  /// does.
  ValueId repeat(planner::Operation operation, std::vector<ValueId> inputs, ValueId like) {
    std::vector<DimId> dims = writer_.schedule().values[like].dims;
    const bool numbered =
        std::any_of(inputs.begin(), inputs.end(), [&](ValueId v) { return contains(writer_.dims(v), plate_); });
    if (numbered) dims.insert(dims.begin(), plate_);
    const ValueId output = writer_.add_intermediate(std::move(dims));
    writer_.add(std::move(operation), std::move(inputs), output);
    return output;
  }

  void leave_out(const Step& step) {
    Contract contract = *step.as<Contract>();
    std::vector<ValueId> inputs = step.inputs;
    if (contains(contract.product, plate_)) {
      const Semiring semiring = contract.semiring.value_or(Semiring::log);  // exponents are added up in their own
      const ValueId slice = writer_.slice_product(step, semiring);
      inputs = {writer_.leave_one_out({slice}, {plate_}, {}, semiring)};
      std::erase(contract.product, plate_);
    } else {
      // The same in every slice: one time fewer.
      contract.power.leaves_out = true;
      contract.power.left_out = plate_;
    }
    without_[step.output] = repeat(std::move(contract), std::move(inputs), step.output);
  }

  StepWriter& writer_;
  DimId plate_;
  std::vector<ValueId> without_;  // [value]: the same without a slice; `none` where the plate plays no part in it
};

}  // namespace

Schedule predictive_schedule(Schedule schedule, DimId plate) {
  StepWriter writer(schedule);
  std::vector<DimId> axes = graph::batch_axes(schedule.graph);
  axes.push_back(plate);
  Predictive(writer, plate).run(std::move(axes));
  return finished(std::move(schedule));
}

}  // namespace plated::adjoint
