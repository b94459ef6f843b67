// Max-marginals: the best of all that surrounds each state of a variable, with the state itself.
#include "adjoint/contexts.hpp"
#include "adjoint/question_schedule.hpp"
#include "adjoint/questions.hpp"

namespace plated::adjoint {

Schedule max_marginal_schedule(Schedule schedule, std::size_t total, Semiring semiring) {
  const FactorGraph& model = schedule.graph;
  const std::vector<bool> needed = steps_towards(schedule, total);
  StepWriter writer(schedule);
  Contexts contexts(writer, semiring);
  // A state that links carry on is answered where it is the message after its own slice.
  std::vector<ValueId> carried_in(model.dims().size(), none);
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    const Value& value = schedule.values[step.output];
    if (value.kind == Value::Kind::output && value.index == total) contexts.seed(step.output, none);
    if (value.kind == Value::Kind::intermediate) contexts.want(step.output);
    const auto* scan = step.as<planner::Scan>();
    if (!needed[s] || scan == nullptr || scan->results == none) continue;
    for (const DimId v : scan->after) carried_in[v] = scan->results;
  }
  const graph::AnswerAxes axes(model);
  std::vector<ValueId> answer(model.dims().size(), none);
  for (const DimId v : posterior_variables(model)) answer[v] = writer.add_output(axes(v));
  contexts.run([&](const Step& step) {
    for (const DimId v : summed(step)) {
      if (answer[v] == none || carried_in[v] != none) continue;
      writer.contract(contexts.with_context(step.inputs, step.output), {}, semiring, answer[v]);
    }
    for (const DimId v : writer.dims(step.output)) {
      if (answer[v] == none || carried_in[v] != step.output) continue;
      writer.contract(contexts.with_context({step.output}, step.output), {}, semiring, answer[v]);
    }
  });
  return finished(std::move(schedule));
}

}  // namespace plated::adjoint
