// Chooses states for up to a tile's width of rows at a time; each worker has its own.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "adjoint/backtrace_step.hpp"

namespace plated::adjoint {

class RowChooser {
 public:
  /// For so many rows in all.
  RowChooser(const ChoiceStep& step, std::int64_t rows);

  /// The memory that one takes.
  [[nodiscard]] static std::int64_t bytes(const ChoiceStep& step, std::int64_t rows);
  /// The most rows at a time.
  [[nodiscard]] std::int64_t lanes() const { return pitch_; }
  /// Where an input's row begins, for each lane; to be filled in before choosing.
  [[nodiscard]] std::int64_t* lane_offset(std::size_t input) {
    return lane_offset_.data() + static_cast<std::int64_t>(input) * kernels::choose_lanes;
  }

  void best(std::int64_t lanes, std::uint32_t* state);
  void draw(std::int64_t lanes, const double* uniform, std::uint32_t* state);

  /// Rows in one piece can be tabulated: their weights, and in `total` their sums.
  [[nodiscard]] static bool in_one_piece(const ChoiceStep& step);
  kernels::ChooseTile weigh(std::int64_t lanes, double* total);

 private:
  [[nodiscard]] kernels::ChooseTile gather(std::int64_t first, std::int64_t lanes);
  void find_state_offsets(std::int64_t first, std::int64_t count);

  const ChoiceStep& step_;
  std::int64_t pitch_;
  std::int64_t piece_;                      // states of a tile
  std::int64_t offsets_of_ = -1;            // the first state that state_offset_ is for
  std::vector<std::int64_t> lane_offset_;   // [input][choose_lanes]
  std::vector<std::int64_t> state_offset_;  // [input][piece_]
  std::vector<double> tile_;
  using Running = std::array<double, kernels::choose_lanes>;
  Running top_{};
  Running total_{};
  Running passed_{};
};

}  // namespace plated::adjoint
