// Builds the schedules of questions that one reverse sweep answers.
#include "adjoint/questions.hpp"

#include <algorithm>

#include "adjoint/gathered.hpp"
#include "adjoint/hessian.hpp"
#include "adjoint/question_schedule.hpp"
#include "adjoint/reverse.hpp"

namespace plated::adjoint {
namespace {

SortedSet plates_and_batches(const FactorGraph& graph) {
  SortedSet dims;
  for (DimId d = 0; d < graph.dims().size(); ++d) {
    const DimKind kind = graph.dims()[d].kind;
    if (kind == DimKind::batch || has_slices(kind)) dims.push_back(d);
  }
  return dims;
}

/// The posterior of one variable: from the mass of an input of the step that sums it, where that mass is known anyway
/// or the step is a large matrix product, else from the step's own terms.
struct VariableAnswer {
  DimId variable = 0;
  std::size_t step = 0;
  ValueId source = none;  // the input
  ValueId answer = none;
};

}  // namespace

Schedule gradient_schedule(Schedule schedule, std::size_t outputs, const GradientQuestion& question) {
  StepWriter writer(schedule);
  Reverse reverse(writer, {.semiring = question.semiring,
                           .nonnegative = question.nonnegative,
                           .expand = {},
                           .reads_answers = question.reads_answers,
                           .skips_slices = true});
  for (std::size_t o = 0; o < outputs; ++o) reverse.seed(o);
  for (std::size_t f = 0; f < question.wanted.size(); ++f) {
    if (question.wanted[f]) reverse.want_operand(f);
  }
  reverse.run({});
  return finished(std::move(schedule));
}

Schedule hessian_schedule(Schedule schedule, Semiring semiring) {
  StepWriter writer(schedule);
  Reverse reverse(writer, {.semiring = semiring, .nonnegative = false, .expand = {}});
  for (const Step& step : schedule.steps) reverse.want(step.output);
  const std::size_t outputs = schedule.outputs.size();
  for (std::size_t o = 0; o < outputs; ++o) reverse.seed(o);
  reverse.run({});
  Hessian(writer, reverse, semiring).run();
  return finished(std::move(schedule));
}

std::vector<DimId> posterior_variables(const FactorGraph& graph) {
  std::vector<DimId> list;
  for (DimId v = 0; v < graph.dims().size(); ++v) {
    const Dim& dim = graph.dims()[v];
    if (dim.kind == DimKind::variable && dim.end == End::none && dim.size > 1) list.push_back(v);
  }
  return list;
}

Schedule marginal_schedule(Schedule schedule, std::size_t total, bool variables, bool factors) {
  const FactorGraph& model = schedule.graph;
  std::vector<std::size_t> summed_in(model.dims().size(), schedule.steps.size());
  const std::vector<bool> needed = steps_before(schedule, total, true);
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    if (!needed[s]) continue;  // another output may sum the same variable
    for (const DimId v : summed(schedule.steps[s])) summed_in[v] = s;
  }
  // States that links carry on have the masses of messages.
  std::vector<ValueId> carried_in(model.dims().size(), none);
  std::vector<bool> is_message(schedule.values.size(), false);  // whose mass slices do not pass on
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    const auto* scan = schedule.steps[s].as<planner::Scan>();
    if (!needed[s] || scan == nullptr || scan->results == none) continue;
    for (const DimId v : scan->after) carried_in[v] = scan->results;
    for (const DimId v : scan->before) carried_in[v] = scan->messages;
    is_message[scan->messages] = true;
  }
  StepWriter writer(schedule);
  const SortedSet told_apart = plates_and_batches(model);
  const SortedSet batch = graph::batch_axes(model);
  const std::vector<DimId> asked = variables ? posterior_variables(model) : std::vector<DimId>{};
  Reverse reverse(writer, {.semiring = Semiring::log, .nonnegative = true, .expand = told_apart, .skips_slices = true});
  reverse.seed(total);
  std::vector<VariableAnswer> answers;
  const graph::AnswerAxes axes(model);
  for (const DimId v : asked) {
    VariableAnswer answer{.variable = v, .step = summed_in[v], .source = carried_in[v]};
    answer.answer = writer.add_output(axes(v));
    if (answer.source != none) {
      reverse.want_messages(answer.source, answer.answer);
      continue;
    }
    if (answer.step == schedule.steps.size()) continue;  // in an empty plate, where sizes are fixed
    reverse.want(schedule.steps[answer.step].output);
    answers.push_back(answer);
  }
  for (VariableAnswer& answer : answers) {
    const Step& step = schedule.steps[answer.step];
    // With the slices that its mass would tell apart: what is never formed otherwise must not become large.
    const SortedSet slices = base::intersect(told_apart, writer.loops(step));
    const auto size = [&](ValueId value) { return writer.nominal_elements(base::unite(writer.dims(value), slices)); };
    for (const ValueId in : step.inputs) {
      const bool is_operand = schedule.values[in].kind == Value::Kind::operand;
      // The mass of a factor that is an answer itself is not there to be read.
      if (!base::contains(writer.dims(in), answer.variable) || (factors && is_operand) || is_message[in]) continue;
      const bool expands = !base::is_subset(slices, writer.dims(in));
      if (!reverse.is_wanted(in) && (expands || !writer.is_matrix_product(step))) continue;
      if (answer.source == none || size(in) < size(answer.source)) answer.source = in;
    }
    if (answer.source != none) reverse.want(answer.source);
  }
  for (std::size_t f = 0; factors && f < model.factors().size(); ++f) {
    if (schedule.is_index(f)) {
      writer.add_output(std::vector<DimId>(schedule.operands[f]));
      continue;
    }
    // A mean over the slices and batches that the operand has no axis for.
    const ValueId value = reverse.operand_value(f);
    SortedSet shared = base::unite(batch, base::sorted(model.factors()[f].tied));
    if (value != none) shared = base::subtract(shared, writer.dims(value));
    reverse.want_operand(f, {.over = std::move(shared)});
  }
  std::vector<std::vector<const VariableAnswer*>> of_step(schedule.steps.size());
  for (const VariableAnswer& answer : answers) {
    if (answer.source == none) of_step[answer.step].push_back(&answer);
  }
  reverse.run([&](const Step& step, std::size_t s) {
    for (const VariableAnswer* answer : of_step[s]) {
      writer.weigh(answer->answer, reverse.shared_mass(step), reverse.reach(step), false);
    }
  });
  for (const VariableAnswer& answer : answers) {
    if (answer.source == none) continue;
    const ValueId mass = reverse.mass(answer.source);
    writer.copy(answer.answer, mass);
  }
  return finished(std::move(schedule));
}

