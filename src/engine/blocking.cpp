// Chooses blocks.
#include "engine/blocking.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "base/overloaded.hpp"

namespace plated::engine {
namespace {

using planner::Schedule;
using planner::Step;
using planner::Value;

// Fewer blocks save less memory, more of them cost time where slices lie side by side.
constexpr std::int64_t blocks_of_a_run = 16;
constexpr std::int64_t blocks_of_a_kept_step = 32;
constexpr std::int64_t most_slices = 64;
// Slices that are smaller than this come in larger blocks: each block costs the call of a kernel.
constexpr double block_bytes = 256 << 10;

// Where a block's slices lie side by side, so many bytes of the largest operand are read at a stretch, even if that
// leaves few blocks: shorter stretches are read more slowly.
constexpr double stretch_bytes = 16 << 10;
constexpr std::int64_t fewest_blocks = 4;
// Messages that leave a block of a chain's slices are made logarithms, and exponentials in the next one.
constexpr std::int64_t chain_slices = 32;
// Of the largest intermediate: what is smaller than such a share is stored as a whole.
constexpr double small = 64;

std::int64_t size_of_blocks(std::int64_t extent, std::int64_t wanted, std::int64_t most) {
  return std::clamp<std::int64_t>((extent + wanted - 1) / wanted, 1, most);
}

/// The stride of each dim in the largest operand that is read.
Layout largest_operand(const Schedule& schedule, const planner::Extents& extents, const Layouts& layouts) {
  Layout layout;
  double most = 0;
  for (const Step& step : schedule.steps) {
    for (const planner::ValueId v : step.inputs) {
      if (schedule.values[v].kind != Value::Kind::operand || layouts.bytes(v) <= most) continue;
      most = layouts.bytes(v);
      layout = layouts(v, extents);
    }
  }
  return layout;
}

/// The intermediates that steps from the first one on write.
std::vector<bool> placed_from(const Schedule& schedule, std::size_t first_step) {
  std::vector<bool> placed(schedule.values.size(), false);
  for (std::size_t s = first_step; s < schedule.steps.size(); ++s) {
    for_each_output(schedule.steps[s],
                    [&](planner::ValueId v) { placed[v] = schedule.values[v].kind == Value::Kind::intermediate; });
  }
  return placed;
}

/// Intermediates that have the dim, but for small ones and those that some step needs whole.
std::vector<bool> stored_in_blocks(const Schedule& schedule, const Layouts& layouts, DimId dim,
                                   const std::vector<bool>& is_placed) {
  std::vector<bool> in_blocks(schedule.values.size());
  double largest = 0;
  for (planner::ValueId v = 0; v < in_blocks.size(); ++v) {
    in_blocks[v] = is_placed[v] && has_dim(schedule, v, dim);
    if (in_blocks[v]) largest = std::max(largest, layouts.bytes(v));
  }
  for (planner::ValueId v = 0; v < in_blocks.size(); ++v) {
    in_blocks[v] = in_blocks[v] && layouts.bytes(v) * small >= largest;
  }
  for (const Step& step : schedule.steps) {
    if (along(schedule, step, dim) != Along::whole) continue;
    for_each_output(step, [&](planner::ValueId v) { in_blocks[v] = false; });
    for (const planner::ValueId v : step.inputs) in_blocks[v] = false;
  }
  return in_blocks;
}

}  // namespace

bool has_dim(const Schedule& schedule, planner::ValueId value, DimId dim) {
  const std::vector<DimId>& dims = schedule.values[value].dims;
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

Along along(const Schedule& schedule, const Step& step, DimId dim) {
  const bool is_kept = has_dim(schedule, step.output, dim);
  const Along reached =
      std::visit(base::Overloaded{[&](const planner::Contract& contract) {
                                    if (base::contains(contract.product, dim)) return Along::multiplied;
                                    if (base::contains(contract.sum, dim))
                                      return contract.product.empty() ? Along::summed : Along::whole;
                                    return is_kept ? Along::kept : Along::none;
                                  },
                                  [&](const planner::LeaveOneOut& others) {
                                    if (base::contains(others.product, dim)) return Along::whole;
                                    return is_kept ? Along::kept : Along::none;
                                  },
                                  [&](const planner::Weigh& weigh) {
                                    if (base::contains(weigh.sum, dim)) return Along::summed;
                                    return is_kept ? Along::kept : Along::none;
                                  },
                                  [&](const planner::LogMass&) { return is_kept ? Along::kept : Along::none; },
                                  [&](const planner::Raise&) { return is_kept ? Along::kept : Along::none; },
                                  [&](const planner::Gather& gather) {
                                    if (base::contains(gather.product, dim)) return Along::multiplied;
                                    return is_kept ? Along::kept : Along::none;
                                  },
                                  [&](const planner::Scatter& scatter) {
                                    if (base::contains(scatter.sum, dim)) return Along::summed;
                                    return is_kept ? Along::kept : Along::none;
                                  },
                                  [&](const planner::Scan& scan) {
                                    if (dim == scan.chain) return Along::carried;
                                    return is_kept ? Along::whole : Along::none;
                                  }},
                 step.operation);
  const bool in_kernels = reached != Along::none && reached != Along::carried;
  return in_kernels && step.inputs.size() > most_block_inputs ? Along::whole : reached;
}

Along Blocking::along(const Schedule& schedule, const Step& step) const {
  bool touches = std::any_of(step.inputs.begin(), step.inputs.end(), [&](planner::ValueId v) { return in_blocks[v]; });
  for_each_output(step, [&](planner::ValueId v) { touches = touches || in_blocks[v]; });
  return touches ? engine::along(schedule, step, blocks.dim) : Along::none;
}

std::optional<Blocking> blocking_of_run(const Schedule& schedule, const planner::Extents& extents,
                                        const Layouts& layouts, std::int64_t arena_bytes, std::size_t first_step) {
  if (arena_bytes < least_blocked_bytes.load(std::memory_order_relaxed)) return std::nullopt;
  const std::vector<bool> is_placed = placed_from(schedule, first_step);
  std::vector<double> bytes(extents.size(), 0);
  for (planner::ValueId v = 0; v < schedule.values.size(); ++v) {
    if (!is_placed[v]) continue;
    for (const DimId d : schedule.values[v].dims) bytes[d] += layouts.bytes(v);
  }
  const Layout largest = largest_operand(schedule, extents, layouts);
  const auto outermost = [&](DimId d) { return std::abs(largest.along(d)); };
  // Scans go through all rows of a message at once.
  for (const Step& step : schedule.steps) {
    const auto* scan = step.as<planner::Scan>();
    for (const DimId d : scan != nullptr ? scan->kept : std::vector<DimId>{}) bytes[d] = 0;
  }
  std::optional<DimId> best;
  for (DimId d = 0; d < extents.size(); ++d) {
    if (schedule.problem.kind[d] == DimKind::variable || extents[d] < 2 || bytes[d] == 0) continue;
    const bool better =
        !best || bytes[d] > bytes[*best] || (bytes[d] == bytes[*best] && outermost(d) > outermost(*best));
    if (better) best = d;
  }
  if (!best) return std::nullopt;
  const std::int64_t extent = extents[*best];
  const double slice = bytes[*best] / static_cast<double>(extent);
  const auto most = static_cast<std::int64_t>(std::max(static_cast<double>(most_slices), block_bytes / slice));
  const double stretch = static_cast<double>(outermost(*best)) * static_cast<double>(size_of(largest.dtype));
  const double together = schedule.problem.kind[*best] == DimKind::chain ? chain_slices : 1;
  const double least = stretch > 0 ? std::max(together, std::ceil(stretch_bytes / stretch)) : together;
  const std::int64_t few = (extent + fewest_blocks - 1) / fewest_blocks;
  const std::int64_t at_least = least < static_cast<double>(few) ? static_cast<std::int64_t>(least) : few;
  const std::int64_t size = std::max(size_of_blocks(extent, blocks_of_a_run, most), at_least);
  return Blocking{.blocks = {.dim = *best, .extent = extent, .size = size},
                  .in_blocks = stored_in_blocks(schedule, layouts, *best, is_placed)};
}

std::optional<Blocks> blocks_of_kept_step(const Schedule& schedule, const planner::Extents& extents, const Step& step) {
  std::optional<DimId> best;
  for (const DimId d : schedule.loops(step)) {
    if (schedule.problem.kind[d] != DimKind::plate || extents[d] <= most_slices) continue;
    const Along role = along(schedule, step, d);
    if (role == Along::none || role == Along::whole) continue;
    if (!best || extents[d] > extents[*best]) best = d;
  }
  if (!best) return std::nullopt;
  return Blocks{.dim = *best,
                .extent = extents[*best],
                .size = size_of_blocks(extents[*best], blocks_of_a_kept_step, most_slices)};
}

}  // namespace plated::engine
