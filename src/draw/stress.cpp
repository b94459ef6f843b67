// Minimises stress: moves pairs of points, one pair at a time, towards their distance in the graph.
#include "draw/stress.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace plated::draw {
namespace {

constexpr int unreached = -1;
constexpr int most_pivots = 250;  // beyond that many points, distances are kept to an even choice of them only
constexpr int rounds = 40;

struct Term {
  int from = 0;
  int to = 0;
  double distance = 0;
};

std::vector<int> distances_from(int start, const std::vector<std::vector<int>>& neighbours) {
  std::vector<int> distance(neighbours.size(), unreached);
  std::vector<int> queue{start};
  distance[start] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (const int next : neighbours[queue[head]]) {
      if (distance[next] != unreached) continue;
      distance[next] = distance[queue[head]] + 1;
      queue.push_back(next);
    }
  }
  return distance;
}

std::vector<Term> terms_of(int points, const std::vector<Link>& links) {
  std::vector<std::vector<int>> neighbours(points);
  std::vector<Term> terms;
  for (const auto& link : links) {
    neighbours[link.from].push_back(link.to);
    neighbours[link.to].push_back(link.from);
    if (points > most_pivots) terms.push_back({link.from, link.to, 1});
  }
  const int pivots = std::min(points, most_pivots);
  const double apart = 2 + std::sqrt(points);
  for (int k = 0; k < pivots; ++k) {
    const int pivot = static_cast<int>(std::int64_t(k) * points / pivots);
    const auto distance = distances_from(pivot, neighbours);
    for (int p = points > most_pivots ? 0 : pivot + 1; p < points; ++p) {
      if (p != pivot) terms.push_back({pivot, p, distance[p] == unreached ? apart : distance[p]});
    }
  }
  return terms;
}

}  // namespace

std::vector<Position> spread(int points, const std::vector<Link>& links) {
  base::Random random(7);
  std::vector<Position> positions(points);
  for (auto& position : positions) position = {random.uniform() * 10, random.uniform() * 10};
  auto terms = terms_of(points, links);
  double longest = 1;
  for (const auto& term : terms) longest = std::max(longest, term.distance);
  // Steps shrink from moving the farthest pair all the way to settling neighbours.
  const double first = longest * longest, last = 0.1;
  for (int round = 0; round < rounds; ++round) {
    const double step = first * std::pow(last / first, double(round) / (rounds - 1));
    for (std::size_t k = terms.size(); k > 1; --k)
      std::swap(terms[k - 1], terms[random.below(static_cast<std::uint32_t>(k))]);
    for (const auto& [from, to, distance] : terms) {
      Position& a = positions[from];
      Position& b = positions[to];
      const double dx = a.x - b.x, dy = a.y - b.y;
      const double now = std::max(1e-6, std::hypot(dx, dy));
      const double share = std::min(1.0, step / (distance * distance)) * (now - distance) / (2 * now);
      a = {a.x - share * dx, a.y - share * dy};
      b = {b.x + share * dx, b.y + share * dy};
    }
  }
  return positions;
}

}  // namespace plated::draw
