// Loops over arrays of which some hold indices: rows that share their indices, and the walk around them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/indexed_kernels.hpp"
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

/// A loop, and its strides in several arrays.
struct IndexedLoop {
  std::int64_t extent = 1;
  std::vector<std::int64_t> stride;  // [array]
};

struct IndexedLoops {
  std::vector<IndexedLoop> loops;
  std::int64_t count = 1;

  /// Appends a loop, or lengthens the last one where the new one goes on inside of it.
  void add(IndexedLoop loop);
};

/// Whether all indices have the same entry along a loop.
[[nodiscard]] bool has_one_index(const std::vector<IndexArray>& indices, std::size_t loop);
/// Joins loops that go on inside of each other, and takes out the one with the smallest step in an array, or a loop of
/// one entry where there is none.
[[nodiscard]] IndexedLoop take_row(std::vector<IndexedLoop>& loops, std::size_t array, std::size_t arrays);
/// Takes out the last loop, or one of one entry where there is none.
[[nodiscard]] IndexedLoop take_last(IndexedLoops& loops, std::size_t arrays);
[[nodiscard]] IndexedLoops joined(std::vector<IndexedLoop> loops);
/// How many parts of so many entries make a task.
[[nodiscard]] std::int64_t grain_of(std::int64_t each);

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
      const IndexedLoop& loop = loops_.loops[l];
      if (++index_[l] < loop.extent) return move(loop, 1);
      index_[l] = 0;
      move(loop, 1 - loop.extent);
    }
  }
  [[nodiscard]] std::int64_t operator[](std::size_t array) const { return offset_[array]; }

 private:
  void move(const IndexedLoop& loop, std::int64_t steps) {
    for (std::size_t a = 0; a < arrays_; ++a) offset_[a] += steps * loop.stride[a];
  }

  const IndexedLoops& loops_;
  std::size_t arrays_;
  std::int64_t* index_;
  std::int64_t* offset_;
};

/// Entries along a run whose states are looked up at once.
inline constexpr std::int64_t entries_at_once = 256;

/// Where `count` entries along a run lie in the array that has states, from `offset` on and `along` apart. Index i
/// begins at(i) and is array `first_index` + i of the run.
template <class At>
void find_entries(const std::vector<IndexArray>& indices, std::span<const void* const> data, const At& at,
                  const IndexedLoop& run, std::size_t first_index, std::int64_t offset, std::int64_t along,
                  std::int64_t count, std::int64_t* offsets) {
  for (std::int64_t q = 0; q < count; ++q) offsets[q] = offset + q * along;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const StatesOfRun states{.states = data[i],
                             .dtype = indices[i].dtype,
                             .first = at(i),
                             .stride = run.stride[first_index + i],
                             .step = indices[i].step};
    add_to_offsets(states, count, offsets);
  }
}

/// Calls visit(entries) with their type.
template <class Visit>
void visit_type(Dtype dtype, const void* data, const Visit& visit) {
  if (dtype == Dtype::float32) {
    visit(static_cast<const float*>(data));
  } else {
    visit(static_cast<const double*>(data));
  }
}

}  // namespace plated::kernels
