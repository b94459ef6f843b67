// Walks slices: the states after each are known, its own variables and the states before it are chosen.
//
// The body's steps choose as all steps do, from the message before the slice and what else the slice reads; values that
// lie between them are computed again, slice by slice. What the planner took out of the body are steps of the schedule
// that have the chain as an axis: they are traced back later, when the states of all slices are known.
#include "adjoint/backtrace_scan.hpp"

#include <algorithm>
#include <utility>

#include "adjoint/backtrace_axes.hpp"
#include "base/checked_size.hpp"
#include "base/watch.hpp"

namespace plated::adjoint {

using planner::Scan;
using planner::Step;
using planner::ValueId;

namespace {

/// Whether a body's step must be computed in a slice before its choices: sums read its output.
std::vector<bool> read_by_sums(const planner::Schedule& body, const std::vector<Step>& steps) {
  std::vector<bool> read(body.values.size(), false);
  std::vector<bool> computed(steps.size(), false);
  for (std::size_t s = steps.size(); s-- > 0;) {
    computed[s] = read[steps[s].output];
    for (const ValueId v : steps[s].inputs) read[v] = read[v] || computed[s] || !summed(steps[s]).empty();
  }
  return computed;
}

/// Whether a sum's states are better chosen together with those of a sum that it reads: fewer are visited than it takes
/// to compute the other one for all states that it keeps. The number of samples must not matter.
bool chooses_together(const planner::Schedule& body, const Step& step, const Step& inner) {
  constexpr double work_of_choice = 4;  // of a state, which is gathered
  const auto states = [&](const auto& dims) {
    double product = 1;
    for (const DimId d : dims) {
      if (body.problem.kind[d] == DimKind::variable) product *= static_cast<double>(body.problem.domain[d]);
    }
    return product;
  };
  return work_of_choice * states(base::unite(summed(step), summed(inner))) <= states(body.loops(inner));
}

/// The steps of a body that choices need. Its sums read factors rather than their products and sums, where these are
/// not too many.
std::vector<Step> traced_steps(const planner::Schedule& body) {
  constexpr std::size_t most_inputs = 8;
  std::vector<Step> steps = body.steps;
  std::vector<Step*> written(body.values.size(), nullptr);
  std::vector<std::uint32_t> uses(body.values.size(), 0);
  for (const Step& step : steps) {
    for (const ValueId v : step.inputs) ++uses[v];
  }
  for (Step& step : steps) {
    for (std::size_t k = 0; k < step.inputs.size() && !summed(step).empty();) {
      const ValueId v = step.inputs[k];
      Step* factors = written[v];
      if (factors == nullptr || step.inputs.size() + factors->inputs.size() - 1 > most_inputs ||
          (!summed(*factors).empty() && (uses[v] > 1 || !chooses_together(body, step, *factors)))) {
        ++k;
        continue;
      }
      // In the order in which they are multiplied without: so are the bits.
      step.inputs.erase(step.inputs.begin() + static_cast<std::ptrdiff_t>(k));
      step.inputs.insert(step.inputs.begin(), factors->inputs.begin(), factors->inputs.end());
      if (summed(*factors).empty()) continue;
      auto& contract = std::get<planner::Contract>(step.operation);
      contract.sum = base::unite(contract.sum, std::exchange(std::get<planner::Contract>(factors->operation).sum, {}));
    }
    const auto* contract = step.as<planner::Contract>();
    const bool has_factors = contract != nullptr && multiplied(step).empty() && !step.inputs.empty();
    if (has_factors) written[step.output] = &step;
  }
  const std::vector<bool> computed = read_by_sums(body, steps);
  std::size_t kept = 0;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (!computed[s] && summed(steps[s]).empty()) continue;
    if (kept != s) steps[kept] = std::move(steps[s]);
    ++kept;
  }
  steps.resize(kept);
  return steps;
}

/// What it takes to bind them; every value has a place of its own.
planner::Schedule traced_body(const planner::Schedule& body) {
  planner::Schedule traced;
  traced.extents = body.extents;
  traced.problem = body.problem;
  traced.reuses_buffers = false;
  traced.operands = body.operands;
  traced.outputs = body.outputs;
  traced.values = body.values;
  traced.steps = traced_steps(body);
  return traced;
}

/// Whether there is one sum and nothing else, and paths can be walked with it.
bool walks_paths(const Scan& scan, const planner::Extents& extents, const std::vector<Step>& traced,
                 const ChoiceStep& step, const Choice& choice) {
  return traced.size() == 1 && PathChooser::suits(scan, extents, step, choice);
}

}  // namespace

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
  const std::vector<Step> steps = traced_steps(body);
  const ChoiceScope scope(body, scan.chain);
  const std::vector<DimId> rows = assignment_axes(schedule.problem, ends_of(schedule, step)[0]);
  std::int64_t bytes = base::checked_product(planner::elements(extents, rows), row);
  for (const Step& inner : steps) {
    const std::int64_t elements = planner::elements(extents, body.values[inner.output].dims);
    bytes = base::checked_sum(bytes, base::checked_product(elements, sizeof(double)));
    if (summed(inner).empty()) continue;
    const ChoiceStep sizes = sizes_of_choice(scope, inner, extents);
    bytes = base::checked_sum(bytes, walks_paths(scan, extents, steps, sizes, choice)
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
    auto sums = std::make_unique<Sums>(Sums{std::move(read_choices(*inside_, s, {})[0]), nullptr});
    work_ += static_cast<double>(bound_.slices) * work_of(sums->step, choice_);
    if (walks_paths(scan_, extents, body_schedule_.steps, sums->step, choice_)) {
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
    const planner::Value& value = schedule.values[step.inputs[scan_.starts ? 1 : 0]];
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
  std::size_t input = (scan_.starts ? 1U : 0U) + (scan_.ragged ? 1U : 0U);
  const std::size_t messages = bound_step.first_place + bound_step.inputs + 1;
  for (std::size_t k = 0, advance = 0; k < body_schedule_.operands.size(); ++k) {
    const bool is_message = k == scan_.message;
    const engine::Place& place = is_message ? source.bound.places[messages] : source.bound.inputs(bound_step)[input++];
    inside_->operands.push_back(source.address(place));
    inside_->in_chunks.push_back(place.in_chunks());
    inside_->advance.push_back(is_message ? bound_.message_bytes() : bound_.advance[advance++]);
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
