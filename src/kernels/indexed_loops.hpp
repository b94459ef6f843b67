// Loops over arrays of which some hold indices: rows that share their indices, and the walk around them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plated/tensor.hpp"

namespace plated::kernels {

/// An array of observed states, of any integer type.
struct IndexArray {
  Dtype dtype = Dtype::int64;
  std::vector<std::int64_t> stride;  // [loop]
  std::int64_t step = 0;             // elements from one state to the next in the array that has states
  std::int64_t states = 1;           // of that array

  bool operator==(const IndexArray&) const = default;
};

/// Some loops, and for each the strides of several arrays.
struct IndexedLoops {
  struct Loop {
    std::int64_t extent = 1;
    std::vector<std::int64_t> stride;  // [array]
  };
  std::vector<Loop> loops;
  std::int64_t count = 1;

  /// Appends a loop, or lengthens the last one where the new one goes on inside of it.
  void add(Loop loop);
};

/// A position in loops. Its memory is the caller's scratch.
class IndexedCursor {
 public:
  static std::size_t words(const IndexedLoops& loops, std::size_t arrays) { return loops.loops.size() + arrays; }

  IndexedCursor(const IndexedLoops& loops, std::size_t arrays, std::int64_t* scratch)
      : loops_(loops), arrays_(arrays), index_(scratch), offset_(scratch + loops.loops.size()) {}

  void seek(std::int64_t position) {
    for (std::size_t a = 0; a < arrays_; ++a) offset_[a] = 0;
    for (std::size_t l = loops_.loops.size(); l-- > 0;) {
      index_[l] = position % loops_.loops[l].extent;
      position /= loops_.loops[l].extent;
      move(loops_.loops[l], index_[l]);
    }
  }
  /// The first position, of loops that may be empty.
  void begin() {
    for (std::size_t l = 0; l < loops_.loops.size(); ++l) index_[l] = 0;
    for (std::size_t a = 0; a < arrays_; ++a) offset_[a] = 0;
  }
  void advance() {
    for (std::size_t l = loops_.loops.size(); l-- > 0;) {
      const IndexedLoops::Loop& loop = loops_.loops[l];
      if (++index_[l] < loop.extent) return move(loop, 1);
      index_[l] = 0;
      move(loop, 1 - loop.extent);
    }
  }
  [[nodiscard]] std::int64_t operator[](std::size_t array) const { return offset_[array]; }

 private:
  void move(const IndexedLoops::Loop& loop, std::int64_t steps) {
    for (std::size_t a = 0; a < arrays_; ++a) offset_[a] += steps * loop.stride[a];
  }

  const IndexedLoops& loops_;
  std::size_t arrays_;
  std::int64_t* index_;
  std::int64_t* offset_;
};

}  // namespace plated::kernels
