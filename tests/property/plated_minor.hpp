// Minors of plated graphs, taken literally from [TVE] Sec. 4.1: a search over edits that knows nothing of the planner.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace plated::test {

/// An undirected graph whose vertices are labelled by sets of plates, bit b for plate b.
struct PlatedGraph {
  struct Vertex {
    std::uint32_t plates = 0;
    bool variables = false;  // it is a variable, or a merged vertex that includes one
    std::uint32_t neighbours = 0;
  };
  std::vector<Vertex> vertices;

  void connect(std::size_t a, std::size_t b) {
    vertices[a].neighbours |= 1U << b;
    vertices[b].neighbours |= 1U << a;
  }
  [[nodiscard]] bool adjacent(std::size_t a, std::size_t b) const { return (vertices[a].neighbours >> b & 1U) != 0; }
};

/// Whether a graph can be edited into the forbidden one. Remembers every graph it has seen, so that a closed family of
/// graphs is searched once. At most 6 vertices and 4 plates.
class MinorSearch {
 public:
  static constexpr std::uint32_t plates = 4;

  bool has_forbidden_minor(const PlatedGraph& graph) {
    const PlatedGraph sorted = in_order(graph);
    const std::uint64_t key = key_of(sorted);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    const bool found = is_forbidden(sorted) || some_edit_has_it(sorted);
    known_.emplace(key, found);
    return found;
  }

  [[nodiscard]] std::size_t graphs_seen() const { return known_.size(); }

