// Greedy elimination with scores kept up to date edge by edge, so that a pass is near linear in the edges it adds.
#include "planner/order_min_fill.hpp"

#include <algorithm>
#include <vector>

#include "base/watch.hpp"

namespace plated::planner {
namespace {

constexpr std::uint32_t nowhere = 0xFFFFFFFFu;

/// Dims by their scores, each once: a score that changes moves its dim.
class ScoreHeap {
 public:
  explicit ScoreHeap(std::size_t dims) : place_(dims, nowhere) {}

  [[nodiscard]] bool empty() const { return entries_.empty(); }

  /// Ties go to the smaller dim.
  void set(std::uint32_t dim, double score, std::uint64_t tie) {
    if (place_[dim] == nowhere) {
      place_[dim] = static_cast<std::uint32_t>(entries_.size());
      entries_.push_back({score, tie, dim});
    }
    const Entry entry{score, tie, dim};
    const std::size_t place = raise(place_[dim], entry);
    put(lower(place, entry), entry);
  }

  /// Takes out the dim with the lowest score.
  std::uint32_t pop() {
    const std::uint32_t dim = entries_.front().dim;
    const Entry last = entries_.back();
    entries_.pop_back();
    place_[dim] = nowhere;
    if (!entries_.empty()) put(lower(0, last), last);
    return dim;
  }

 private:
  struct Entry {
    double score;
    std::uint64_t tie;
    std::uint32_t dim;
    bool operator<(const Entry& other) const {
      if (score != other.score) return score < other.score;
      return tie != other.tie ? tie < other.tie : dim < other.dim;
    }
  };

  void put(std::size_t place, const Entry& entry) {
    entries_[place] = entry;
    place_[entry.dim] = static_cast<std::uint32_t>(place);
  }
  /// Where an entry belongs on the way from a place to the top; those above it move down.
  std::size_t raise(std::size_t place, const Entry& entry) {
    while (place > 0) {
      const std::size_t above = (place - 1) / 2;
      if (!(entry < entries_[above])) break;
      put(place, entries_[above]);
      place = above;
    }
    return place;
  }
  /// The same on the way down.
  std::size_t lower(std::size_t place, const Entry& entry) {
    for (std::size_t child = 2 * place + 1; child < entries_.size(); child = 2 * place + 1) {
      if (child + 1 < entries_.size() && entries_[child + 1] < entries_[child]) ++child;
      if (!(entries_[child] < entry)) break;
      put(place, entries_[child]);
      place = child;
    }
    return place;
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> place_;  // [dim]: in entries_
};

class EliminationPass {
 public:
  EliminationPass(const DimGraph& graph, const EliminationOptions& options, base::Random& random)
      : graph_(graph),
        options_(options),
        random_(random),
        neighbours_(graph.neighbours),
        weight_(options.rule == EliminationRule::fill ? std::vector<double>(graph.log2_size.size(), 1.0)
                                                      : graph.log2_size),
        fill_(neighbours_.size(), 0.0),
        clique_(graph.log2_size),
        mark_(neighbours_.size(), 0),
        near_end_(neighbours_.size(), nowhere),
        near_other_end_(neighbours_.size(), 0),
        heap_(neighbours_.size()) {}

  std::vector<std::uint32_t> run() {
    for (const std::uint32_t d : graph_.used) {
      initial_scores(d);
      push(d);
    }
    std::vector<std::uint32_t> order;
    order.reserve(graph_.used.size());
    while (!heap_.empty()) {
      order.push_back(heap_.pop());
      eliminate(order.back());
    }
    return order;
  }

 private:
  [[nodiscard]] bool by_size() const { return options_.rule == EliminationRule::size; }

  void push(std::uint32_t d) {
    double score = by_size() ? clique_[d] : fill_[d];
    std::uint64_t tie = 0;
    if (options_.noise > 0) {
      score *= 1 + options_.noise * random_.uniform();
      tie = random_.bits();
    }
    heap_.set(d, score, tie);
  }

  /// Notes that a dim's score changed; its place changes once the elimination is through.
  void touch(std::uint32_t d) {
    if (mark_[d]) return;
    mark_[d] = 1;
    touched_.push_back(d);
  }

