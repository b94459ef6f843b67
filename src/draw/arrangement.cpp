// Computes the cost of a layout on the grid.
#include "draw/arrangement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace plated::draw {
namespace {

// Weights, in the cost of one grid unit of link. An intruder outweighs whatever else a picture may have.
constexpr double intruder_weight = 1e6;
constexpr double over_weight = 14;
constexpr double crossing_weight = 4;
constexpr double slant_weight = 0.35;
constexpr double stretch_weight = 0.12;
constexpr double level_weight = 1.5;  // an arrow that points sideways
constexpr double up_weight = 5;
constexpr double box_weight = 0.45;
constexpr double page_weight = 0.6;
constexpr double height_weight = 1.3;  // pages are wider than they are high
constexpr double longest_page = 1.1;   // columns for each row, as columns are wider than rows are high; more cost extra
constexpr double excess_weight = 3;
constexpr double pass_weight = 2.5;  // a link that runs through a box of neither end

/// Twice the signed area of the triangle a, b, c.
long turn(Point a, Point b, Point c) {
  return long(b.column - a.column) * (c.row - a.row) - long(b.row - a.row) * (c.column - a.column);
}

bool opposite(long a, long b) { return (a <= 0 && b >= 0) || (a >= 0 && b <= 0); }

}  // namespace

Span span_of(const std::vector<char>& inside, const Places& places) {
  Span span;
  for (std::size_t p = 0; p < places.size(); ++p) {
    if (!inside[p]) continue;
    const auto [column, row] = places[p];
    if (span.empty()) {
      span = {column, column, row, row};
      continue;
    }
    span.left = std::min(span.left, column);
    span.right = std::max(span.right, column);
    span.top = std::min(span.top, row);
    span.bottom = std::max(span.bottom, row);
  }
  return span;
}

int intruders(const Arrangement& arrangement, const Places& places) {
  int count = 0;
  for (const auto& inside : arrangement.inside) {
    const Span span = span_of(inside, places);
    for (std::size_t p = 0; p < places.size(); ++p) count += !inside[p] && span.holds(places[p]);
  }
  return count;
}

LayoutCost::LayoutCost(const Arrangement& arrangement, Places places)
    : arrangement_(arrangement),
      places_(std::move(places)),
      segments_(arrangement.links.size()),
      links_of_(arrangement.points),
      is_moved_(arrangement.links.size()) {
  for (int link = 0; link < static_cast<int>(segments_.size()); ++link) {
    const auto [from, to, weight, down] = arrangement.links[link];
    links_of_[from].push_back(link);
    links_of_[to].push_back(link);
    segments_[link].from = from;
    segments_[link].to = to;
    trace(link);
  }
}

void LayoutCost::trace(int link) {
  Segment& segment = segments_[link];
  std::tie(segment.left, segment.right) = std::minmax(places_[segment.from].column, places_[segment.to].column);
  std::tie(segment.top, segment.bottom) = std::minmax(places_[segment.from].row, places_[segment.to].row);
}

void LayoutCost::move(int point, Point place) {
  places_[point] = place;
  for (const int link : links_of_[point]) trace(link);
}

/// Whether two segments without a common end meet.
bool LayoutCost::cross(const Segment& a, const Segment& b) const {
  // Bitwise: four compares without a branch each, as this is asked of every pair.
  if ((a.right < b.left) | (b.right < a.left) | (a.bottom < b.top) | (b.bottom < a.top)) return false;
  if (a.from == b.from || a.from == b.to || a.to == b.from || a.to == b.to) return false;
  const Point p = places_[a.from], q = places_[a.to], r = places_[b.from], s = places_[b.to];
  return opposite(turn(p, q, r), turn(p, q, s)) && opposite(turn(r, s, p), turn(r, s, q));
}

/// Whether a segment comes so close to a point, 0.4 of a grid unit, that a node there would hide it.
bool LayoutCost::runs_over(const Segment& segment, int point) const {
  const auto [column, row] = places_[point];
  if ((column < segment.left) | (column > segment.right) | (row < segment.top) | (row > segment.bottom)) return false;
  if (point == segment.from || point == segment.to) return false;
  const long area = turn(places_[segment.from], places_[segment.to], places_[point]);
  const long across = segment.right - segment.left, down = segment.bottom - segment.top;
  return 25 * area * area < 4 * (across * across + down * down);
}

