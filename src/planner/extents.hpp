// What is known of sizes only when a schedule is bound: how many slices each dim has, and numbers that follow from
// that.
#pragma once

#include <cstdint>
#include <vector>

#include "base/sorted_set.hpp"
#include "plated/factor_graph.hpp"

namespace plated::planner {

using base::SortedSet;

/// The sizes of all dims in one run, by DimId. Domains of variables are those of the graph.
using Extents = std::vector<std::int64_t>;

/// The sizes that a graph was written with.
[[nodiscard]] Extents extents_of(const FactorGraph& graph);

/// The sizes of some dims.
[[nodiscard]] std::vector<std::int64_t> sizes(const Extents& extents, const std::vector<DimId>& dims);
/// Elements of a set of dims. Throws SizeOverflowError.
[[nodiscard]] std::int64_t elements(const Extents& extents, const std::vector<DimId>& dims);

/// A number times the sizes of some dims, divided by those of others. A dim may be in a list several times.
struct Scale {
  double number = 1;
  std::vector<DimId> times;
  std::vector<DimId> over;

  bool operator==(const Scale&) const = default;
  [[nodiscard]] bool is_one() const { return number == 1 && times.empty() && over.empty(); }
};
[[nodiscard]] Scale operator*(const Scale& a, const Scale& b);
[[nodiscard]] Scale inverse(Scale scale);
/// Its value: 0 where an empty dim is among its factors. Nothing has the slices of an empty dim, so that division by
/// its size does not matter and is left out.
[[nodiscard]] double value_of(const Scale& scale, const Extents& extents);

/// How often a value that plates do not have is multiplied with itself: once for each of their slices.
struct Power {
  SortedSet plates;

  bool operator==(const Power&) const = default;
};
[[nodiscard]] std::int64_t value_of(const Power& power, const Extents& extents);

}  // namespace plated::planner
