// Choosing lanes, rows and tasks of the reduce strategy. Depends on the shape alone, never on threads.
#include "kernels/reduce_plan.hpp"

#include <algorithm>
#include <utility>

namespace plated::kernels {
namespace {

// Lanes of a block that is absorbed where it lies: long rows for the prefetcher, states that stay in the L1 cache.
constexpr std::int64_t direct_lane_bytes = 4096;
// Lanes of a block that goes through a tile: the tile stays in the L1 cache as well.
constexpr std::int64_t packed_lane_bytes = 1024;
// Where rows lie next to each other in memory tiles are narrow and tall, so that memory is read in order.
constexpr std::int64_t transposed_lane_bytes = 256;
constexpr std::int64_t transposed_rows = 64;
// Contiguous lanes, and elements over their sums, that are worth a block of their own rather than packing more.
constexpr std::int64_t enough_lanes = 64;
constexpr std::int64_t few_lanes = 16;
constexpr std::int64_t enough_elements = 1000;
// A contiguous sum this long is cut into lanes; a shorter one is transposed.
constexpr std::int64_t long_sum = 512;
constexpr std::int64_t max_rows = 256;
constexpr double elements_per_task = 100'000;
constexpr std::int64_t max_tasks = 64;

struct LaneChoice {
  std::vector<Loop> loops;  // innermost first; the last one may be cut
  std::vector<bool> taken;  // [nest loop]
  int cut = -1;             // nest loop that is cut
  std::int64_t piece = 0;   // its extent in a block
  std::int64_t lanes = 1;
};

/// Takes a loop, or as much of it as the cap allows, into the lanes.
void take(LaneChoice& choice, const LoopNest& nest, std::size_t l, std::int64_t cap) {
  Loop loop = nest.loops[l];
  const std::int64_t room = std::max<std::int64_t>(1, cap / choice.lanes);
  if (loop.extent > room) {
    const std::int64_t pieces = (loop.extent + room - 1) / room;
    // Equal pieces; whole vectors where the lanes inside allow it.
    std::int64_t piece = (loop.extent + pieces - 1) / pieces;
    if (choice.lanes == 1) piece = std::min(room, (piece + 15) / 16 * 16);
    choice.cut = static_cast<int>(l);
    choice.piece = piece;
    loop.extent = piece;
  }
  choice.taken[l] = true;
  choice.lanes *= loop.extent;
  choice.loops.push_back(std::move(loop));
}

LaneChoice choose_lanes(const LoopNest& nest, const ContractionShape& shape) {
  LaneChoice choice;
  choice.taken.assign(nest.loops.size(), false);
  if (nest.loops.empty()) return choice;
  const auto bytes = static_cast<std::int64_t>(size_of(shape.compute_dtype));
  const bool alone = nest.base.size() == 1 && shape.input_dtype[0] == shape.compute_dtype;
  const std::int64_t direct_cap = (alone ? direct_lane_bytes : packed_lane_bytes) / bytes;
  const std::int64_t packed_cap = (nest.loops[0].role == Role::sum ? transposed_lane_bytes : packed_lane_bytes) / bytes;
  const std::int64_t independent = nest.kept * nest.product;
  const Loop& inner = nest.loops[0];

  if (inner.role == Role::sum && (inner.extent >= long_sum || independent < 8) && inner.extent >= 64) {
    take(choice, nest, 0, std::clamp<std::int64_t>(inner.extent / 16, 8, direct_cap));
    return choice;
  }
  // Loops that are contiguous in the primary input.
  std::int64_t next = 1;
  for (std::size_t l = 0; l < nest.loops.size() && choice.cut < 0; ++l) {
    const Loop& loop = nest.loops[l];
    if (loop.role == Role::sum || loop.input[nest.primary] != next || choice.lanes >= direct_cap) break;
    next *= loop.extent;
    take(choice, nest, l, direct_cap);
  }
  if (choice.lanes >= enough_lanes || (choice.lanes >= few_lanes && choice.lanes * nest.sum >= enough_elements)) {
    return choice;
  }
  for (std::size_t l = 0; l < nest.loops.size() && choice.cut < 0 && choice.lanes < packed_cap; ++l) {
    if (!choice.taken[l] && nest.loops[l].role != Role::sum) take(choice, nest, l, packed_cap);
  }
  // Too few independent results to fill vectors: part of a sum becomes lanes as well.
  if (choice.lanes < 16 && choice.cut < 0) {
    for (std::size_t l = 0; l < nest.loops.size(); ++l) {
      const Loop& loop = nest.loops[l];
      if (loop.role != Role::sum || loop.extent < 64) continue;
      take(choice, nest, l, choice.lanes * std::clamp<std::int64_t>(loop.extent / 16, 1, enough_lanes / choice.lanes));
      break;
    }
  }
  return choice;
}

/// Offsets of the block that a list of loops spans, innermost first.
Block tabulate(const std::vector<Loop>& loops, std::size_t inputs) {
  Block block;
  for (const Loop& loop : loops) block.count *= loop.extent;
  block.offset.assign(inputs, {});
  for (std::size_t i = 0; i < inputs; ++i) {
    auto& table = block.offset[i];
    table.reserve(static_cast<std::size_t>(block.count));
    table.push_back(0);
    for (const Loop& loop : loops) {
      const std::size_t inside = table.size();
      for (std::int64_t k = 1; k < loop.extent; ++k) {
        for (std::size_t j = 0; j < inside; ++j) table.push_back(table[j] + k * loop.input[i]);
      }
    }
  }
  return block;
}

/// For each index of the block, the index within the block of the selected roles alone.
std::vector<std::int64_t> project(const std::vector<Loop>& loops, bool kept, bool product) {
  std::vector<std::int64_t> table = {0};
  std::int64_t weight = 1;
  for (const Loop& loop : loops) {
    const bool selected = (loop.role == Role::kept && kept) || (loop.role == Role::product && product);
    const std::size_t inside = table.size();
    for (std::int64_t k = 1; k < loop.extent; ++k) {
      for (std::size_t j = 0; j < inside; ++j) table.push_back(table[j] + (selected ? k * weight : 0));
    }
    if (selected) weight *= loop.extent;
  }
  return table;
}

std::vector<Run> runs_of(const std::vector<std::int64_t>& table) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    if (!runs.empty()) {
      Run& run = runs.back();
      if (run.length == 1) run.step = table[i] - run.target;
      if (table[i] == run.target + run.length * run.step) {
        ++run.length;
        continue;
      }
    }
    runs.push_back({index, 1, table[i], 0});
  }
  return runs;
}

