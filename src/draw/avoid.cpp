// Tests lines against nodes and edges, sampled along their length.
#include "draw/avoid.hpp"

#include <algorithm>

namespace plated::draw {
namespace {

constexpr double clearance = 4;

Rect around_trace(const std::vector<Pixel>& trace) {
  if (trace.empty()) return {};
  Rect rect{trace[0].x, trace[0].y, trace[0].x, trace[0].y};
  for (const auto& [x, y] : trace) {
    rect = {std::min(rect.left, x), std::min(rect.top, y), std::max(rect.right, x), std::max(rect.bottom, y)};
  }
  return {rect.left - clearance, rect.top - clearance, rect.right + clearance, rect.bottom + clearance};
}

double side(Pixel a, Pixel b, Pixel p) { return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x); }

bool cross(Pixel a, Pixel b, Pixel c, Pixel d) {
  return (side(a, b, c) > 0) != (side(a, b, d) > 0) && (side(c, d, a) > 0) != (side(c, d, b) > 0);
}

/// Whether two traces cross; x alone rules out most pairs of their segments.
bool cross(const std::vector<Pixel>& a, const std::vector<Pixel>& b) {
  for (std::size_t k = 0; k + 1 < a.size(); ++k) {
    const auto [left, right] = std::minmax(a[k].x, a[k + 1].x);
    for (std::size_t l = 0; l + 1 < b.size(); ++l) {
      if (std::max(b[l].x, b[l + 1].x) < left || right < std::min(b[l].x, b[l + 1].x)) continue;
      if (cross(a[k], a[k + 1], b[l], b[l + 1])) return true;
    }
  }
  return false;
}

}  // namespace

int nodes_under(const Line& line, int from, int to, const std::vector<Rect>& nodes) {
  int count = 0;
  const auto trace = line.trace();
  const Rect reach = around_trace(trace);
  for (int n = 0; n < static_cast<int>(nodes.size()); ++n) {
    if (n == from || n == to || !reach.meets(nodes[n])) continue;
    count += std::any_of(trace.begin(), trace.end(), [&](Pixel p) { return nodes[n].ellipse_holds(p, clearance); });
  }
  return count;
}

DrawnLines::Seen DrawnLines::seen(const Line& line, const Rect& from, const Rect& to) {
  Seen result{.trace = line.trace()};
  std::erase_if(result.trace, [&](Pixel p) { return from.ellipse_holds(p, 1) || to.ellipse_holds(p, 1); });
  // Crossings need no dense trace: a straight line is one segment, and of a bent one every few points do.
  const std::size_t stride = line.via.empty() ? std::max<std::size_t>(1, result.trace.size()) : 5;
  std::vector<Pixel> coarse;
  for (std::size_t k = 0; k < result.trace.size(); k += stride) coarse.push_back(result.trace[k]);
  if (!result.trace.empty()) coarse.push_back(result.trace.back());
  result.trace = std::move(coarse);
  result.around = around_trace(result.trace);
  return result;
}

void DrawnLines::add(const Line& line, const Rect& from, const Rect& to) { lines_.push_back(seen(line, from, to)); }

int DrawnLines::crossings(const Line& line, const Rect& from, const Rect& to) const {
  const Seen own = seen(line, from, to);
  return static_cast<int>(std::count_if(lines_.begin(), lines_.end(), [&](const Seen& other) {
    return own.around.meets(other.around) && cross(own.trace, other.trace);
  }));
}

}  // namespace plated::draw
