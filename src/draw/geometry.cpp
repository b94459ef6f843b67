// Computes lines as quadratic pieces, and where they end at the border of a node.
#include "draw/geometry.hpp"

#include <algorithm>
#include <cmath>

namespace plated::draw {
namespace {

constexpr double trace_step = 4;
constexpr double corner_radius = 10;
constexpr double head_length = 9;
constexpr double head_half_width = 3.6;

Pixel between(Pixel a, Pixel b, double t) { return {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)}; }

double distance(Pixel a, Pixel b) { return std::hypot(b.x - a.x, b.y - a.y); }

}  // namespace

bool Rect::ellipse_holds(Pixel p, double beyond) const {
  const double dx = (p.x - x()) / (width() / 2 + beyond), dy = (p.y - y()) / (height() / 2 + beyond);
  return dx * dx + dy * dy < 1;
}

std::vector<Line::Piece> Line::pieces() const {
  if (via.empty()) return {{from, between(from, to, 0.5), to}};
  std::vector<Piece> list;
  Pixel start = from;
  for (std::size_t k = 0; k < via.size(); ++k) {
    const Pixel end = k + 1 < via.size() ? between(via[k], via[k + 1], 0.5) : to;
    list.push_back({start, via[k], end});
    start = end;
  }
  return list;
}

std::vector<Pixel> Line::trace() const {
  std::vector<Pixel> points{from};
  for (const auto& [a, control, b] : pieces()) {
    const double length = distance(a, control) + distance(control, b);
    const int steps = 1 + static_cast<int>(length / trace_step);
    for (int k = 1; k <= steps; ++k) {
      const double t = double(k) / steps;
      points.push_back(between(between(a, control, t), between(control, b, t), t));
    }
  }
  return points;
}

Line cornered(const Line& line) {
  Line result{.from = line.from, .to = line.to};
  for (std::size_t k = 0; k < line.via.size(); ++k) {
    const Pixel corner = line.via[k];
    const auto towards = [&](Pixel other) {
      const double share = std::min(corner_radius / std::max(1e-9, distance(corner, other)), 1.0 / 3);
      return between(corner, other, share);
    };
    result.via.push_back(towards(k > 0 ? line.via[k - 1] : line.from));
    result.via.push_back(corner);
    result.via.push_back(towards(k + 1 < line.via.size() ? line.via[k + 1] : line.to));
  }
  return result;
}

Head head_at(const Line& line, const Rect& ellipse) {
  const auto trace = line.trace();
  std::size_t inside = trace.size() - 1;
  while (inside > 0 && ellipse.ellipse_holds(trace[inside - 1])) --inside;
  const Pixel out = trace[inside > 0 ? inside - 1 : 0], in = trace[inside];
  double low = 0, high = 1;  // of the way from the last point outside to the first inside
  for (int k = 0; k < 30; ++k) {
    const double middle = (low + high) / 2;
    (ellipse.ellipse_holds(between(out, in, middle)) ? high : low) = middle;
  }
  const Pixel tip = between(out, in, low);
  Pixel base = out;
  for (std::size_t k = inside; k-- > 0 && distance(base, tip) < head_length;) base = trace[k];
  const double length = std::max(1e-9, distance(base, tip));
  const Pixel back{(base.x - tip.x) / length, (base.y - tip.y) / length};
  const Pixel foot{tip.x + head_length * back.x, tip.y + head_length * back.y};
  return {tip,
          {foot.x - head_half_width * back.y, foot.y + head_half_width * back.x},
          {foot.x + head_half_width * back.y, foot.y - head_half_width * back.x}};
}

}  // namespace plated::draw