/// Runs whose steps are 0 or 1 only, as products want them.
std::vector<Run> unit_runs_of(const std::vector<std::int64_t>& table) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!runs.empty()) {
      Run& run = runs.back();
      const std::int64_t step = table[i] - (run.target + (run.length - 1) * run.step);
      if ((step == 0 || step == 1) && (run.length == 1 || step == run.step)) {
        run.step = step;
        ++run.length;
        continue;
      }
    }
    runs.push_back({static_cast<std::int64_t>(i), 1, table[i], 0});
  }
  return runs;
}

/// The rows of a pass: sum loops, innermost first, as a tabulated block and a walk around it.
void lay_rows(Pass& pass, const std::vector<Loop>& sums, std::size_t inputs) {
  std::vector<Loop> inside;
  std::vector<Loop> outside;
  std::int64_t rows = 1;
  bool is_cut = false;
  for (const Loop& loop : sums) {
    const std::int64_t room = max_rows / rows;
    if (!is_cut && outside.empty() && loop.extent <= room) {
      rows *= loop.extent;
      inside.push_back(loop);
    } else if (!is_cut && outside.empty() && room > 1) {
      const std::int64_t piece = std::max<std::int64_t>(1, room / 8 * 8 > 0 ? room / 8 * 8 : room);
      Loop cut = loop;
      cut.extent = (loop.extent + piece - 1) / piece;
      for (auto& stride : cut.input) stride *= piece;
      const std::int64_t last = loop.extent - (cut.extent - 1) * piece;
      pass.last_rows = rows * last;
      Loop part = loop;
      part.extent = piece;
      rows *= piece;
      inside.push_back(std::move(part));
      outside.push_back(std::move(cut));
      is_cut = true;
    } else {
      outside.push_back(loop);
    }
  }
  pass.rows = tabulate(inside, inputs);
  if (!is_cut) pass.last_rows = pass.rows.count;
  for (auto loop = outside.rbegin(); loop != outside.rend(); ++loop) {
    pass.walk.add(*loop, is_cut && loop + 1 == outside.rend());
  }
}

void lay_passes(ReducePlan& plan, const LaneChoice& choice) {
  const std::size_t inputs = plan.nest.base.size();
  std::vector<Loop> sums;
  std::vector<Loop> uncut_sums;
  std::int64_t remainder = 0;
  std::vector<std::int64_t> remainder_base = plan.nest.base;
  for (std::size_t l = 0; l < plan.nest.loops.size(); ++l) {
    Loop loop = plan.nest.loops[l];
    if (loop.role != Role::sum) continue;
    if (choice.cut == static_cast<int>(l)) {
      const std::int64_t whole = loop.extent / choice.piece;
      remainder = loop.extent % choice.piece;
      for (std::size_t i = 0; i < inputs; ++i) {
        remainder_base[i] += whole * choice.piece * loop.input[i];
        loop.input[i] *= choice.piece;
      }
      loop.extent = whole;
      sums.push_back(std::move(loop));
    } else if (!choice.taken[l]) {
      sums.push_back(loop);
      uncut_sums.push_back(std::move(loop));
    }
  }
  Pass& pass = plan.passes.emplace_back();
  pass.base = plan.nest.base;
  pass.lanes = choice.lanes;
  lay_rows(pass, sums, inputs);
  if (remainder > 0) {  // the lanes of the last, shorter row
    Pass& rest = plan.passes.emplace_back();
    rest.base = std::move(remainder_base);
    rest.lanes = choice.lanes / choice.piece * remainder;
    lay_rows(rest, uncut_sums, inputs);
  }
}

