// A position in the loops around a block of a weighted sum: a walk, and inside it the parts of a loop split by rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/walk_cursor.hpp"
#include "kernels/weighted_sum_plan.hpp"

namespace plated::kernels {

class OuterCursor {
 public:
  static std::size_t words(const OuterLoops& loops, std::size_t inputs) {
    return WalkCursor::words(loops.walk, inputs) + WalkCursor::words(loops.pieces, inputs);
  }

  OuterCursor(const OuterLoops& loops, std::size_t inputs, std::int64_t* scratch)
      : count_(loops.pieces.count),
        walk_(loops.walk, inputs, scratch),
        pieces_(loops.pieces, inputs, scratch + WalkCursor::words(loops.walk, inputs)) {}

  void seek(std::int64_t position) {
    piece_ = position % count_;
    pieces_.seek(piece_);
    walk_.seek(position / count_);
  }

  void advance() {
    pieces_.advance();
    if (++piece_ < count_) return;
    piece_ = 0;
    walk_.advance();
  }

  [[nodiscard]] bool at_last_lanes() const { return walk_.at_last_piece(); }
  [[nodiscard]] bool at_last_rows() const { return pieces_.at_last_piece(); }
  [[nodiscard]] std::int64_t input(std::size_t i) const { return walk_.input(i) + pieces_.input(i); }

 private:
  std::int64_t count_;
  std::int64_t piece_ = 0;
  WalkCursor walk_;
  WalkCursor pieces_;
};

}  // namespace plated::kernels
