// Reads steps for the backtrace.
#include "adjoint/backtrace_step.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>

#include "adjoint/backtrace_axes.hpp"
#include "base/assert.hpp"
#include "kernels/loop_nest.hpp"

namespace plated::adjoint {
namespace {

using planner::Schedule;
using planner::Step;

/// The inputs of a contraction in the order in which its kernel combines them: the largest comes first in a tile.
std::vector<std::size_t> combination_order(const kernels::Contraction& contraction) {
  std::vector<std::size_t> order(contraction.shape().input_stride.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() > 2 && std::string_view(contraction.strategy()) == "reduce") {
    const std::size_t primary = kernels::normalise(contraction.shape()).primary;
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(primary),
                order.begin() + static_cast<std::ptrdiff_t>(primary) + 1);
  }
  return order;
}

/// What is chosen, and given what.
void read_sizes(const ChoiceScope& scope, const Step& step, const planner::Extents& extents, ChoiceStep& result) {
  const Schedule& schedule = scope.schedule;
  for (const DimId v : summed(step)) {
    result.variables.push_back(scope.name_of(step, v));
    PLATED_ASSERT(assignment_axes(schedule.problem, result.variables.back()) ==
                  assignment_axes(schedule.problem, result.variables[0]));
    result.extent.push_back(extents[v]);
    result.states *= result.extent.back();
  }
  for (const DimId d : schedule.values[step.output].dims) {
    if (schedule.problem.kind[d] != DimKind::variable) continue;
    result.kept.push_back(d);
    result.kept_extent.push_back(extents[d]);
    result.kept_states *= result.kept_extent.back();
  }
}

/// Some slices of a step: all of them, or those of blocks that are equally large.
struct Stretch {
  std::uint32_t kernel = 0;
  std::optional<engine::Blocks> blocks;  // of the run, where the step chooses in blocks
  std::int64_t first = 0;                // slice
  std::int64_t count = 1;                // of blocks
  std::int64_t slices = 0;               // of each block
};

class Reader {
 public:
  Reader(const ChoiceSource& source, std::size_t step, const Stretch& stretch, std::int64_t chunk_begin)
      : source_(source),
        schedule_(source.scope.schedule),
        step_(schedule_.steps[step]),
        extents_(source.bound.extents),
        bound_(source.bound.read(step)),
        contraction_(*source.bound.kernels[stretch.kernel].contraction()),
        shape_(contraction_.shape()),
        loops_(schedule_.loops(step_)),
        stretch_(stretch),
        chunk_begin_(chunk_begin) {}

  ChoiceStep read() {
    const Semiring semiring = source_.semiring;
    read_sizes(source_.scope, step_, extents_, result_);
    result_.combine =
        semiring == Semiring::max_product ? kernels::ChooseCombine::multiply : kernels::ChooseCombine::add;
    result_.largest = semiring != Semiring::min_plus;
    // Small contractions are computed in double whatever their inputs are.
    const bool small = std::string_view(contraction_.strategy()) == "small";
    result_.compute = small ? Dtype::float64 : shape_.compute_dtype;
    read_inputs();
    read_slices();
    return std::move(result_);
  }

 private:
  /// A loop over slices: of all of a dim, of those in a block, or over the blocks themselves.
  struct SliceDim {
    DimId dim = 0;
    std::int64_t extent = 0;
    bool over_blocks = false;
    bool carried = false;
    std::int64_t step = std::numeric_limits<std::int64_t>::max();  // in memory
  };

  std::int64_t stride(std::size_t input, DimId d) const {
    const auto loop = std::find(loops_.begin(), loops_.end(), d);
    return loop == loops_.end() ? 0 : shape_.input_stride[input][static_cast<std::size_t>(loop - loops_.begin())];
  }

  /// Bytes from one block to the next.
  std::int64_t advance(std::size_t input) const {
    if (bound_.in_blocks != engine::no_index) return source_.bound.blocked[bound_.in_blocks].advance[input];
    const auto size = static_cast<std::int64_t>(size_of(shape_.input_dtype[input]));
    return stride(input, stretch_.blocks->dim) * stretch_.blocks->size * size;
  }

  std::int64_t stride(std::size_t input, const SliceDim& loop) const {
    if (!loop.over_blocks) return stride(input, loop.dim);
    return advance(input) / static_cast<std::int64_t>(size_of(shape_.input_dtype[input]));
  }