void lay_walks(ReducePlan& plan, const LaneChoice& choice) {
  plan.last_lanes = choice.lanes;
  for (std::size_t l = plan.nest.loops.size(); l-- > 0;) {
    Loop loop = plan.nest.loops[l];
    const bool is_cut = choice.cut == static_cast<int>(l);
    if (loop.role == Role::sum || (choice.taken[l] && !is_cut)) continue;
    if (is_cut) {
      const std::int64_t pieces = (loop.extent + choice.piece - 1) / choice.piece;
      const std::int64_t last = loop.extent - (pieces - 1) * choice.piece;
      plan.last_lanes = choice.lanes / choice.piece * last;
      loop.extent = pieces;
      for (auto& stride : loop.input) stride *= choice.piece;
      loop.output *= choice.piece;
    }
    (loop.role == Role::kept ? plan.kept : plan.product).add(std::move(loop), is_cut);
  }
}

void lay_epilogue(ReducePlan& plan, const LaneChoice& choice) {
  std::int64_t kept = 1;
  std::int64_t product = 1;
  std::vector<Loop> independent;
  plan.output_offset = {0};
  for (const Loop& loop : choice.loops) {
    if (loop.role == Role::sum) continue;
    (loop.role == Role::kept ? kept : product) *= loop.extent;
    independent.push_back(loop);
    if (loop.role != Role::kept) continue;
    const std::size_t inside = plan.output_offset.size();
    for (std::int64_t k = 1; k < loop.extent; ++k) {
      for (std::size_t j = 0; j < inside; ++j) plan.output_offset.push_back(plan.output_offset[j] + k * loop.output);
    }
  }
  plan.slots = kept * product;
  plan.folds = plan.slots < choice.lanes;
  if (plan.folds) plan.fold_slot = project(choice.loops, true, true);
  plan.multiplies = plan.nest.product > 1;
  plan.product_runs = unit_runs_of(project(independent, true, false));
  plan.factors = product;
  plan.accumulators = kept;
  plan.last_accumulators = plan.kept.cut >= 0 ? plan.last_lanes / std::max<std::int64_t>(product, 1) : kept;
  plan.output_contiguous = true;
  for (std::size_t k = 0; k < plan.output_offset.size(); ++k) {
    plan.output_contiguous = plan.output_contiguous && plan.output_offset[k] == static_cast<std::int64_t>(k);
  }
}

void lay_tiles(ReducePlan& plan, const ContractionShape& shape) {
  const std::size_t inputs = plan.nest.base.size();
  bool transposes = false;
  plan.lane_runs.resize(inputs);
  for (std::size_t i = 0; i < inputs; ++i) {
    std::vector<Run> runs = runs_of(plan.lanes.offset[i]);
    const bool pays = static_cast<std::int64_t>(runs.size()) * 4 <= plan.lanes.count;
    if (i == plan.nest.primary) transposes = pays && runs[0].step != 0 && runs[0].step != 1;
    if (pays) plan.lane_runs[i] = std::move(runs);
  }
  const auto contiguous = [&plan](std::size_t i) {
    return plan.lanes.count == 1 ||
           (plan.lane_runs[i].size() == 1 && plan.lane_runs[i][0].step == 1 && plan.lane_runs[i][0].length > 1);
  };
  plan.direct = inputs == 1 && shape.input_dtype[0] == shape.compute_dtype && contiguous(0);
  plan.tile_rows = transposes ? std::min(transposed_rows, (plan.passes[0].rows.count + 7) / 8 * 8) : 8;
  plan.pitch = (plan.lanes.count + 15) / 16 * 16;
  for (std::int64_t r = 0; r < plan.tile_rows; ++r) plan.tile_row_offset.push_back(r * plan.pitch);
}

void split(ReducePlan& plan) {
  const double elements =
      static_cast<double>(plan.nest.kept) * static_cast<double>(plan.nest.product) * static_cast<double>(plan.nest.sum);
  const auto wanted =
      static_cast<std::int64_t>(std::clamp(elements / elements_per_task, 1.0, static_cast<double>(max_tasks)));
  plan.kept_parts = std::min(plan.kept.count, wanted);
  plan.product_parts = std::min(plan.product.count, wanted / plan.kept_parts);
  // A sum is split only where no product follows: each part's product would mix sums.
  if (!plan.multiplies) plan.sum_parts = std::min(plan.passes[0].walk.count, wanted / plan.kept_parts);
}

}  // namespace

void Walk::add(Loop loop, bool is_cut) {
  if (is_cut) cut = static_cast<int>(loops.size());
  count *= loop.extent;
  loops.push_back(std::move(loop));
}

ReducePlan plan_reduce(const ContractionShape& shape, LoopNest nest) {
  ReducePlan plan;
  plan.nest = std::move(nest);
  const LaneChoice choice = choose_lanes(plan.nest, shape);
  plan.lanes = tabulate(choice.loops, plan.nest.base.size());
  lay_walks(plan, choice);
  lay_passes(plan, choice);
  lay_epilogue(plan, choice);
  lay_tiles(plan, shape);
  split(plan);
  return plan;
}

}  // namespace plated::kernels