Schedule entropy_schedule(Schedule schedule, std::size_t total) {
  const FactorGraph& model = schedule.graph;
  StepWriter writer(schedule);
  Reverse reverse(writer, {.semiring = Semiring::log, .nonnegative = true, .expand = graph::batch_axes(model)});
  reverse.seed(total);
  const std::vector<bool> needed = steps_before(schedule, total, true);
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    if (needed[s] && !summed(schedule.steps[s]).empty()) reverse.want(schedule.steps[s].output);
  }
  const ValueId answer = writer.add_output(graph::batch_axes(model));
  bool first = true;
  // The chain rule: each step adds the entropy of what it sums, given what it keeps.
  reverse.run([&](const Step& step, std::size_t) {
    if (summed(step).empty()) return;
    Terms terms = reverse.shared(step, {reverse.mass(step.output)});
    terms.surprisal = true;
    writer.weigh(answer, std::move(terms), reverse.reach(step), !first);
    first = false;
  });
  return finished(std::move(schedule));
}

Schedule expectation_schedule(Schedule schedule, std::size_t total, const std::vector<bool>& has_statistics) {
  const FactorGraph& model = schedule.graph;
  StepWriter writer(schedule);
  Reverse reverse(writer, {.semiring = Semiring::log, .nonnegative = true, .expand = graph::batch_axes(model)});
  reverse.seed(total);
  std::vector<ValueId> statistics(schedule.values.size(), none);
  for (std::size_t f = 0; f < has_statistics.size(); ++f) {
    if (!has_statistics[f]) continue;
    const ValueId value = reverse.operand_value(f);
    std::vector<DimId> axes = schedule.operands[f];
    if (value == none) {
      schedule.operands.push_back(std::move(axes));
      continue;
    }
    statistics[value] = writer.add_operand(std::move(axes), value);
  }
  for (const Step& step : schedule.steps) {
    const bool asked = std::any_of(step.inputs.begin(), step.inputs.end(),
                                   [&](ValueId v) { return v < statistics.size() && statistics[v] != none; });
    if (asked) reverse.want(step.output);
  }
  const ValueId answer = writer.add_output(graph::batch_axes(model));
  bool first = true;
  reverse.run([&](const Step& step, std::size_t) {
    for (const ValueId in : step.inputs) {
      if (statistics[in] == none) continue;
      if (step.is<planner::Gather>()) {
        // The statistics of what was observed are those of entries that slices have read.
        const ValueId mass = reverse.mass(step.output);
        const SortedSet batch = base::intersect(graph::batch_axes(model), writer.dims(mass));
        const SortedSet dims = base::unite(batch, writer.dims(in));
        const ValueId masses = scatter(writer, step, 0, mass, {dims.begin(), dims.end()});
        writer.weigh(answer, {.added = {}, .subtracted = {}, .factors = {masses, statistics[in]}}, dims, !first);
      } else {
        writer.weigh(answer, reverse.shared(step, {reverse.mass(step.output), statistics[in]}), reverse.reach(step),
                     !first);
      }
      first = false;
    }
  });
  return finished(std::move(schedule));
}

}  // namespace plated::adjoint
