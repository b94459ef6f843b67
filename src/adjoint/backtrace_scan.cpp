// Walks slices: the states after each are known, its own variables and the states before it are chosen.
//
// The body's steps choose as all steps do, from the message before the slice and what else the slice reads; values that
// lie between them are computed again, slice by slice. What the planner took out of the body are steps of the schedule
// that have the chain as an axis: they are traced back later, when the states of all slices are known.
#include "adjoint/backtrace_scan.hpp"

#include <algorithm>

#include "adjoint/backtrace_axes.hpp"
#include "adjoint/traced_body.hpp"
#include "base/checked_size.hpp"
#include "base/watch.hpp"

namespace plated::adjoint {

using planner::Scan;
using planner::Step;
using planner::ValueId;

std::vector<DimId> ends_of(const planner::Schedule& schedule, const Step& step) {
  const Scan& scan = *step.as<Scan>();
  const std::vector<DimId>& dims = schedule.values[step.output].dims;
  std::vector<DimId> ends(dims.end() - static_cast<std::ptrdiff_t>(scan.after.size()), dims.end());
  for (std::size_t link = 0; link < ends.size(); ++link) {
    if (ends[link] == scan.after[link]) ends[link] = end_name(schedule.problem, ends[link]);
  }
  return ends;
}

std::int64_t trace_bytes(const planner::Schedule& schedule, const Step& step, const planner::Extents& extents,
                         const Choice& choice, int threads) {
  constexpr std::int64_t row = 3 * sizeof(std::int64_t);
  const Scan& scan = *step.as<Scan>();
  const planner::Schedule& body = *scan.body;
  const std::vector<Step> steps = traced_body(body).steps;
  const ChoiceScope scope(body, scan.chain);
  const std::vector<DimId> rows = assignment_axes(schedule.problem, ends_of(schedule, step)[0]);
  std::int64_t bytes = base::checked_product(planner::elements(extents, rows), row);
  for (const Step& inner : steps) {
    const std::int64_t elements = planner::elements(extents, body.values[inner.output].dims);
    bytes = base::checked_sum(bytes, base::checked_product(elements, sizeof(double)));
    if (summed(inner).empty()) continue;
    const ChoiceStep sizes = sizes_of_choice(scope, inner, extents);
    bytes = base::checked_sum(bytes, PathChooser::suits(scan, steps, extents, sizes, choice)
                                         ? PathChooser::bytes(scan, extents, sizes, choice, threads)
                                         : chooser_bytes(sizes, choice, threads));
  }
  return bytes;
}

ScanTrace::ScanTrace(const ChoiceSource& source, std::size_t step, std::span<const Tensor> operands,
                     const Choice& choice, int threads, ChosenStates& states)
    : scan_(*source.scope.schedule.steps[step].as<Scan>()),
      bound_(*source.bound.scans[source.bound.read(step).scan]),
      choice_(choice),
      threads_(threads),
      states_(states),
      body_schedule_(traced_body(*scan_.body)),
      ends_(ends_of(source.scope.schedule, source.scope.schedule.steps[step])) {
  find_rows(source, source.scope.schedule.steps[step], operands);
  if (rows_.list.empty() || bound_.slices == 0) return;
  read_body(source, source.bound.read(step));
  choose_how(source.bound.extents);
}

void ScanTrace::choose_how(const planner::Extents& extents) {
  for (std::size_t s = body_schedule_.steps.size(); s-- > 0;) {
    if (summed(body_schedule_.steps[s]).empty()) continue;
    auto sums = std::make_unique<KeptChoice>(KeptChoice{std::move(read_choices(*inside_, s, {})[0]), nullptr});
    work_ += static_cast<double>(bound_.slices) * work_of(sums->step, choice_);
    if (PathChooser::suits(scan_, body_schedule_.steps, extents, sums->step, choice_)) {
      path_ =
          std::make_unique<PathChooser>(scan_, extents, rows_, sums->step, choice_, bound_.slices, threads_, states_);
    } else {
      sums->chooser = chooser(sums->step, choice_, threads_, states_);
    }
    sums_.push_back(std::move(sums));
  }
  const std::vector<bool> computed = read_by_sums(body_schedule_, body_schedule_.steps);
  std::vector<engine::BoundStep> steps;
  for (std::size_t s = 0; s < computed.size(); ++s) {
    if (computed[s]) steps.push_back(body_.bound.steps[s]);
  }
  body_.bound.steps = std::move(steps);
}

void ScanTrace::find_rows(const ChoiceSource& source, const Step& step, std::span<const Tensor> operands) {
  const planner::Schedule& schedule = source.scope.schedule;
  const planner::Extents& extents = source.bound.extents;
  std::vector<DimId> axes;
  std::vector<std::int64_t> strides;
  if (scan_.ragged) {
    const planner::Value& value = schedule.values[step.inputs.back()];
    axes = schedule.operands[value.index];
    strides = operands[value.index].strides();
    rows_.present = static_cast<const double*>(operands[value.index].data());
  }
  const auto present_stride = [&](DimId d) {
    const auto at = std::find(axes.begin(), axes.end(), d);
    return at == axes.end() ? 0 : strides[static_cast<std::size_t>(at - axes.begin())];
  };
  rows_.along = number_stride(schedule.problem, extents, scan_.after[0], scan_.chain);
  rows_.present_along = present_stride(scan_.chain);
  SliceWalk walk(3);
  for (const DimId d : assignment_axes(schedule.problem, ends_[0])) {
    walk.add(extents[d], {number_stride(schedule.problem, extents, scan_.after[0], d),
                          number_stride(schedule.problem, extents, ends_[0], d), present_stride(d)});
  }
  rows_.list.reserve(static_cast<std::size_t>(walk.size()));
  walk.visit(0, walk.size(), [&](std::int64_t, const std::int64_t* offset) {
    rows_.list.push_back({offset[0], offset[1], offset[2]});
  });
}

void ScanTrace::read_body(const ChoiceSource& source, const engine::BoundStep& bound_step) {
  body_.bound = engine::bind_body(bound_, body_schedule_, source.bound.extents);
  if (body_schedule_.steps.size() > 1) engine::take_memory(body_, threads_);  // one alone is a sum, which is not run
  inside_ = std::make_unique<ChoiceSource>(ChoiceSource{.scope = ChoiceScope(body_schedule_, scan_.chain),
                                                        .bound = body_.bound,
                                                        .semiring = source.semiring,
                                                        .arena = body_.arena.get()});
  inside_->advance = bound_.advance;
  inside_->advance[0] = bound_.message_bytes();
  for (std::size_t k = 0; k < body_schedule_.operands.size(); ++k) {
    const std::size_t messages = bound_step.first_place + bound_step.inputs + 1;
    const engine::Place& place = source.bound.places[k == 0 ? messages : bound_step.first_place + k];
    inside_->operands.push_back(source.address(place));
    inside_->in_chunks.push_back(place.in_chunks());
  }
}

void ScanTrace::begin() {
  if (path_) path_->begin();
  pass(-1, next(scan_.forward ? bound_.slices : -1));
}

void ScanTrace::walk(const SliceRange& range) {
  if (rows_.list.empty() || range.first == range.last) return;
  if (path_) {
    path_->walk(range);
    const std::int64_t last = scan_.forward ? range.first : range.last - 1;
    return pass(last, next(last));
  }
  std::int64_t slice = scan_.forward ? range.last - 1 : range.first;
  const auto work = static_cast<std::int64_t>(work_ / static_cast<double>(bound_.slices));
  base::Pace pace;
  for (std::int64_t left = range.last - range.first; left > 0 && !pace.stops(work); --left) {
    if (!body_.bound.steps.empty()) compute(slice, range.origin);
    for (const auto& sums : sums_) {
      sums->step.move_to(slice, range.origin);
      sums->chooser->run();
    }
    const std::int64_t to = next(slice);
    pass(slice, to);
    slice = to;
  }
  base::check_wanted();
}

void ScanTrace::finish() {
  if (rows_.list.empty()) return;
  for (const DimId v : scan_.after) states_.answer(v);
}

void ScanTrace::compute(std::int64_t slice, std::int64_t origin) {
  operands_.clear();
  for (std::size_t k = 0; k < inside_->operands.size(); ++k) {
    const std::int64_t from = inside_->in_chunks[k] ? origin : 0;
    operands_.push_back(static_cast<const std::byte*>(inside_->operands[k]) + (slice - from) * inside_->advance[k]);
  }
  engine::run_prepared(body_, {}, operands_, threads_);
}

void ScanTrace::pass(std::int64_t slice, std::int64_t to) {
  for (std::size_t link = 0; link < scan_.after.size(); ++link) {
    const DimId start = scan_.start[link];
    const bool is_known =
        start == scan_.before[link] || std::find(scan_.kept.begin(), scan_.kept.end(), start) != scan_.kept.end();
    if (to < 0 && is_known) continue;
    for (const ScanRows::Row& row : rows_.list) {
      const std::uint32_t* from = nullptr;
      if (slice < 0) {
        from = states_.of(ends_[link], row.outside);
      } else {
        // A slice that does not exist changes nothing.
        const DimId name = rows_.exists(row, slice) ? scan_.before[link] : scan_.after[link];
        from = states_.of(name, row.number + slice * rows_.along);
      }
      std::uint32_t* known =
          to < 0 ? states_.of(start, row.outside) : states_.of(scan_.after[link], row.number + to * rows_.along);
      std::copy_n(from, states_.samples(), known);
    }
  }
}

}  // namespace plated::adjoint
