// Binds scans: what a slice reads, the first message, and a body or the kernel in its place.
#include <algorithm>

#include "engine/bound_scan.hpp"
#include "tensor/numbers.hpp"
#include "tensor/offset.hpp"

namespace plated::engine {
namespace {

using planner::Scan;

/// A tensor without data that lies as a slice of a value does.
Tensor slice_shape(const Layout& layout, const std::vector<DimId>& dims, const planner::Extents& extents) {
  Tensor::Shape shape = planner::sizes(extents, dims);
  return tensor::of_type(layout.dtype, [&]<class T>(T) {
    return Tensor::view(static_cast<T*>(nullptr), std::move(shape), layout.along(dims));
  });
}

FirstMessage first_message(const planner::Extents& extents, const planner::Step& step, const Layouts& layouts) {
  const auto& scan = *step.as<Scan>();
  const std::vector<std::int64_t> rows = planner::sizes(extents, scan.kept);
  const std::vector<std::int64_t> states = planner::sizes(extents, scan.before);
  const Layout layout = layouts(step.inputs[0], extents);
  FirstMessage first{.dtype = layout.dtype, .row = tensor::all_offsets(rows, layout.along(scan.kept)), .state = {}};
  std::vector<std::int64_t> state_stride = layout.along(scan.start);
  for (std::size_t link = 0; link < scan.start.size(); ++link) {
    const auto carried = std::find(scan.kept.begin(), scan.kept.end(), scan.start[link]);
    if (carried == scan.kept.end()) continue;
    state_stride[link] = 0;  // read along the other name of the state
    const auto row = static_cast<std::size_t>(carried - scan.kept.begin());
    first.same.push_back(
        {.extent = states[link], .row = Tensor::row_major(rows)[row], .state = Tensor::row_major(states)[link]});
  }
  first.state = tensor::all_offsets(states, state_stride);
  return first;
}

void bind_answers(const planner::Schedule& schedule, const planner::Extents& extents, const planner::Step& step,
                  const Layouts& layouts, BoundScan& bound) {
  const auto& scan = *step.as<Scan>();
  for (std::size_t k = 0; k < scan.answers.size(); ++k) {
    const bool echoes = k + 1 == scan.body->outputs.size();
    const std::vector<DimId>& dims = echoes ? scan.body->operands[*scan.echo] : scan.body->outputs[k + 1];
    bound.answers.push_back({.of_slices = has_dim(schedule, scan.answers[k], scan.chain),
                             .advance = layouts.bytes_along(scan.answers[k], scan.chain, 1),
                             .elements = planner::elements(extents, dims)});
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
  FusedSmoothing smoothing{.there = *there, .messages = asked.messages, .places = {}, .matrix_answer = {}};
  const auto add = [&](std::optional<std::size_t> answer, planner::ValueId value, bool before) {
    const DimId state = before ? scan.after[0] : scan.before[0];
    smoothing.places.push_back(
        {.answer = answer, .before = before, .layout = slice_layout(extents, layouts(value, extents), scan, state)});
  };
  if (bound.keeps) add(std::nullopt, scan.messages, false);
  // The mass of the matrix or, in rows, of states: its dims say which.
  for (std::size_t k = 0; k < scan.answers.size(); ++k) {
    const std::vector<DimId>& dims = scan.body->outputs[k + 1];
    const auto has = [&](DimId state) { return std::find(dims.begin(), dims.end(), state) != dims.end(); };
    if (has(scan.before[0]) && has(scan.after[0])) {
      smoothing.matrix_answer = k;
      smoothing.is_turned = dims[0] != scan.after[0];
    } else {
      add(k, scan.answers[k], has(scan.after[0]));
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
  bound->forward = scan.forward;
  bound->ragged = scan.ragged;
  bound->keeps = scan.messages != planner::none;
  bound->keeps_shifts = scan.shifts != planner::none;
  bound->slices = extents[scan.chain];
  bound->most = most_slices;
  bound->rows = planner::elements(extents, scan.kept);
  bound->states = planner::elements(extents, scan.before);
  bound->start = first_message(extents, step, layouts);

  if (scan.ragged) {
    const Layout present = layouts(step.inputs.back(), extents);
    bound->present_step = present.along(scan.chain);
    bound->present = tensor::all_offsets(planner::sizes(extents, scan.kept), present.along(scan.kept));
  }
  if (const auto form = scan.semiring ? std::nullopt : planner::scan_form(schedule, step)) {
    bound->fused =
        fused_scan(extents, layouts, {.semiring = options.semiring, .step = step, .form = *form, .most = bound->most});
  }
  bind_answers(schedule, extents, step, layouts, *bound);
  if (scan.smoothing) bound->smoothing = smoothing_of(extents, step, layouts, *bound, options.semiring);
  const planner::Schedule& body = *scan.body;
  for (std::size_t k = 0; k < body.operands.size(); ++k) {
    const Layout layout =
        k == 0 ? row_major(bound->dtype, body.operands[k], extents) : layouts(step.inputs[k], extents);
    bound->shapes.push_back(slice_shape(layout, body.operands[k], extents));
    bound->advance.push_back(layout.along(scan.chain) * static_cast<std::int64_t>(size_of(layout.dtype)));
  }
  bound->shapes.push_back(slice_shape(row_major(bound->dtype, body.outputs[0], extents), body.outputs[0], extents));
  bound->echo = scan.echo;
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
