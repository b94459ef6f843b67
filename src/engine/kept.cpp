// Runs a forward schedule, keeps its values, and updates them.
#include "engine/kept.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "engine/runnable.hpp"
#include "engine/step_runner.hpp"

namespace plated::engine {
namespace {

using planner::Step;
using planner::Value;
using planner::ValueId;

/// Which entries of a value have changed: those inside of all ranges. Dims without a range have changed everywhere.
struct Region {
  struct Range {
    DimId dim = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;  // one past
  };
  std::vector<Range> ranges;

  [[nodiscard]] const Range* along(DimId dim) const {
    const auto found = std::find_if(ranges.begin(), ranges.end(), [&](const Range& r) { return r.dim == dim; });
    return found == ranges.end() ? nullptr : &*found;
  }
  /// The smallest region that holds both.
  void unite(const Region& other) {
    std::erase_if(ranges, [&](const Range& range) { return other.along(range.dim) == nullptr; });
    for (Range& range : ranges) {
      const Range& more = *other.along(range.dim);
      range.first = std::min(range.first, more.first);
      range.last = std::max(range.last, more.last);
    }
  }
};

/// Follows changes from step to step.
class Changes {
 public:
  explicit Changes(const planner::Schedule& schedule) : schedule_(schedule), region_(schedule.values.size()) {}

  void begin(ValueId value, Region region) { region_[value] = std::move(region); }

  /// What has changed in the inputs of a step, over the dims that it loops over; nothing: it need not run.
  [[nodiscard]] std::optional<Region> inputs_of(const Step& step) const {
    std::optional<Region> changed;
    for (const ValueId v : step.inputs) {
      if (!region_[v]) continue;
      if (changed) {
        changed->unite(*region_[v]);
      } else {
        changed = region_[v];
      }
    }
    return changed;
  }

  void pass_on(const Step& step, Region region) {
    const std::vector<DimId>& dims = schedule_.values[step.output].dims;
    const auto* others = step.as<planner::LeaveOneOut>();
    std::erase_if(region.ranges, [&](const Region::Range& range) {
      // A slice is left out of its own product, and is in all others.
      const bool spreads = others != nullptr && base::contains(others->product, range.dim);
      return spreads || std::find(dims.begin(), dims.end(), range.dim) == dims.end();
    });
    for_each_output(step, [&](ValueId v) { region_[v] = region; });
  }

 private:
  const planner::Schedule& schedule_;
  std::vector<std::optional<Region>> region_;  // [value]
};

}  // namespace

Kept::Kept(const planner::Schedule& forward, planner::Extents extents, std::vector<Tensor> outputs,
           std::vector<Tensor> operands, Settings settings)
    : forward_(forward), extents_(std::move(extents)), operands_(std::move(operands)), threads_(settings.threads) {
  PLATED_ASSERT(!forward.reuses_buffers);
  settings.extents = &extents_;
  settings.updatable = true;
  outputs_ = run_allocating(forward, std::move(outputs), operands_, workspace_, settings);
}

std::int64_t Kept::bytes() const {
  std::int64_t bytes = workspace_.bytes();
  for (const Tensor& output : outputs_) bytes += output.elements() * static_cast<std::int64_t>(size_of(output.dtype()));
  return bytes;
}

void Kept::update(std::size_t operand, std::span<const Slice> slices) {
  Changes changes(forward_);
  for (ValueId v = 0; v < forward_.values.size(); ++v) {
    const Value& value = forward_.values[v];
    if (value.kind != Value::Kind::operand || value.index != operand) continue;
    Region region;
    for (const Slice& slice : slices) region.ranges.push_back({slice.plate, slice.index, slice.index + 1});
    changes.begin(v, std::move(region));
  }
  const BoundSchedule& bound = workspace_.bound;
  const StepRunner runner(workspace_, workspace_.outputs, workspace_.operands, threads_);
  for (std::size_t s = 0; s < bound.steps.size(); ++s) {
    const Step& step = forward_.steps[s];
    PLATED_ASSERT(!accumulates(step));
    std::optional<Region> changed = changes.inputs_of(step);
    if (!changed) continue;
    const BoundStep& bound_step = bound.steps[s];
    std::int64_t first = 0;
    std::int64_t last = 0;
    if (bound_step.in_blocks != no_index) {
      const Blocks& blocks = bound.blocked[bound_step.in_blocks].blocks;
      const Region::Range* range = changed->along(blocks.dim);
      first = range != nullptr ? range->first / blocks.size : 0;
      last = range != nullptr ? (range->last + blocks.size - 1) / blocks.size : blocks.count();
    }
    runner.update(bound_step, first, last);
    changes.pass_on(step, std::move(*changed));
  }
}

}  // namespace plated::engine
