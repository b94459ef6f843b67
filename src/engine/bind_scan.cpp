// Binds scans: what a slice reads, the first message, and a body or the kernel in its place.
#include <algorithm>

#include "engine/bound_scan.hpp"
#include "engine/scan_numbers.hpp"

namespace plated::engine {
namespace {

using planner::Scan;

/// A tensor without data that lies as a slice of a value does.
Tensor slice_shape(const Layout& layout, const std::vector<DimId>& dims, const planner::Extents& extents) {
  Tensor::Shape shape = planner::sizes(extents, dims);
  return of_type(layout.dtype, [&]<class T>(T) {
    return Tensor::view(static_cast<T*>(nullptr), std::move(shape), layout.along(dims));
  });
}

FirstMessage first_message(const planner::Extents& extents, const planner::Step& step, const Layouts& layouts) {
  const auto& scan = *step.as<Scan>();
  const std::vector<std::int64_t> rows = planner::sizes(extents, scan.kept);
  const std::vector<std::int64_t> states = planner::sizes(extents, scan.before);
  FirstMessage first{.is_given = scan.starts};
  Layout layout;
  if (scan.starts) layout = layouts(step.inputs[0], extents);
  first.dtype = layout.dtype;
  std::vector<std::int64_t> state_stride = layout.along(scan.start);
  for (std::size_t link = 0; link < scan.start.size(); ++link) {
    const auto carried = std::find(scan.kept.begin(), scan.kept.end(), scan.start[link]);
    if (carried == scan.kept.end()) continue;
    state_stride[link] = 0;  // read along the other name of the state
    std::vector<std::int64_t> row_index(rows.size(), 0), state_index(states.size(), 0);
    row_index[static_cast<std::size_t>(carried - scan.kept.begin())] = 1;
    state_index[link] = 1;
    first.same.push_back({.row = row_offsets(rows, row_index), .state = row_offsets(states, state_index)});
  }
  if (scan.starts) {
    first.row = row_offsets(rows, layout.along(scan.kept));
    first.state = row_offsets(states, state_stride);
  }
  return first;
}

void bind_answers(const planner::Extents& extents, const planner::Step& step, const Layouts& layouts,
                  BoundScan& bound) {
  const auto& scan = *step.as<Scan>();
  for (std::size_t k = 0; k < scan.answers.size(); ++k) {
    const bool echoes = k + 1 == scan.body->outputs.size();
    const std::vector<DimId>& dims = echoes ? scan.body->operands[*scan.echo] : scan.body->outputs[k + 1];
    const Layout layout = layouts(scan.answers[k], extents);
    const auto has_chain = [&](const auto& entry) { return entry.first == scan.chain; };
    bound.answers.push_back({.dtype = layout.dtype,
                             .of_slices = std::any_of(layout.stride.begin(), layout.stride.end(), has_chain),
                             .slice_stride = layout.along(scan.chain),
                             .extent = planner::sizes(extents, dims),
                             .stride = layout.along(dims)});
  }
}

/// Of a scan that passes masses back along one of the form of hidden Markov models.
std::optional<FusedSmoothing> smoothing_of(const planner::Extents& extents, const planner::Step& step,
                                           const Layouts& layouts, const BoundScan& bound, Semiring semiring) {
  const auto& scan = *step.as<Scan>();
  const Scan::Smoothing& asked = *scan.smoothing;
  if (semiring != Semiring::log) return std::nullopt;
  const auto there = fused_scan(
      extents, layouts, {.semiring = semiring, .step = step, .form = asked.form, .returns = true, .most = bound.most});
  if (!there) return std::nullopt;
  FusedSmoothing smoothing{
      .there = *there, .messages = planner::sliced_number(step, asked.messages), .places = {}, .matrix_answer = {}};
  const auto add = [&](std::optional<std::size_t> answer, planner::ValueId value, bool before) {
    const DimId state = before ? scan.after[0] : scan.before[0];
    smoothing.places.push_back(
        {.answer = answer, .before = before, .layout = slice_layout(extents, layouts(value, extents), scan, state)});
  };
  if (bound.keeps) add(std::nullopt, scan.messages, false);
  for (std::size_t k = 0; k < scan.answers.size(); ++k) {
    if (asked.answers[k] == Scan::Smoothing::Answer::matrix) {
      smoothing.matrix_answer = k;
      smoothing.is_turned = scan.body->outputs[k + 1][0] != scan.after[0];
    } else {
      add(k, scan.answers[k], asked.answers[k] == Scan::Smoothing::Answer::before);
    }
  }
  return smoothing;
}

}  // namespace

std::shared_ptr<BoundScan> bind_scan(const planner::Schedule& schedule, const planner::Extents& extents,
                                     const planner::Step& step, const Layouts& layouts, const BindOptions& options,
                                     std::int64_t most_slices) {
  const auto& scan = *step.as<Scan>();
  auto bound = std::make_shared<BoundScan>();
  bound->semiring = scan.semiring.value_or(options.semiring);
  bound->dtype = message_dtype(bound->semiring, layouts.element());
  bound->operand = scan.message;
  bound->forward = scan.forward;
  bound->ragged = scan.ragged;
  bound->keeps = scan.messages != planner::none;
  bound->keeps_shifts = scan.shifts != planner::none;
  bound->slices = extents[scan.chain];
  bound->most = most_slices;
  bound->rows = planner::elements(extents, scan.kept);
  bound->states = planner::elements(extents, scan.before);
  bound->start = first_message(extents, step, layouts);

  std::size_t input = scan.starts ? 1 : 0;
  if (scan.ragged) {
    const Layout present = layouts(step.inputs[input++], extents);
    bound->present_step = present.along(scan.chain);
    bound->present = row_offsets(planner::sizes(extents, scan.kept), present.along(scan.kept));
  }
  if (const auto form = scan.semiring ? std::nullopt : planner::scan_form(schedule, step)) {
    bound->fused =
        fused_scan(extents, layouts, {.semiring = options.semiring, .step = step, .form = *form, .most = bound->most});
  }
  bind_answers(extents, step, layouts, *bound);
  if (scan.smoothing) bound->smoothing = smoothing_of(extents, step, layouts, *bound, options.semiring);
  const planner::Schedule& body = *scan.body;
  std::vector<Tensor> operands;
  for (std::size_t k = 0; k < body.operands.size(); ++k) {
    if (k == scan.message) {
      operands.push_back(slice_shape(row_major(bound->dtype, body.operands[k], extents), body.operands[k], extents));
      continue;
    }
    const Layout layout = layouts(step.inputs[input++], extents);
    operands.push_back(slice_shape(layout, body.operands[k], extents));
    bound->advance.push_back(layout.along(scan.chain) * static_cast<std::int64_t>(size_of(layout.dtype)));
  }
  bound->shapes = std::move(operands);
  bound->shapes.push_back(slice_shape(row_major(bound->dtype, body.outputs[0], extents), body.outputs[0], extents));
  if (scan.echo) bound->echo = planner::sliced_number(step, *scan.echo);
  for (std::size_t k = 0; k + 1 < body.outputs.size(); ++k) {
    const std::vector<DimId>& dims = body.outputs[k + 1];
    bound->shapes.push_back(slice_shape(
        bound->answers[k].of_slices ? layouts(scan.answers[k], extents) : row_major(Dtype::float64, dims, extents),
        dims, extents));
  }
  bound->body_options = {.semiring = options.semiring, .element = message_dtype(options.semiring, layouts.element())};
  if (!bound->fused) bound->body.bound = bind_body(*bound, body, extents);
  return bound;
}

BoundSchedule bind_body(const BoundScan& bound, const planner::Schedule& body, const planner::Extents& extents) {
  const std::span<const Tensor> shapes = bound.shapes;
  const std::size_t outputs = 1 + bound.answers.size() - (bound.echo ? 1 : 0);
  return engine::bind(body, extents, shapes.last(outputs), shapes.first(shapes.size() - outputs), bound.body_options);
}

}  // namespace plated::engine