  void read_inputs() {
    order_ = combination_order(contraction_);
    for (const std::size_t i : order_) {
      const engine::Place& place = source_.bound.inputs(bound_)[i];
      ChoiceStep::Input input;
      const auto* data = static_cast<const std::byte*>(source_.address(place));
      if (stretch_.blocks) {
        const std::int64_t block = stretch_.first / stretch_.blocks->size;
        data += advance(i) * (place.in_chunks() ? block - chunk_begin_ : block);
      }
      input.data = data;
      input.dtype = shape_.input_dtype[i];
      for (const DimId d : result_.kept) input.kept_stride.push_back(stride(i, d));
      for (const DimId d : summed(step_)) input.state_stride.push_back(stride(i, d));
      result_.inputs.push_back(std::move(input));
    }
  }

  std::int64_t number_stride(DimId v, DimId d) const {
    return adjoint::number_stride(schedule_.problem, extents_, v, d);
  }

  /// The offsets of the next slice of the body's chain; what a slice computes stays where it is.
  void read_along(DimId chain) {
    const auto add = [&](std::int64_t along, bool from_origin) {
      result_.along_chain.push_back(along);
      result_.from_origin.push_back(from_origin);
    };
    add(number_stride(result_.variables[0], chain), false);
    for (const std::size_t i : order_) {
      const engine::Place& place = source_.bound.inputs(bound_)[i];
      const bool moves = place.space() == engine::Place::Space::operand;
      const auto size = static_cast<std::int64_t>(size_of(shape_.input_dtype[i]));
      add(moves ? source_.advance[place.at()] / size : 0, moves && source_.in_chunks[place.at()]);
    }
    for (const DimId v : result_.kept) add(number_stride(v, chain), false);
  }

  std::vector<SliceDim> slice_dims() const {
    std::vector<SliceDim> dims;
    for (const DimId d : assignment_axes(schedule_.problem, result_.variables[0])) {
      if (d == source_.scope.chain) continue;
      if (!stretch_.blocks || d != stretch_.blocks->dim) {
        dims.push_back({.dim = d, .extent = extents_[d]});
        continue;
      }
      if (stretch_.count > 1) dims.push_back({.dim = d, .extent = stretch_.count, .over_blocks = true});
      dims.push_back({.dim = d, .extent = stretch_.slices});
    }
    return dims;
  }

  void read_slices() {
    std::vector<SliceDim> dims = slice_dims();
    for (SliceDim& loop : dims) {
      std::int64_t weight = 0;
      for (const std::size_t i : order_) {
        const std::int64_t along = std::abs(stride(i, loop));
        if (along == 0) continue;
        loop.carried = true;
        // The largest input's memory order rules.
        const std::int64_t elements = planner::elements(extents_, schedule_.values[step_.inputs[i]].dims);
        if (elements > weight) {
          weight = elements;
          loop.step = along;
        }
      }
    }
    std::stable_sort(dims.begin(), dims.end(), [](const SliceDim& a, const SliceDim& b) {
      return a.carried != b.carried ? a.carried : a.carried && a.step > b.step;
    });
    const std::size_t offsets = 1 + result_.inputs.size() + result_.kept.size();
    result_.carried = result_.tied = result_.slices = SliceWalk(offsets);
    if (stretch_.blocks) {
      const auto number = [&](DimId v) { return stretch_.first * number_stride(v, stretch_.blocks->dim); };
      std::vector<std::int64_t> origin{number(result_.variables[0])};
      origin.resize(1 + result_.inputs.size(), 0);  // the inputs' are in their addresses
      for (const DimId v : result_.kept) origin.push_back(number(v));
      result_.carried.begin_at(origin);
      result_.slices.begin_at(std::move(origin));
    }
    for (const SliceDim& loop : dims) {
      const std::int64_t slices = loop.over_blocks ? stretch_.blocks->size : 1;
      std::vector<std::int64_t> along{slices * number_stride(result_.variables[0], loop.dim)};
      for (const std::size_t i : order_) along.push_back(stride(i, loop));
      for (const DimId v : result_.kept) along.push_back(slices * number_stride(v, loop.dim));
      (loop.carried ? result_.carried : result_.tied).add(loop.extent, along);
      result_.slices.add(loop.extent, std::move(along));
    }
    if (source_.scope.chain) read_along(*source_.scope.chain);
  }

