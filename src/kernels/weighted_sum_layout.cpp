// Chooses lanes and rows of a weighted sum, by the shape alone, never by threads.
#include "kernels/weighted_sum_layout.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace plated::kernels {
namespace {

constexpr std::int64_t lane_caps[] = {1024, 512, 256, 128, 64};
constexpr std::int64_t most_rows = 256;
// Terms of a block: enough to forget what surrounds it, few enough to be split into tasks.
constexpr std::int64_t block_terms = 131'072;
constexpr std::int64_t tile_bytes = 128 * 1024;
constexpr double terms_per_task = 100'000;
constexpr double most_tasks = 256;

// Costs, in units of about a quarter of an exponential.
constexpr double gather_contiguous = 1.0;
constexpr double gather_strided = 3.0;
constexpr double add_doubles = 1.0;
constexpr double row_overhead = 8.0;
constexpr double block_overhead = 300.0;
constexpr double fold_lane = 2.0;
constexpr double write_strided = 6.0;
constexpr double write_partial = 6.0;

class Candidate {
 public:
  Candidate(const LoopNest& nest, const WeightedSumShape& shape)
      : nest_(nest), shape_(shape), inputs_(inputs_of(shape)), elements_(1) {
    for (const Loop& loop : nest.loops) elements_ *= static_cast<double>(loop.extent);
  }

  /// With so many loops as lanes; null where the cap cuts an earlier one. `pure`: no gathered input that depends on
  /// the lane is to depend on the row.
  std::optional<WeightedSumLayout> lay(std::size_t lane_loops, std::int64_t lane_cap, bool pure) const {
    WeightedSumLayout layout;
    if (!lay_lanes(layout, lane_loops, lane_cap)) return std::nullopt;
    layout.direct = direct_input(layout);
    layout.direct_output =
        nest_.sum == 1 && shape_.output_dtype == shape_.compute_dtype && contiguous(layout, inputs_.size());
    lay_rows(layout, pure);
    return layout;
  }

  double cost(const WeightedSumLayout& layout) const;

 private:
  bool lay_lanes(WeightedSumLayout& layout, std::size_t lane_loops, std::int64_t cap) const {
    for (std::size_t l = 0; l < lane_loops; ++l) {
      const std::int64_t extent = nest_.loops[l].extent;
      const std::int64_t room = cap / layout.lanes;
      layout.lane_loops.push_back(l);
      if (extent <= room) {
        layout.lanes *= extent;
        continue;
      }
      if (l + 1 < lane_loops || room < 2) return false;
      const std::int64_t pieces = (extent + room - 1) / room;
      std::int64_t piece = (extent + pieces - 1) / pieces;
      if (layout.lanes == 1) piece = std::min(room, (piece + 15) / 16 * 16);
      if (piece < extent) layout.lane_piece = piece;
      layout.lanes *= std::min(piece, extent);
    }
    return true;
  }

  bool contiguous(const WeightedSumLayout& layout, std::size_t input) const {
    std::int64_t next = 1;
    for (const std::size_t l : layout.lane_loops) {
      if (nest_.loops[l].input[input] != next) return false;
      next *= nest_.loops[l].extent;
    }
    return true;
  }

  bool varies(const std::vector<std::size_t>& loops, std::size_t input) const {
    return std::any_of(loops.begin(), loops.end(), [&](std::size_t l) { return nest_.loops[l].input[input] != 0; });
  }

  /// The largest input that may be read where it lies.
  int direct_input(const WeightedSumLayout& layout) const {
    const std::size_t logs = shape_.added.size() + shape_.subtracted.size();
    const std::size_t end = logs == 0 ? inputs_.size() : shape_.added.size();
    int best = -1;
    double best_elements = 0;
    for (std::size_t i = 0; i < end; ++i) {
      if (inputs_[i]->dtype != shape_.compute_dtype || !contiguous(layout, i)) continue;
      double elements = 1;
      for (const Loop& loop : nest_.loops) elements *= loop.input[i] == 0 ? 1.0 : static_cast<double>(loop.extent);
      if (elements <= best_elements) continue;
      best = static_cast<int>(i);
      best_elements = elements;
    }
    return best;
  }

  void lay_rows(WeightedSumLayout& layout, bool pure) const {
    const std::int64_t cap = std::min(most_rows, std::max<std::int64_t>(1, block_terms / layout.lanes));
    const std::int64_t tile_cap =
        tile_bytes / static_cast<std::int64_t>(size_of(shape_.compute_dtype)) / ((layout.lanes + 15) / 16 * 16);
    std::int64_t sum_rows = 1;
    for (std::size_t l = layout.lane_loops.size(); l < nest_.loops.size() && layout.row_piece == 0; ++l) {
      const Loop& loop = nest_.loops[l];
      bool spoils = false;
      for (std::size_t i = 0; pure && i < inputs_.size(); ++i) {
        spoils |= static_cast<int>(i) != layout.direct && loop.input[i] != 0 && varies(layout.lane_loops, i);
      }
      if (spoils) continue;
      const bool tiled = loop.role == Role::kept && !layout.direct_output;
      std::int64_t room = cap / layout.rows;
      if (tiled) room = std::min(room, tile_cap / sum_rows);
      std::int64_t extent = loop.extent;
      if (extent > room) {
        if (room < 2) continue;
        const std::int64_t pieces = (extent + room - 1) / room;
        extent = layout.row_piece = (extent + pieces - 1) / pieces;
      }
      layout.row_loops.push_back(l);
      layout.rows *= extent;
      if (tiled) sum_rows *= extent;
    }
  }

