// Chooses lanes, rows and tasks of the reduce strategy, by the shape alone, never by threads.
#include "kernels/reduce_plan.hpp"

#include <algorithm>
#include <utility>

#include "kernels/block_tables.hpp"

namespace plated::kernels {
namespace {

// Lanes of a block that is absorbed where it lies: long rows for the prefetcher, states that stay in the L1 cache.
constexpr std::int64_t direct_lane_bytes = 4096;
// Lanes of a block that goes through a tile: the tile stays in the L1 cache as well.
constexpr std::int64_t packed_lane_bytes = 1024;
// Where rows share cache lines tiles are narrow and tall, so that memory is read in order.
constexpr std::int64_t cache_line_bytes = 64;
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

/// Whether rows of the primary input lie so near each other that they share cache lines.
bool rows_share_lines(const LoopNest& nest, const ContractionShape& shape) {
  const auto bytes = static_cast<std::int64_t>(size_of(shape.input_dtype[nest.primary]));
  return std::any_of(nest.loops.begin(), nest.loops.end(), [&](const Loop& loop) {
    const std::int64_t stride = loop.input[nest.primary];
    return loop.role == Role::sum && stride != 0 && stride * bytes < cache_line_bytes;
  });
}

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
  const std::int64_t packed_cap = (rows_share_lines(nest, shape) ? transposed_lane_bytes : packed_lane_bytes) / bytes;
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
  plan.lane_runs.resize(inputs);
  for (std::size_t i = 0; i < inputs; ++i) {
    std::vector<Run> runs = runs_of(plan.lanes.offset[i]);
    const bool pays = static_cast<std::int64_t>(runs.size()) * 2 <= plan.lanes.count;
    if (pays) plan.lane_runs[i] = std::move(runs);
  }
  const auto contiguous = [&plan](std::size_t i) {
    return plan.lanes.count == 1 ||
           (plan.lane_runs[i].size() == 1 && plan.lane_runs[i][0].step == 1 && plan.lane_runs[i][0].length > 1);
  };
  plan.direct = inputs == 1 && shape.input_dtype[0] == shape.compute_dtype && contiguous(0);
  plan.tile_rows =
      rows_share_lines(plan.nest, shape) ? std::min(transposed_rows, (plan.passes[0].rows.count + 7) / 8 * 8) : 8;
  plan.pitch = (plan.lanes.count + 15) / 16 * 16;
  for (std::int64_t r = 0; r < plan.tile_rows; ++r) plan.tile_row_offset.push_back(r * plan.pitch);
}

/// The cache lines of a tall tile's source. Worth fetching in the log semiring alone: while exponentials are formed the
/// hardware's prefetcher sees nothing to do, where the others are back at packing in no time.
void lay_ahead(ReducePlan& plan, const ContractionShape& shape) {
  const std::size_t i = plan.nest.primary;
  const Block& rows = plan.passes[0].rows;
  if (shape.semiring != Semiring::log || plan.direct || rows.count > plan.tile_rows) return;
  if (!rows_share_lines(plan.nest, shape)) return;
  const auto bytes = static_cast<std::int64_t>(size_of(shape.input_dtype[i]));
  const std::int64_t span = rows.offset[i].back() - rows.offset[i].front() + 1;
  for (const Run& run : plan.lane_runs[i]) {
    const std::int64_t together = run.step == 1 ? run.length : 1;
    for (std::int64_t lane = 0; lane < run.length; lane += together) {
      const std::int64_t begin = (run.target + lane * run.step) * bytes;
      const std::int64_t end = begin + (span + together - 1) * bytes;
      for (std::int64_t line = begin; line < end; line += cache_line_bytes) plan.ahead_lines.push_back(line);
    }
  }
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
  lay_ahead(plan, shape);
  split(plan);
  return plan;
}

}  // namespace plated::kernels
