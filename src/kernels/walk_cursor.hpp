// A position in a Walk, with the offsets that belong to it. Its memory is the caller's scratch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/reduce_plan.hpp"

namespace plated::kernels {

class WalkCursor {
 public:
  /// Words of scratch for a walk over `inputs` inputs.
  static std::size_t words(const Walk& walk, std::size_t inputs) { return walk.loops.size() + inputs + 1; }

  WalkCursor(const Walk& walk, std::size_t inputs, std::int64_t* scratch)
      : walk_(walk), inputs_(inputs), index_(scratch), offset_(scratch + walk.loops.size()) {}

  void seek(std::int64_t position) {
    for (std::size_t i = 0; i <= inputs_; ++i) offset_[i] = 0;
    for (std::size_t l = walk_.loops.size(); l-- > 0;) {
      index_[l] = position % walk_.loops[l].extent;
      position /= walk_.loops[l].extent;
      move(walk_.loops[l], index_[l]);
    }
  }

  void advance() {
    for (std::size_t l = walk_.loops.size(); l-- > 0;) {
      const Loop& loop = walk_.loops[l];
      if (++index_[l] < loop.extent) return move(loop, 1);
      index_[l] = 0;
      move(loop, 1 - loop.extent);
    }
  }

  /// Adds to `offset` by how much the next step would move input `i`. False where there is no next step: the movement
  /// is then the one back to the beginning.
  bool look_ahead(std::size_t i, std::int64_t& offset) const {
    for (std::size_t l = walk_.loops.size(); l-- > 0;) {
      const Loop& loop = walk_.loops[l];
      if (index_[l] + 1 < loop.extent) {
        offset += loop.input[i];
        return true;
      }
      offset += (1 - loop.extent) * loop.input[i];
    }
    return false;
  }

  /// Whether the cut loop stands at its last, smaller piece.
  [[nodiscard]] bool at_last_piece() const {
    return walk_.cut >= 0 && index_[walk_.cut] == walk_.loops[static_cast<std::size_t>(walk_.cut)].extent - 1;
  }
  [[nodiscard]] std::int64_t input(std::size_t i) const { return offset_[i]; }
  [[nodiscard]] std::int64_t output() const { return offset_[inputs_]; }

 private:
  void move(const Loop& loop, std::int64_t steps) {
    for (std::size_t i = 0; i < inputs_; ++i) offset_[i] += steps * loop.input[i];
    offset_[inputs_] += steps * loop.output;
  }

  const Walk& walk_;
  std::size_t inputs_;
  std::int64_t* index_;
  std::int64_t* offset_;
};

}  // namespace plated::kernels
