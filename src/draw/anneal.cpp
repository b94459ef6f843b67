// Anneals a layout: points jump near their neighbours, two points swap places, groups shift or flip.
#include "draw/anneal.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace plated::draw {
namespace {

constexpr int nobody = -1;

/// Removes unused columns and rows; order is kept, so boxes hold the same points.
void close_gaps(Places& places, int Point::*coordinate) {
  std::vector<int> used;
  for (const auto& place : places) used.push_back(place.*coordinate);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (auto& place : places) {
    const auto at = std::lower_bound(used.begin(), used.end(), place.*coordinate);
    place.*coordinate = static_cast<int>(at - used.begin());
  }
}

class Annealer {
 public:
  Annealer(const Arrangement& arrangement, Places start, std::uint64_t seed)
      : arrangement_(arrangement), cost_(arrangement, std::move(start)), random_(seed) {
    int columns = 0, rows = 0;
    for (const auto& place : cost_.places()) {
      columns = std::max(columns, place.column + 1);
      rows = std::max(rows, place.row + 1);
    }
    // Room to grow on every side.
    const int margin = 3 + std::max(columns, rows) / 4;
    columns_ = columns + 2 * margin;
    rows_ = rows + 2 * margin;
    occupant_.assign(static_cast<std::size_t>(columns_) * rows_, nobody);
    for (int p = 0; p < arrangement_.points; ++p) {
      const auto [column, row] = place_of(p);
      cost_.move(p, {column + margin, row + margin});
      at(place_of(p)) = p;
    }
    neighbours_.resize(arrangement_.points);
    for (const auto& link : arrangement_.links) {
      neighbours_[link.from].push_back(link.to);
      neighbours_[link.to].push_back(link.from);
    }
  }

  Places run(const AnnealOptions& options) {
    const int moves = static_cast<int>(std::clamp(options.budget / cost_.work(), 200.0, 2000.0 * arrangement_.points));
    Places best = cost_.places();
    double change = 0, best_change = 0;
    for (int move = 0; move < moves; ++move) {
      const double progress = double(move) / moves;
      const double temperature = options.hot * std::pow(options.cold / options.hot, progress);
      if (!propose(progress)) continue;
      const double before = cost_.around(moving_);
      apply(targets_);
      const double rise = cost_.around(moving_) - before;
      if (rise > 0 && random_.uniform() >= std::exp(-rise / temperature)) {
        apply(sources_);
        continue;
      }
      change += rise;
      if (change < best_change - 1e-9) {
        best_change = change;
        best = cost_.places();
      }
    }
    close_gaps(best, &Point::column);
    close_gaps(best, &Point::row);
    return best;
  }

 private:
  Point place_of(int point) const { return cost_.places()[point]; }
  int& at(Point p) { return occupant_[static_cast<std::size_t>(p.row) * columns_ + p.column]; }
  bool on_grid(Point p) const { return p.column >= 0 && p.row >= 0 && p.column < columns_ && p.row < rows_; }

  bool propose(double progress) {
    moving_.clear();
    sources_.clear();
    targets_.clear();
    if (!arrangement_.groups.empty() && random_.below(8) == 0) {
      const auto& group = arrangement_.groups[random_.below(static_cast<std::uint32_t>(arrangement_.groups.size()))];
      // A move costs what the group is large: large groups less often.
      if (random_.below(static_cast<std::uint32_t>(group.size())) < 8) return propose_group(group, progress);
    }
    return propose_point(progress);
  }

  /// One point goes near itself or near a neighbour; a point there takes its place.
  bool propose_point(double progress) {
    const int p = random_.between(0, arrangement_.points - 1);
    const int reach = std::max(1, static_cast<int>((1 - progress) * std::min(6, std::max(columns_, rows_) / 3)));
    Point around = place_of(p);
    int radius = reach;
    if (!neighbours_[p].empty() && random_.below(2) == 0) {
      around = place_of(neighbours_[p][random_.below(static_cast<std::uint32_t>(neighbours_[p].size()))]);
      radius = random_.between(1, 2);
    }
    const Point target{around.column + random_.between(-radius, radius), around.row + random_.between(-radius, radius)};
    if (!on_grid(target) || target == place_of(p)) return false;
    move(p, target);
    if (at(target) != nobody) move(at(target), place_of(p));
    return true;
  }

  /// A group shifts, or turns over in its own span; the points in its way go to where it has been.
  bool propose_group(const std::vector<int>& group, double progress) {
    const int reach = std::max(1, static_cast<int>((1 - progress) * std::max(columns_, rows_) / 2));
    const int kind = random_.between(0, 3);
    const Point shift{random_.between(-reach, reach), random_.between(-reach, reach)};
    Span span{columns_, 0, rows_, 0};
    for (const int p : group) {
      span.left = std::min(span.left, place_of(p).column);
      span.right = std::max(span.right, place_of(p).column);
      span.top = std::min(span.top, place_of(p).row);
      span.bottom = std::max(span.bottom, place_of(p).row);
    }
    for (const int p : group) {
      Point target = place_of(p);
      if (kind == 0) {
        target.column = span.left + span.right - target.column;
      } else if (kind == 1) {
        target.row = span.top + span.bottom - target.row;
      } else {
        target = {target.column + shift.column, target.row + shift.row};
      }
      if (!on_grid(target)) return false;
      move(p, target);
    }
    std::vector<Point> left;  // places that the group leaves
    for (const auto& source : sources_) {
      if (std::find(targets_.begin(), targets_.end(), source) == targets_.end()) left.push_back(source);
    }
    const std::size_t size = targets_.size();
    for (std::size_t k = 0, next = 0; k < size; ++k) {
      const int other = at(targets_[k]);
      if (other == nobody || std::find(group.begin(), group.end(), other) != group.end()) continue;
      move(other, left[next++]);
    }
    return true;
  }

  void move(int p, Point target) {
    moving_.push_back(p);
    sources_.push_back(place_of(p));
    targets_.push_back(target);
  }

  void apply(const std::vector<Point>& places) {
    for (const int p : moving_) at(place_of(p)) = nobody;
    for (std::size_t k = 0; k < moving_.size(); ++k) {
      cost_.move(moving_[k], places[k]);
      at(places[k]) = moving_[k];
    }
  }

  const Arrangement& arrangement_;
  LayoutCost cost_;
  base::Random random_;
  int columns_ = 0, rows_ = 0;
  std::vector<int> occupant_;
  std::vector<std::vector<int>> neighbours_;
  std::vector<int> moving_;
  std::vector<Point> sources_, targets_;
};

}  // namespace

Places anneal(const Arrangement& arrangement, Places start, const AnnealOptions& options) {
  if (arrangement.points < 2) return Places(arrangement.points);
  close_gaps(start, &Point::column);
  close_gaps(start, &Point::row);
  return Annealer(arrangement, std::move(start), options.seed).run(options);
}

}  // namespace plated::draw
