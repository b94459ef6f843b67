// Greedy elimination with scores kept up to date edge by edge, so that a pass is near linear in the edges it adds.
#include "planner/order_min_fill.hpp"

#include <algorithm>
#include <queue>

#include "base/watch.hpp"

namespace plated::planner {
namespace {

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
        version_(neighbours_.size(), 0),
        mark_(neighbours_.size(), 0) {}

  std::vector<std::uint32_t> run() {
    for (const std::uint32_t d : graph_.used) {
      initial_scores(d);
      push(d);
    }
    std::vector<std::uint32_t> order;
    order.reserve(graph_.used.size());
    while (!heap_.empty()) {
      const Entry best = heap_.top();
      heap_.pop();
      if (best.version != version_[best.dim]) continue;
      order.push_back(best.dim);
      eliminate(best.dim);
    }
    return order;
  }

 private:
  struct Entry {
    double score;
    std::uint64_t tie;
    std::uint32_t dim;
    std::uint32_t version;
    bool operator<(const Entry& other) const {
      if (score != other.score) return score > other.score;
      return tie != other.tie ? tie > other.tie : dim > other.dim;
    }
  };

  [[nodiscard]] bool by_size() const { return options_.rule == EliminationRule::size; }

  void push(std::uint32_t d) {
    double score = by_size() ? clique_[d] : fill_[d];
    std::uint64_t tie = 0;
    if (options_.noise > 0) {
      score *= 1 + options_.noise * random_.uniform();
      tie = random_.bits();
    }
    heap_.push({score, tie, d, version_[d]});
  }

  /// Notes that a dim's score changed; it is pushed anew once the elimination is through.
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

  /// Adds an edge: it fills a gap for the common neighbours, and opens gaps for its ends.
  void connect(std::uint32_t x, std::uint32_t y) {
    std::vector<std::uint32_t>& near_x = neighbours_[x];
    std::vector<std::uint32_t>& near_y = neighbours_[y];
    if (!by_size()) {
      std::size_t i = 0;
      std::size_t j = 0;
      while (i < near_x.size() || j < near_y.size()) {
        if (j == near_y.size() || (i < near_x.size() && near_x[i] < near_y[j])) {
          fill_[x] += weight_[near_x[i++]] * weight_[y];
        } else if (i == near_x.size() || near_y[j] < near_x[i]) {
          fill_[y] += weight_[near_y[j++]] * weight_[x];
        } else {
          fill_[near_x[i]] -= weight_[x] * weight_[y];
          touch(near_x[i]);
          ++i;
          ++j;
        }
      }
    }
    clique_[x] += graph_.log2_size[y];
    clique_[y] += graph_.log2_size[x];
    near_x.insert(std::lower_bound(near_x.begin(), near_x.end(), y), y);
    near_y.insert(std::lower_bound(near_y.begin(), near_y.end(), x), x);
  }

  /// Takes d out of its neighbour's list, and the gaps that it made there with it.
  void detach(std::uint32_t d, std::uint32_t neighbour) {
    std::vector<std::uint32_t>& list = neighbours_[neighbour];
    const std::vector<std::uint32_t>& near = neighbours_[d];
    if (!by_size()) {
      auto at = near.begin();
      for (const std::uint32_t e : list) {
        while (at != near.end() && *at < e) ++at;
        if (e != d && (at == near.end() || *at != e)) fill_[neighbour] -= weight_[d] * weight_[e];
      }
    }
    clique_[neighbour] -= graph_.log2_size[d];
    list.erase(std::lower_bound(list.begin(), list.end(), d));
    touch(neighbour);
  }

  void eliminate(std::uint32_t d) {
    const std::vector<std::uint32_t> near = neighbours_[d];
    for (std::size_t i = 0; i < near.size(); ++i) {
      base::check_wanted();
      missing_.clear();
      const std::vector<std::uint32_t>& list = neighbours_[near[i]];
      std::set_difference(near.begin() + static_cast<std::ptrdiff_t>(i) + 1, near.end(), list.begin(), list.end(),
                          std::back_inserter(missing_));
      for (const std::uint32_t e : missing_) connect(near[i], e);
    }
    for (const std::uint32_t e : near) detach(d, e);
    ++version_[d];
    for (const std::uint32_t e : touched_) {
      mark_[e] = 0;
      if (e == d) continue;
      ++version_[e];
      push(e);
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
  std::vector<std::uint32_t> version_;
  std::vector<char> mark_;
  std::vector<std::uint32_t> touched_;
  std::vector<std::uint32_t> missing_;
  std::priority_queue<Entry> heap_;
};

}  // namespace

std::vector<std::uint32_t> min_fill_order(const DimGraph& graph, const EliminationOptions& options,
                                          base::Random& random) {
  return EliminationPass(graph, options, random).run();
}

}  // namespace plated::planner
