// Marks the nodes and plates of a certificate in a scene.
#include <algorithm>

#include "draw/scene.hpp"

namespace plated::draw {
namespace {

int node_named(const Scene& scene, const std::string& name, bool is_variable) {
  for (std::size_t n = 0; n < scene.nodes.size(); ++n) {
    if (scene.nodes[n].is_variable == is_variable && scene.nodes[n].name == name) return static_cast<int>(n);
  }
  throw UnknownNameError("the certificate names the " + std::string(is_variable ? "variable" : "factor") + " '" + name +
                         "', which the graph does not have");
}

int plate_named(const Scene& scene, const std::string& name) {
  for (std::size_t p = 0; p < scene.plates.size(); ++p) {
    if (scene.plates[p].name == name) return static_cast<int>(p);
  }
  throw UnknownNameError("the certificate names the plate '" + name + "', which the graph does not have");
}

Edge* edge_of(Scene& scene, int variable, int factor) {
  for (auto& edge : scene.edges) {
    if (edge.kind == Edge::Kind::plain && edge.from == variable && edge.to == factor) return &edge;
  }
  return nullptr;
}

void mark_edge(Scene& scene, int variable, int factor) {
  scene.nodes[variable].marked = true;
  scene.nodes[factor].marked = true;
  if (Edge* found = edge_of(scene, variable, factor)) found->marked = true;
}

}  // namespace

void mark(Scene& scene, const Certificate& certificate) {
  const int both[] = {plate_named(scene, certificate.a), plate_named(scene, certificate.b)};
  for (const int plate : both) scene.plates[plate].marked = true;
  std::vector<int> path;
  for (const auto& name : certificate.factors) path.push_back(node_named(scene, name, false));
  const int u = node_named(scene, certificate.u, true);
  const int w = node_named(scene, certificate.w, true);
  scene.nodes[u].marked = scene.nodes[w].marked = true;
  if (path.empty()) return;
  mark_edge(scene, u, path.front());
  mark_edge(scene, w, path.back());
  for (std::size_t k = 0; k + 1 < path.size(); ++k) {
    for (int v = 0; v < static_cast<int>(scene.nodes.size()); ++v) {
      const auto& plates = scene.nodes[v].plates;
      const bool inside = std::all_of(std::begin(both), std::end(both), [&](int plate) {
        return std::find(plates.begin(), plates.end(), plate) != plates.end();
      });
      if (!inside || edge_of(scene, v, path[k]) == nullptr || edge_of(scene, v, path[k + 1]) == nullptr) continue;
      mark_edge(scene, v, path[k]);
      mark_edge(scene, v, path[k + 1]);
      break;
    }
  }
}

}  // namespace plated::draw
