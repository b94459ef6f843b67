// A copy of a table in which rows lie side by side, as doubles, in an order of axes that vectors can read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/indexed_loops.hpp"

namespace plated::kernels {

/// How often a table must be read, or added to, per entry for a copy to pay.
inline constexpr std::int64_t uses_worth_a_copy = 8;
/// Entries of a copy, which is to fit in a core's own cache.
inline constexpr std::int64_t most_packed = 1 << 16;

class PackedRows {
 public:
  /// Of a table whose rows have so many entries, so far apart.
  PackedRows(std::int64_t extent, std::int64_t stride) : extent_(extent), stride_(stride), entries_(extent) {}

  /// Adds another axis of the table. Returns the distance of its slices in the copy.
  std::int64_t add(std::int64_t extent, std::int64_t stride) {
    const std::int64_t step = entries_;
    around_.add({.extent = extent, .stride = {stride, step}});
    entries_ *= extent;
    return step;
  }
  [[nodiscard]] std::int64_t entries() const { return entries_; }
  /// Of scratch, for either way of copying.
  [[nodiscard]] std::size_t words() const { return IndexedCursor::words(around_, 2); }

  template <class Entry>
  void pack(const Entry* table, double* copy, std::int64_t* words) const {
    each_row(words, [&](std::int64_t at, std::int64_t to) {
      for (std::int64_t c = 0; c < extent_; ++c) copy[to + c] = static_cast<double>(table[at + c * stride_]);
    });
  }
  void unpack(const double* copy, double* table, std::int64_t* words) const {
    each_row(words, [&](std::int64_t to, std::int64_t at) {
      for (std::int64_t c = 0; c < extent_; ++c) table[to + c * stride_] = copy[at + c];
    });
  }

 private:
  template <class Visit>
  void each_row(std::int64_t* words, const Visit& visit) const {
    IndexedCursor cursor(around_, 2, words);
    cursor.begin();
    for (std::int64_t r = 0; r < around_.count; ++r, cursor.advance()) visit(cursor[0], cursor[1]);
  }

  IndexedLoops around_;
  std::int64_t extent_;
  std::int64_t stride_;
  std::int64_t entries_;
};

}  // namespace plated::kernels