  const ChoiceSource& source_;
  const Schedule& schedule_;
  const Step& step_;
  const planner::Extents& extents_;
  const engine::BoundStep& bound_;
  const kernels::Contraction& contraction_;
  const kernels::ContractionShape& shape_;
  std::vector<DimId> loops_;
  const Stretch& stretch_;
  std::int64_t chunk_begin_;  // the block that values stored in chunks begin with
  std::vector<std::size_t> order_;
  ChoiceStep result_;
};

/// The slices of a step in these blocks, by the kernels that have computed them.
std::vector<Stretch> stretches(const engine::BoundSchedule& bound, std::size_t step, BlockRange range) {
  const engine::Blocks& blocks = *bound.blocks;
  const engine::BoundStep& read = bound.read(step);
  const std::int64_t begin = range.first * blocks.size;
  if (read.in_blocks == engine::no_index) {
    const std::int64_t end = std::min(blocks.extent, range.last * blocks.size);
    return {{.kernel = read.kernel, .blocks = blocks, .first = begin, .slices = end - begin}};
  }
  std::vector<Stretch> list;
  const bool has_smaller = range.last == blocks.count() && blocks.last() != blocks.size;
  const std::int64_t full = range.last - range.first - (has_smaller ? 1 : 0);
  if (full > 0) {
    list.push_back({.kernel = read.kernel, .blocks = blocks, .first = begin, .count = full, .slices = blocks.size});
  }
  if (has_smaller) {
    list.push_back({.kernel = bound.blocked[read.in_blocks].last_kernel,
                    .blocks = blocks,
                    .first = (range.last - 1) * blocks.size,
                    .slices = blocks.last()});
  }
  return list;
}

}  // namespace

ChoiceScope::ChoiceScope(const Schedule& traced, std::optional<DimId> sliced) : schedule(traced), chain(sliced) {
  for (const Step& step : schedule.steps) {
    if (const auto* scan = step.as<planner::Scan>()) scans.emplace(step.output, scan);
  }
}

DimId ChoiceScope::name_of(const Step& step, DimId variable) const {
  for (const planner::ValueId in : scans.empty() ? std::vector<planner::ValueId>{} : step.inputs) {
    const auto scan = scans.find(in);
    if (scan == scans.end()) continue;
    const std::vector<DimId>& after = scan->second->after;
    if (std::find(after.begin(), after.end(), variable) != after.end()) return end_name(schedule.problem, variable);
  }
  return variable;
}

ChoiceStep sizes_of_choice(const ChoiceScope& scope, const Step& step, const planner::Extents& extents) {
  ChoiceStep result;
  read_sizes(scope, step, extents, result);
  result.inputs.resize(step.inputs.size());
  result.carried = result.tied = result.slices = SliceWalk(1 + result.inputs.size() + result.kept.size());
  for (const DimId d : assignment_axes(scope.schedule.problem, result.variables[0])) {
    if (d == scope.chain) continue;
    const bool carried = std::any_of(step.inputs.begin(), step.inputs.end(), [&](planner::ValueId v) {
      const std::vector<DimId>& dims = scope.schedule.values[v].dims;
      return std::find(dims.begin(), dims.end(), d) != dims.end();
    });
    (carried ? result.carried : result.tied).add(extents[d], {});
    result.slices.add(extents[d], {});
  }
  return result;
}

bool chooses_in_blocks(const ChoiceScope& scope, const Step& step, const engine::BoundSchedule& bound) {
  if (!bound.blocks) return false;
  const std::vector<DimId> axes = assignment_axes(scope.schedule.problem, scope.name_of(step, summed(step)[0]));
  return std::find(axes.begin(), axes.end(), bound.blocks->dim) != axes.end();
}

std::vector<ChoiceStep> read_choices(const ChoiceSource& source, std::size_t step, BlockRange range) {
  const engine::BoundSchedule& bound = source.bound;
  const bool in_blocks = chooses_in_blocks(source.scope, source.scope.schedule.steps[step], bound);
  PLATED_ASSERT(in_blocks || !bound.blocks || bound.read(step).in_blocks == engine::no_index);
  std::vector<ChoiceStep> choices;
  const std::vector<Stretch> parts =
      in_blocks ? stretches(bound, step, range) : std::vector<Stretch>{{.kernel = bound.read(step).kernel}};
  for (const Stretch& stretch : parts) {
    choices.push_back(Reader(source, step, stretch, range.first).read());
  }
  return choices;
}

}  // namespace plated::adjoint
