// Counts nodes and edges that a line crosses.
#pragma once

#include <vector>

#include "draw/geometry.hpp"

namespace plated::draw {

/// How many nodes, but for those at its ends, a line runs over or comes close to.
[[nodiscard]] int nodes_under(const Line& line, int from, int to, const std::vector<Rect>& nodes);

/// The visible parts of lines between nodes, to count which of them cross.
class DrawnLines {
 public:
  void add(const Line& line, const Rect& from, const Rect& to);
  /// How many of the lines so far a line crosses.
  [[nodiscard]] int crossings(const Line& line, const Rect& from, const Rect& to) const;

 private:
  struct Seen {
    std::vector<Pixel> trace;
    Rect around;
  };
  static Seen seen(const Line& line, const Rect& from, const Rect& to);
  std::vector<Seen> lines_;
};

}  // namespace plated::draw
