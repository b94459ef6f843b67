// Computes leave-one-out totals: repeats the plan with every product over the plate replaced by the products of all
// slices but one. A value that depends on one of these products has the plate as an axis: the slice that is left out.
// Of a plate that the plan has left out for its single slice, everything in it is.
#include <algorithm>

#include "adjoint/question_schedule.hpp"
#include "adjoint/questions.hpp"
#include "adjoint/step_writer.hpp"

namespace plated::adjoint {
namespace {

using base::contains;
using base::SortedSet;

class Predictive {
 public:
  Predictive(StepWriter& writer, DimId plate)
      : writer_(writer),
        plate_(plate),
        is_absent_(contains(writer.schedule().problem.absent, plate)),
        without_(writer.schedule().values.size(), none),
        gone_(writer.schedule().values.size(), false) {}

  void run(std::vector<DimId> axes) {
    const std::size_t steps = writer_.schedule().steps.size();
    const ValueId answer = writer_.add_output(std::move(axes));
    if (is_absent_) find_gone();
    for (std::size_t s = 0; s < steps; ++s) {
      const Step step = writer_.step(s);
      if (writer_.schedule().values[step.output].kind == Value::Kind::output) {
        writer_.add(Contract{}, replaced(step), answer);
      } else if (contains(multiplied(step), plate_)) {
        leave_out(step);
      } else if (std::any_of(step.inputs.begin(), step.inputs.end(),
                             [&](ValueId v) { return gone_[v] || without_[v] != none; })) {
        if (is_absent_) {
          leave_out_single(step);
        } else {
          without_[step.output] = repeat(step.operation, replaced(step), step.output);
        }
      }
    }
  }

 private:
  std::vector<ValueId> replaced(const Step& step) const {
    std::vector<ValueId> inputs;
    for (const ValueId v : step.inputs) {
      if (!gone_[v]) inputs.push_back(without_[v] != none ? without_[v] : v);
    }
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

  [[nodiscard]] bool is_in_plate(DimId variable) const {
    return contains(writer_.schedule().graph.variable_plates()[variable], plate_);
  }

  /// Operands in the plate, and the ones of its variables that no factor holds.
  void find_gone() {
    const Schedule& schedule = writer_.schedule();
    for (std::size_t v = 0; v < gone_.size(); ++v) {
      const Value& value = schedule.values[v];
      if (value.kind != Value::Kind::operand || value.index >= schedule.graph.factors().size()) continue;
      gone_[v] = contains(schedule.graph.factor_plates(value.index), plate_);
    }
    for (const Step& step : schedule.steps) {
      const Value& ones = schedule.values[step.output];
      if (step.inputs.empty() && ones.kind == Value::Kind::intermediate) gone_[step.output] = is_in_plate(ones.dims[0]);
    }
  }

  /// Repeats a step without the inputs that are gone.
  void leave_out_single(const Step& step) {
    std::vector<ValueId> inputs = replaced(step);
    planner::Operation operation = step.operation;
    const auto carried = [&] {
      SortedSet dims;
      for (const ValueId v : inputs) dims = base::unite(dims, writer_.dims(v));
      return dims;
    };
    if (auto* contract = std::get_if<Contract>(&operation)) {
      // A variable outside of the plate that nothing holds any more is summed as before.
      for (const DimId v : base::subtract(contract->sum, carried())) {
        if (is_in_plate(v)) continue;
        inputs.push_back(writer_.add_intermediate({v}));
        writer_.add(Contract{}, {}, inputs.back());
      }
      contract->sum = base::intersect(contract->sum, carried());
      contract->power.plates = base::unite(contract->power.plates, base::subtract(contract->product, carried()));
      contract->product = base::intersect(contract->product, carried());
    }
    if (inputs.empty() || (step.is<planner::Raise>() && gone_[step.inputs[0]])) {
      gone_[step.output] = true;
      return;
    }
    std::vector<DimId> dims = writer_.schedule().values[step.output].dims;
    std::erase_if(dims, [&, kept = carried()](DimId d) { return !contains(kept, d); });
    without_[step.output] = writer_.add_intermediate(std::move(dims));
    writer_.add(std::move(operation), std::move(inputs), without_[step.output]);
  }

  StepWriter& writer_;
  DimId plate_;
  bool is_absent_;                // the plan has left the plate out
  std::vector<ValueId> without_;  // [value]: the same without a slice; `none` where the plate plays no part in it
  std::vector<bool> gone_;        // [value]: it is all in the slice
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