  void initial_scores(std::uint32_t d) {
    base::check_wanted();
    double sum = 0;
    double squares = 0;
    for (const std::uint32_t e : neighbours_[d]) {
      clique_[d] += graph_.log2_size[e];
      sum += weight_[e];
      squares += weight_[e] * weight_[e];
      mark_[e] = 1;
    }
    if (!by_size()) {
      double present = 0;  // each edge between neighbours twice
      for (const std::uint32_t e : neighbours_[d]) {
        for (const std::uint32_t f : neighbours_[e]) present += mark_[f] ? weight_[e] * weight_[f] : 0.0;
      }
      fill_[d] = (sum * sum - squares - present) / 2;
    }
    for (const std::uint32_t e : neighbours_[d]) mark_[e] = 0;
  }

  /// Adds an edge from x, whose neighbours are marked: it fills a gap for the common neighbours, and opens gaps for its
  /// ends. Sums are formed in the order of the dims, as rounding depends on it; a gap of zero leaves them as they are.
  void connect(std::uint32_t x, std::uint32_t y) {
    std::vector<std::uint32_t>& near_x = neighbours_[x];
    std::vector<std::uint32_t>& near_y = neighbours_[y];
    if (!by_size()) {
      const double weight_x = weight_[x];
      const double weight_y = weight_[y];
      const std::uint32_t mark = ++marks_;
      double fill = fill_[y];
      for (const std::uint32_t e : near_y) {
        near_other_end_[e] = mark;
        if (near_end_[e] == x) {
          fill_[e] -= weight_x * weight_y;
          touch(e);
        } else {
          fill += weight_[e] * weight_x;
        }
      }
      fill_[y] = fill;
      fill = fill_[x];
      for (const std::uint32_t e : near_x) fill += near_other_end_[e] == mark ? 0.0 : weight_[e] * weight_y;
      fill_[x] = fill;
    }
    clique_[x] += graph_.log2_size[y];
    clique_[y] += graph_.log2_size[x];
    near_x.insert(std::lower_bound(near_x.begin(), near_x.end(), y), y);
    near_y.insert(std::lower_bound(near_y.begin(), near_y.end(), x), x);
    near_end_[y] = x;
  }

  /// Takes d out of its neighbour's list, and the gaps that it made there with it. The neighbours of d are marked.
  void detach(std::uint32_t d, std::uint32_t neighbour) {
    std::vector<std::uint32_t>& list = neighbours_[neighbour];
    if (!by_size()) {
      double fill = fill_[neighbour];
      for (const std::uint32_t e : list) fill -= near_end_[e] == d || e == d ? 0.0 : weight_[d] * weight_[e];
      fill_[neighbour] = fill;
    }
    clique_[neighbour] -= graph_.log2_size[d];
    list.erase(std::lower_bound(list.begin(), list.end(), d));
    touch(neighbour);
  }

  void mark_neighbours(std::uint32_t d) {
    for (const std::uint32_t e : neighbours_[d]) near_end_[e] = d;
  }

  void eliminate(std::uint32_t d) {
    const std::vector<std::uint32_t>& near = neighbours_[d];
    for (std::size_t i = 0; i < near.size(); ++i) {
      base::check_wanted();
      mark_neighbours(near[i]);
      for (std::size_t j = i + 1; j < near.size(); ++j) {
        if (near_end_[near[j]] != near[i]) connect(near[i], near[j]);
      }
    }
    mark_neighbours(d);
    for (const std::uint32_t e : near) detach(d, e);
    for (const std::uint32_t e : touched_) {
      mark_[e] = 0;
      if (e != d) push(e);
    }
    touched_.clear();
  }

  const DimGraph& graph_;
  const EliminationOptions& options_;
  base::Random& random_;
  std::vector<std::vector<std::uint32_t>> neighbours_;
  std::vector<double> weight_;
  std::vector<double> fill_;    // [dim]: weight of the edges that its elimination would add
  std::vector<double> clique_;  // [dim]: log2 size of it and its neighbours
  std::vector<char> mark_;
  std::vector<std::uint32_t> touched_;
  std::vector<std::uint32_t> near_end_;        // [dim]: the last dim whose marked neighbours have it among them
  std::vector<std::uint32_t> near_other_end_;  // [dim]: the last mark of the other end's neighbours
  std::uint32_t marks_ = 0;
  ScoreHeap heap_;
};

}  // namespace

std::vector<std::uint32_t> min_fill_order(const DimGraph& graph, const EliminationOptions& options,
                                          base::Random& random) {
  return EliminationPass(graph, options, random).run();
}

}  // namespace plated::planner