bool LayoutCost::passes(const Segment& segment, const Span& span) const {
  if (segment.right < span.left || span.right < segment.left) return false;
  if (segment.bottom < span.top || span.bottom < segment.top) return false;
  const Point a = places_[segment.from], b = places_[segment.to];
  const long side = turn(a, b, {span.left, span.top});
  return opposite(side, turn(a, b, {span.right, span.top})) || opposite(side, turn(a, b, {span.left, span.bottom})) ||
         opposite(side, turn(a, b, {span.right, span.bottom}));
}

double LayoutCost::length_cost(int link) const {
  const int across = segments_[link].right - segments_[link].left,
            height = segments_[link].bottom - segments_[link].top;
  const double square = double(across) * across + double(height) * height;
  const double slant = across != 0 && height != 0 ? slant_weight : 0;
  const Link& own = arrangement_.links[link];
  const double length = own.weight * (std::sqrt(square) + stretch_weight * square + slant);
  if (own.down == 0) return length;
  const int fall = (places_[own.to].row - places_[own.from].row) * (own.down > 0 ? 1 : -1);
  return length + std::abs(own.down) * (fall > 0 ? 0 : fall == 0 ? level_weight : up_weight);
}

double LayoutCost::box_cost() const {
  double cost = 0;
  for (const auto& inside : arrangement_.inside) {
    const Span span = span_of(inside, places_);
    if (span.empty()) continue;
    cost += box_weight * (span.right - span.left + span.bottom - span.top);
    for (int p = 0; p < arrangement_.points; ++p) cost += !inside[p] && span.holds(places_[p]) ? intruder_weight : 0;
    for (const auto& segment : segments_) {
      if (!inside[segment.from] && !inside[segment.to] && passes(segment, span)) cost += pass_weight;
    }
  }
  Span page{places_[0].column, places_[0].column, places_[0].row, places_[0].row};
  for (const Point p : places_) {
    page.left = std::min(page.left, p.column);
    page.right = std::max(page.right, p.column);
    page.top = std::min(page.top, p.row);
    page.bottom = std::max(page.bottom, p.row);
  }
  const double width = page.right - page.left, height = page.bottom - page.top;
  const double excess = std::max(0.0, width - longest_page * (height + 3));
  return cost + page_weight * (width + height_weight * height) + excess_weight * excess;
}

double LayoutCost::total() const {
  std::vector<int> all(arrangement_.points);
  std::iota(all.begin(), all.end(), 0);
  return around(all);
}

double LayoutCost::around(const std::vector<int>& points) const {
  moved_.clear();
  for (const int p : points) {
    for (const int link : links_of_[p]) {
      if (!is_moved_[link]) moved_.push_back(link);
      is_moved_[link] = 1;
    }
  }
  double cost = box_cost();
  int crossings = 0, overs = 0;
  const int links = static_cast<int>(segments_.size());
  for (const int link : moved_) {
    cost += length_cost(link);
    const Segment segment = segments_[link];
    for (int other = 0; other < links; ++other) {
      // A pair of moved links is seen from both sides and counts once.
      if (cross(segment, segments_[other]) && (!is_moved_[other] || other < link)) ++crossings;
    }
    for (int p = 0; p < arrangement_.points; ++p) overs += runs_over(segment, p);
  }
  for (const int p : points) {
    for (int link = 0; link < links; ++link) {
      if (runs_over(segments_[link], p) && !is_moved_[link]) ++overs;
    }
  }
  for (const int link : moved_) is_moved_[link] = 0;
  return cost + crossing_weight * crossings + over_weight * overs;
}

double LayoutCost::work() const {
  const double points = arrangement_.points, links = static_cast<double>(segments_.size());
  const double degree = points > 0 ? 2 * links / points : 0;
  const double boxes = static_cast<double>(arrangement_.inside.size());
  return 20 + degree * (links + points) + links + boxes * (2 * points + links) + points;
}

}  // namespace plated::draw
