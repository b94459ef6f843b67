// Checks a schedule's invariants in builds with assertions.
#include <iterator>
#include <map>

#include "base/assert.hpp"
#include "planner/elimination.hpp"
#include "planner/passes.hpp"

namespace plated::planner {
#ifndef NDEBUG
namespace {

/// Walks the steps with the stretches of the arena that hold values still to be read: a new one must fit between them.
void verify_places(const Schedule& schedule, const Schedule::Arena& arena, std::int64_t element_size) {
  std::vector<std::size_t> last_use(schedule.values.size(), 0);
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    for (const ValueId v : schedule.steps[s].inputs) last_use[v] = s;
    if (schedule.steps[s].accumulate) last_use[schedule.steps[s].output] = s;
  }
  std::map<std::int64_t, std::int64_t> live;  // first byte → one past the last
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    const Value& value = schedule.values[step.output];
    if (value.kind == Value::Kind::intermediate && !step.accumulate) {
      const std::int64_t begin = arena.offset[step.output];
      const std::int64_t size = value.precision == Precision::wide ? 8 : element_size;
      const std::int64_t end = begin + std::max<std::int64_t>(1, schedule.elements(value.dims) * size);
      PLATED_ASSERT(begin >= 0 && end <= arena.bytes);
      const auto [place, is_free] = live.emplace(begin, end);
      PLATED_ASSERT(is_free);
      PLATED_ASSERT(place == live.begin() || std::prev(place)->second <= begin);
      PLATED_ASSERT(std::next(place) == live.end() || end <= std::next(place)->first);
    }
    for (const ValueId v : step.inputs) {
      if (schedule.values[v].kind == Value::Kind::intermediate && last_use[v] == s) live.erase(arena.offset[v]);
    }
  }
}

}  // namespace
#endif

void verify([[maybe_unused]] const Schedule& schedule) {
#ifndef NDEBUG
  std::vector<bool> written(schedule.values.size(), false);
  for (std::size_t v = 0; v < schedule.values.size(); ++v) {
    written[v] = schedule.values[v].kind == Value::Kind::operand;
  }
  for (const Step& step : schedule.steps) {
    SortedSet carried;
    for (const ValueId v : step.inputs) {
      PLATED_ASSERT(written[v]);
      carried = base::unite(carried, base::sorted(schedule.values[v].dims));
    }
    PLATED_ASSERT(written[step.output] == step.accumulate);
    written[step.output] = true;
    PLATED_ASSERT(base::is_subset(step.sum, carried));
    PLATED_ASSERT(base::is_subset(step.product, carried));
    // What the inputs carry is summed, multiplied or kept, exactly one of the three.
    const SortedSet kept = base::sorted(schedule.values[step.output].dims);
    SortedSet accounted = base::unite(step.sum, kept);
    if (step.kind == Step::Kind::contract) {
      PLATED_ASSERT(base::intersect(step.product, kept).empty());
      accounted = base::unite(accounted, step.product);
    }
    PLATED_ASSERT(base::is_subset(carried, accounted));
    PLATED_ASSERT(base::intersect(step.sum, kept).empty());
  }
  if (schedule.arena[0].offset.empty()) return;  // not placed yet
  verify_places(schedule, schedule.arena[0], 4);
  verify_places(schedule, schedule.arena[1], 8);
#endif
}

}  // namespace plated::planner
