// Points, rectangles and lines in pixels, y downwards.
#pragma once

#include <vector>

namespace plated::draw {

struct Pixel {
  double x = 0;
  double y = 0;
};

struct Rect {
  double left = 0, top = 0, right = 0, bottom = 0;
  [[nodiscard]] double width() const { return right - left; }
  [[nodiscard]] double height() const { return bottom - top; }
  [[nodiscard]] double x() const { return (left + right) / 2; }
  [[nodiscard]] double y() const { return (top + bottom) / 2; }
  [[nodiscard]] bool meets(const Rect& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
  [[nodiscard]] bool holds(Pixel p) const { return left < p.x && p.x < right && top < p.y && p.y < bottom; }
  /// Whether a point lies in the ellipse that the rectangle is around, with `beyond` on every side.
  [[nodiscard]] bool ellipse_holds(Pixel p, double beyond = 0) const;
};

/// The rectangle around a centre.
[[nodiscard]] inline Rect around(Pixel centre, Pixel half) {
  return {centre.x - half.x, centre.y - half.y, centre.x + half.x, centre.y + half.y};
}

/// A line from `from` to `to`: straight, or smoothly bent towards each of `via` in turn. It lies within the hulls of
/// any three points in a row, and passes half-way between neighbours of `via`.
struct Line {
  Pixel from, to;
  std::vector<Pixel> via;

  /// A quadratic piece of a bent line.
  struct Piece {
    Pixel from, control, to;
  };
  [[nodiscard]] std::vector<Piece> pieces() const;
  /// The points of the line, dense enough to test what it meets.
  [[nodiscard]] std::vector<Pixel> trace() const;
};

/// The line through the points that another is bent towards: straight from one to the next, with small round corners.
[[nodiscard]] Line cornered(const Line& line);

/// The head of an arrow: a triangle with its tip on the border of the node it points to.
struct Head {
  Pixel tip, left, right;
};

/// The head at the end of a line that leads to the middle of an ellipse.
[[nodiscard]] Head head_at(const Line& line, const Rect& ellipse);

}  // namespace plated::draw
