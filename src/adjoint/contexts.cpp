// Max-marginals: sends the context of every value, the best of all that surrounds it, backwards from the total.
//
// In a selective semiring a step passes on what its other inputs contribute, and a product over plates what the other
// slices do. Sums run over variables alone: every slice has a context of its own.
#include <algorithm>

#include "adjoint/question_schedule.hpp"
#include "adjoint/questions.hpp"
#include "adjoint/step_writer.hpp"
#include "base/assert.hpp"

namespace plated::adjoint {
namespace {

using base::contains;

class Contexts {
 public:
  Contexts(StepWriter& writer, Semiring semiring)
      : writer_(writer), semiring_(semiring), context_(writer.schedule().values.size(), none) {}

  void run(std::size_t total) {
    const FactorGraph& model = writer_.schedule().graph;
    const graph::AnswerAxes axes(model);
    std::vector<ValueId> answer(model.dims().size(), none);
    for (const DimId v : posterior_variables(model)) answer[v] = writer_.add_output(axes(v));
    for (std::size_t s = writer_.schedule().forward_steps; s-- > 0;) {
      const Step step = writer_.step(s);
      const Value& out = writer_.schedule().values[step.output];
      const bool is_total = out.kind == Value::Kind::output && out.index == total;
      if (!is_total && context_[step.output] == none) continue;
      for (const DimId v : summed(step)) {
        if (answer[v] == none) continue;
        std::vector<ValueId> all = step.inputs;
        add_context(step, all);
        writer_.contract(std::move(all), {}, semiring_, answer[v]);
      }
      for (std::size_t k = 0; k < step.inputs.size(); ++k) pass_to(step, k);
    }
  }

 private:
  /// The context of a step's output; the total's is one.
  void add_context(const Step& step, std::vector<ValueId>& inputs) const {
    if (context_[step.output] != none) inputs.push_back(context_[step.output]);
  }

  void pass_to(const Step& step, std::size_t input) {
    const ValueId in = step.inputs[input];
    if (writer_.schedule().values[in].kind == Value::Kind::operand) return;  // nothing lies before it
    PLATED_ASSERT(context_[in] == none);
    std::vector<ValueId> others;
    add_context(step, others);
    if (const auto* raised = step.as<planner::Raise>()) {
      if (input > 0) return;  // exponents are no values
      // One copy is told apart, and the others are as they are.
      const ValueId rest = writer_.add_intermediate(writer_.schedule().values[step.output].dims);
      writer_.add(planner::Raise{.less = raised->less + 1, .semiring = semiring_}, step.inputs, rest);
      others.push_back(rest);
    } else {
      for (std::size_t k = 0; k < step.inputs.size(); ++k) {
        if (k != input) others.push_back(step.inputs[k]);
      }
      const auto& contract = *step.as<Contract>();
      if (!multiplied(step).empty()) {
        others.push_back(writer_.leave_one_out({writer_.slice_product(step, semiring_)}, contract.product,
                                               contract.power, semiring_));
      }
    }
    if (others.empty()) {
      // A copy of the total: a context of one, in every batch.
      const ValueId one = writer_.add_intermediate({});
      writer_.add(Contract{.semiring = semiring_}, {}, one);
      others.push_back(one);
    }
    // The variables of the input, and all slices that the others tell apart.
    std::vector<DimId> kept;
    for (const ValueId v : others) {
      for (const DimId d : writer_.schedule().values[v].dims) {
        const bool keeps = writer_.schedule().problem.kind[d] != DimKind::variable || contains(writer_.dims(in), d);
        if (keeps && std::find(kept.begin(), kept.end(), d) == kept.end()) kept.push_back(d);
      }
    }
    context_[in] = writer_.contract(std::move(others), kept, semiring_);
  }

  StepWriter& writer_;
  Semiring semiring_;
  std::vector<ValueId> context_;  // [value]
};

}  // namespace

Schedule max_marginal_schedule(Schedule schedule, std::size_t total, Semiring semiring) {
  StepWriter writer(schedule);
  Contexts(writer, semiring).run(total);
  return finished(std::move(schedule));
}

}  // namespace plated::adjoint