  const LoopNest& nest_;
  const WeightedSumShape& shape_;
  std::vector<const WeightedSumShape::Input*> inputs_;
  double elements_;
};

/// For each term.
double Candidate::cost(const WeightedSumLayout& layout) const {
  const auto lanes = static_cast<double>(layout.lanes);
  const auto rows = static_cast<double>(layout.rows);
  const std::size_t logs = shape_.added.size() + shape_.subtracted.size();
  double cost = row_overhead / lanes + block_overhead / (lanes * rows);
  const std::int64_t padded = (layout.lanes + 7) / 8 * 8;
  cost += 4.0 * (static_cast<double>(padded) / lanes - 1.0);
  bool lane_logs = false;
  bool row_logs = false;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (static_cast<int>(i) == layout.direct) continue;
    const bool by_lane = varies(layout.lane_loops, i);
    const bool by_row = varies(layout.row_loops, i);
    const std::int64_t inner = nest_.loops[0].input[i];
    const double gather = inner == 0 || inner == 1 ? gather_contiguous : gather_strided;
    cost += by_lane && by_row ? 2 * gather : by_lane ? gather / rows : gather_strided / lanes;
    if (i < logs) {
      lane_logs |= by_lane;
      row_logs |= by_row;
    }
  }
  if (lane_logs && row_logs && shape_.compute_dtype == Dtype::float32) cost += add_doubles;
  const double kept = static_cast<double>(nest_.kept);
  if (!layout.direct_output) {
    double folded = kept;  // sums that lie side by side in lanes
    for (const std::size_t l : layout.lane_loops) {
      if (nest_.loops[l].role == Role::sum) folded *= static_cast<double>(nest_.loops[l].extent);
    }
    cost += (write_strided * kept + fold_lane * std::min(folded, elements_)) / elements_;
    // Kept indices around the blocks, too few of which leave sums to be split.
    double outer = kept;
    const auto inside = [&](const std::vector<std::size_t>& loops, std::int64_t piece) {
      for (const std::size_t l : loops) {
        if (nest_.loops[l].role != Role::kept) continue;
        outer /= static_cast<double>(l == loops.back() && piece > 0 ? piece : nest_.loops[l].extent);
      }
    };
    inside(layout.lane_loops, layout.lane_piece);
    inside(layout.row_loops, layout.row_piece);
    const double wanted = std::min(static_cast<double>(enough_tasks), 0.5 * static_cast<double>(wanted_tasks(nest_)));
    if (outer < wanted) cost += write_partial * kept * (wanted / std::max(outer, 1.0)) / elements_;
  }
  return cost;
}

}  // namespace

std::vector<const WeightedSumShape::Input*> inputs_of(const WeightedSumShape& shape) {
  std::vector<const WeightedSumShape::Input*> inputs;
  for (const auto* list : {&shape.added, &shape.subtracted, &shape.factors}) {
    for (const auto& input : *list) inputs.push_back(&input);
  }
  return inputs;
}

std::int64_t wanted_tasks(const LoopNest& nest) {
  double elements = 1;
  for (const Loop& loop : nest.loops) elements *= static_cast<double>(loop.extent);
  return static_cast<std::int64_t>(std::clamp(elements / terms_per_task, 1.0, most_tasks));
}

WeightedSumLayout lay_out(const LoopNest& nest, const WeightedSumShape& shape) {
  if (nest.loops.empty()) {
    WeightedSumLayout layout;
    layout.direct_output = shape.output_dtype == shape.compute_dtype;
    return layout;
  }
  const Candidate candidate(nest, shape);
  std::optional<WeightedSumLayout> best;
  double best_cost = 0;
  std::int64_t lanes = 1;
  for (std::size_t lane_loops = 1; lane_loops <= nest.loops.size(); ++lane_loops) {
    lanes *= nest.loops[lane_loops - 1].extent;
    for (const std::int64_t cap : lane_caps) {
      if (lanes <= cap && cap < lane_caps[0]) continue;  // cuts nothing, and neither did the cap before
      for (const bool pure : {true, false}) {
        auto layout = candidate.lay(lane_loops, cap, pure);
        if (!layout) continue;
        const double cost = candidate.cost(*layout);
        if (best && cost >= best_cost) continue;
        best = std::move(layout);
        best_cost = cost;
      }
    }
  }
  return *best;
}

}  // namespace plated::kernels