 private:
  /// ({u, v, w}, {(u, v), (v, w)}, P) with P(u) = {a}, P(v) = {a, b}, P(w) = {b}, where u and w include variables.
  static bool is_forbidden(const PlatedGraph& graph) {
    if (graph.vertices.size() != 3) return false;
    std::array<std::size_t, 3> order{0, 1, 2};
    do {
      const auto [u, v, w] = order;
      const auto& of = graph.vertices;
      if (graph.adjacent(u, v) && graph.adjacent(v, w) && !graph.adjacent(u, w) && of[u].variables && of[w].variables &&
          is_single(of[u].plates) && is_single(of[w].plates) && of[u].plates != of[w].plates &&
          of[v].plates == (of[u].plates | of[w].plates)) {
        return true;
      }
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
  }

  static bool is_single(std::uint32_t set) { return set != 0 && (set & (set - 1)) == 0; }

  bool some_edit_has_it(const PlatedGraph& graph) {
    const std::size_t n = graph.vertices.size();
    if (n < 3) return false;  // every edit keeps or lowers the number of vertices, and the forbidden graph has three
    for (std::size_t a = 0; a < n; ++a) {
      if (has_forbidden_minor(without_vertex(graph, a))) return true;
      for (std::size_t b = a + 1; b < n; ++b) {
        if (!graph.adjacent(a, b)) continue;
        if (has_forbidden_minor(without_edge(graph, a, b))) return true;
        if (graph.vertices[a].plates == graph.vertices[b].plates && has_forbidden_minor(merged(graph, a, b)))
          return true;
      }
    }
    std::uint32_t used = 0;
    for (const auto& vertex : graph.vertices) used |= vertex.plates;
    for (std::uint32_t p = 0; p < plates; ++p) {
      if ((used >> p & 1U) != 0 && has_forbidden_minor(without_plate(graph, p))) return true;
    }
    return false;
  }

  static PlatedGraph without_vertex(const PlatedGraph& graph, std::size_t gone) {
    std::vector<std::size_t> kept;
    for (std::size_t k = 0; k < graph.vertices.size(); ++k) {
      if (k != gone) kept.push_back(k);
    }
    return picked(graph, kept);
  }

  static PlatedGraph without_edge(PlatedGraph graph, std::size_t a, std::size_t b) {
    graph.vertices[a].neighbours &= ~(1U << b);
    graph.vertices[b].neighbours &= ~(1U << a);
    return graph;
  }

  static PlatedGraph without_plate(PlatedGraph graph, std::uint32_t plate) {
    for (auto& vertex : graph.vertices) vertex.plates &= ~(1U << plate);
    return graph;
  }

  static PlatedGraph merged(PlatedGraph graph, std::size_t a, std::size_t b) {
    graph.vertices[a].variables = graph.vertices[a].variables || graph.vertices[b].variables;
    for (std::size_t k = 0; k < graph.vertices.size(); ++k) {
      if (k != a && k != b && graph.adjacent(b, k)) graph.connect(a, k);
    }
    return without_vertex(graph, b);
  }

  /// The vertices listed, in that order.
  static PlatedGraph picked(const PlatedGraph& graph, const std::vector<std::size_t>& order) {
    PlatedGraph result;
    for (const std::size_t k : order)
      result.vertices.push_back({graph.vertices[k].plates, graph.vertices[k].variables, 0});
    for (std::size_t a = 0; a < order.size(); ++a) {
      for (std::size_t b = a + 1; b < order.size(); ++b) {
        if (graph.adjacent(order[a], order[b])) result.connect(a, b);
      }
    }
    return result;
  }

  /// Sorted by what does not depend on the numbering, so that most isomorphic graphs are seen once.
  static PlatedGraph in_order(const PlatedGraph& graph) {
    std::vector<std::pair<std::uint64_t, std::size_t>> order;
    for (std::size_t k = 0; k < graph.vertices.size(); ++k) {
      std::uint64_t around = 0;
      for (std::size_t b = 0; b < graph.vertices.size(); ++b) {
        if (graph.adjacent(k, b)) around += std::uint64_t{1} << (3 * graph.vertices[b].plates);
      }
      order.emplace_back(around * 64 + graph.vertices[k].plates * 2 + (graph.vertices[k].variables ? 1 : 0), k);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::size_t> vertices;
    for (const auto& [weight, k] : order) vertices.push_back(k);
    return picked(graph, vertices);
  }

  static std::uint64_t key_of(const PlatedGraph& graph) {
    std::uint64_t key = graph.vertices.size();
    for (std::size_t a = 0; a < graph.vertices.size(); ++a) {
      key = key * 32 + graph.vertices[a].plates * 2 + (graph.vertices[a].variables ? 1 : 0);
    }
    for (std::size_t a = 0; a < graph.vertices.size(); ++a) {
      for (std::size_t b = a + 1; b < graph.vertices.size(); ++b) key = key * 2 + (graph.adjacent(a, b) ? 1 : 0);
    }
    return key;
  }

  std::unordered_map<std::uint64_t, bool> known_;
};

/// The same without a search, for graphs of up to 32 vertices: some connected set of vertices, all in plates a and b,
/// has a neighbour with variables in a alone of the two and another in b alone. Merging takes such a set to v; u and w
/// need no merging, since a variable's plates are within its factors', so only a variable can be the neighbour.
inline bool is_entangled(const PlatedGraph& graph, std::uint32_t plates) {
  const std::size_t n = graph.vertices.size();
  for (std::uint32_t a = 0; a < plates; ++a) {
    for (std::uint32_t b = a + 1; b < plates; ++b) {
      const std::uint32_t both = 1U << a | 1U << b;
      std::uint32_t seen = 0;
      for (std::size_t first = 0; first < n; ++first) {
        if ((graph.vertices[first].plates & both) != both || (seen >> first & 1U) != 0) continue;
        bool beside_a = false;
        bool beside_b = false;
        std::vector<std::size_t> stack{first};
        seen |= 1U << first;
        while (!stack.empty()) {
          const std::size_t k = stack.back();
          stack.pop_back();
          for (std::size_t next = 0; next < n; ++next) {
            if (!graph.adjacent(k, next)) continue;
            const std::uint32_t shared = graph.vertices[next].plates & both;
            beside_a = beside_a || (shared == 1U << a && graph.vertices[next].variables);
            beside_b = beside_b || (shared == 1U << b && graph.vertices[next].variables);
            if (shared != both || (seen >> next & 1U) != 0) continue;
            seen |= 1U << next;
            stack.push_back(next);
          }
        }
        if (beside_a && beside_b) return true;
      }
    }
  }
  return false;
}

}  // namespace plated::test
