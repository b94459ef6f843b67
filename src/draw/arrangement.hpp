// A layout under search: points on an integer grid, the edges between them and the boxes around them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace plated::draw {

struct Point {
  int column = 0;
  int row = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

struct Link {
  int from = 0;
  int to = 0;
  double weight = 1;
  double down = 0;  ///< how many arrows should point down from `from` to `to`; negative: up
};

/// Grid lines that a box spans, both ends included; empty where `left > right`.
struct Span {
  int left = 1, right = 0, top = 1, bottom = 0;
  [[nodiscard]] bool empty() const { return left > right; }
  [[nodiscard]] bool holds(Point p) const {
    return left <= p.column && p.column <= right && top <= p.row && p.row <= bottom;
  }
};

/// Which points are linked, and which belong together in a box.
struct Arrangement {
  int points = 0;
  std::vector<Link> links;
  std::vector<std::vector<char>> inside;  ///< inside[box][point]
  /// Sets of points that belong together and may be moved as one.
  std::vector<std::vector<int>> groups;
};

using Places = std::vector<Point>;

/// The smallest span around a box's points.
[[nodiscard]] Span span_of(const std::vector<char>& inside, const Places& places);

/// How many points lie in a box that is not theirs, over all boxes: 0 for a correct picture.
[[nodiscard]] int intruders(const Arrangement& arrangement, const Places& places);

/// How bad a layout is: intruders above all, then crossings, links over points, long and slanted links, arrows that do
/// not point down, large boxes. Keeps the layout, so that the cost of a move is that of what it touches.
class LayoutCost {
 public:
  LayoutCost(const Arrangement& arrangement, Places places);

  [[nodiscard]] const Places& places() const { return places_; }
  void move(int point, Point place);

  [[nodiscard]] double total() const;
  /// The part of the cost that moving `points` can change; differences of it are differences of the total.
  [[nodiscard]] double around(const std::vector<int>& points) const;
  /// Elementary operations that one `around` takes for a single point, for budgets.
  [[nodiscard]] double work() const;

 private:
  /// A link with its bounding box, which rules out most pairs.
  struct Segment {
    int left = 0, right = 0, top = 0, bottom = 0;
    int from = 0, to = 0;
  };
  void trace(int link);
  [[nodiscard]] bool cross(const Segment& a, const Segment& b) const;
  [[nodiscard]] bool runs_over(const Segment& segment, int point) const;
  [[nodiscard]] bool passes(const Segment& segment, const Span& span) const;
  [[nodiscard]] double length_cost(int link) const;
  [[nodiscard]] double box_cost() const;

  const Arrangement& arrangement_;
  Places places_;
  std::vector<Segment> segments_;
  std::vector<std::vector<int>> links_of_;
  mutable std::vector<char> is_moved_;
  mutable std::vector<int> moved_;
};

}  // namespace plated::draw
