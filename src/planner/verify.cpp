// Checks the invariants of a schedule.
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>

#include "planner/elimination.hpp"
#include "planner/passes.hpp"

namespace plated::planner {
namespace {

void hold(bool condition, const char* what) {
  if (!condition) throw std::logic_error(std::string("a schedule is broken: ") + what);
}

}  // namespace

void verify_places(const Schedule& schedule, const Arena& arena, const Extents& extents, ElementBytes bytes,
                   std::size_t first_step) {
  std::vector<std::size_t> last_use(schedule.values.size(), 0);
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    for (const ValueId v : schedule.steps[s].inputs) last_use[v] = s;
    if (accumulates(schedule.steps[s])) last_use[schedule.steps[s].output] = s;
  }
  // The stretches of the arena that hold values still to be read: a new one must fit between them.
  std::map<std::int64_t, std::int64_t> live;  // first byte → one past the last
  for (std::size_t s = first_step; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    for_each_output(step, [&](ValueId v) {
      const Value& value = schedule.values[v];
      if (value.kind != Value::Kind::intermediate || accumulates(step)) return;
      const std::int64_t begin = arena.offset[v];
      const std::int64_t size = elements(extents, value.dims) * bytes.of(value.precision);
      const std::int64_t end = begin + std::max<std::int64_t>(1, size);
      hold(begin >= 0 && end <= arena.bytes, "a value lies outside of the arena");
      const auto [place, is_free] = live.emplace(begin, end);
      hold(is_free, "two live values begin at one place");
      hold(place == live.begin() || std::prev(place)->second <= begin, "a value overlaps the one before it");
      hold(std::next(place) == live.end() || end <= std::next(place)->first, "a value overlaps the one after it");
    });
    for (const ValueId v : step.inputs) {
      if (arena.offset[v] >= 0 && last_use[v] == s) live.erase(arena.offset[v]);
    }
  }
}

void verify(const Schedule& schedule) {
  std::vector<bool> written(schedule.values.size(), false);
  for (std::size_t v = 0; v < schedule.values.size(); ++v) {
    written[v] = schedule.values[v].kind == Value::Kind::operand;
  }
  for (const Step& step : schedule.steps) {
    SortedSet carried;
    for (const ValueId v : step.inputs) {
      hold(written[v], "a step reads what has not been written");
      carried = base::unite(carried, base::sorted(schedule.values[v].dims));
    }
    for_each_output(step, [&](ValueId v) {
      hold(written[v] == accumulates(step), "a value is written twice, or added to before it is written");
      written[v] = true;
    });
    if (const auto* scan = step.as<Scan>()) {
      hold(step.inputs.size() == scan->body->operands.size() + (scan->ragged ? 1 : 0),
           "a scan's inputs are not those of its body");
      verify(*scan->body);
      continue;
    }
    // What the inputs carry is summed, multiplied or kept, exactly one of the three.
    const SortedSet& sum = summed(step);
    const SortedSet kept = base::sorted(schedule.values[step.output].dims);
    SortedSet accounted = base::unite(sum, kept);
    hold(base::is_subset(sum, carried), "a step sums a dim that no input has");
    if (const auto* contract = step.as<Contract>()) {
      hold(base::is_subset(contract->product, carried), "a step multiplies over a dim that no input has");
      hold(base::intersect(contract->product, kept).empty(), "a step keeps a dim that it multiplies over");
      accounted = base::unite(accounted, contract->product);
    }
    if (const auto* gather = step.as<Gather>()) {
      hold(step.inputs.size() == 1 + gather->variables.size() + (gather->partial ? 1 : 0),
           "a gather has other inputs than a table, states of its variables, and what is not observed");
      hold(base::is_subset(gather->product, carried), "a gather multiplies over a dim that no input has");
      hold(base::intersect(gather->product, kept).empty(), "a gather keeps a dim that it multiplies over");
      accounted = base::unite(accounted, base::unite(gather->product, gather->variables));
    }
    hold(base::is_subset(carried, accounted), "a step loses a dim of its inputs");
    hold(base::intersect(sum, kept).empty(), "a step keeps a dim that it sums");
  }
}

}  // namespace plated::planner
