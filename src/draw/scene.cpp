// From a graph to its scene: labels, tooltips, and the forbidden minor marked.
#include "draw/scene.hpp"

#include <algorithm>

namespace plated::draw {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text.append(text.empty() ? "" : " ").append(word);
  return text;
}

class SceneMaker {
 public:
  SceneMaker(const FactorGraph& graph, const DrawOptions& options) : graph_(graph), options_(options) {}

  Scene make(const Certificate* certificate) {
    scene_.title = options_.title;
    number_dims();
    add_variables();
    for (std::size_t f = 0; f < graph_.factors().size(); ++f) add_factor(f);
    if (certificate != nullptr) mark(*certificate);
    if (options_.caption) add_caption();
    return std::move(scene_);
  }

 private:
  void number_dims() {
    const auto& dims = graph_.dims();
    index_.assign(dims.size(), -1);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (!has_slices(dims[d].kind)) continue;
      index_[d] = static_cast<int>(scene_.plates.size());
      scene_.plates.push_back({.name = dims[d].name, .label = label_of(dims[d])});
    }
  }

  std::string label_of(const Dim& dim) const {
    std::string label = dim.name;
    if (options_.sizes) label.append(" = ").append(std::to_string(dim.size));
    if (dim.kind == DimKind::chain) label.append(" →");
    return label;
  }

  std::vector<int> plate_indices(const std::vector<DimId>& plates) const {
    std::vector<int> indices;
    for (const DimId plate : plates) indices.push_back(index_[plate]);
    std::sort(indices.begin(), indices.end());
    return indices;
  }

  std::string names_of(const std::vector<DimId>& dims) const {
    std::vector<std::string> words;
    for (const DimId dim : dims) words.push_back(graph_.dims()[dim].name);
    return joined(words);
  }

  void add_variables() {
    const auto& dims = graph_.dims();
    const auto plates = graph_.variable_plates();
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (dims[d].kind != DimKind::variable) continue;
      Node node{.is_variable = true, .name = dims[d].name, .label = dims[d].name, .plates = plate_indices(plates[d])};
      node.tooltip = dims[d].name + ": " + std::to_string(dims[d].size) + (dims[d].size == 1 ? " state" : " states");
      if (!plates[d].empty()) node.tooltip.append(", in ").append(names_of(plates[d]));
      for (const auto& output : graph_.outputs()) {
        node.ringed |= std::find(output.dims.begin(), output.dims.end(), DimId(d)) != output.dims.end();
      }
      index_[d] = static_cast<int>(scene_.nodes.size());
      scene_.nodes.push_back(std::move(node));
    }
  }

  void add_factor(std::size_t f) {
    const Factor& factor = graph_.factors()[f];
    Node node{.hollow = !factor.tied.empty(), .name = factor.name, .plates = plate_indices(graph_.factor_plates(f))};
    std::vector<DimId> batch;
    for (const DimId dim : factor.dims) {
      if (graph_.dims()[dim].kind == DimKind::batch) batch.push_back(dim);
    }
    if (options_.factor_names) {
      // As an equation spells it: tied dims in parentheses; batch axes in brackets, as no box shows them.
      node.label = factor.name;
      if (!factor.tied.empty()) node.label.append(" (").append(names_of(factor.tied)).append(")");
      if (!batch.empty()) node.label.append(" [").append(names_of(batch)).append("]");
    }
    node.tooltip = factor.name + ": ";
    if (!factor.tied.empty()) node.tooltip.append("(").append(names_of(factor.tied)).append(") ");
    node.tooltip += names_of(factor.dims);
    const int at = static_cast<int>(scene_.nodes.size());
    for (const DimId variable : graph_.factor_variables(f)) scene_.edges.push_back({index_[variable], at});
    scene_.nodes.push_back(std::move(node));
  }

  int node_named(const std::string& name, bool is_variable) const {
    for (std::size_t n = 0; n < scene_.nodes.size(); ++n) {
      if (scene_.nodes[n].is_variable == is_variable && scene_.nodes[n].name == name) return static_cast<int>(n);
    }
    throw UnknownNameError("the certificate names the " + std::string(is_variable ? "variable" : "factor") + " '" +
                           name + "', which the graph does not have");
  }

  Plate& plate_named(const std::string& name) {
    for (auto& plate : scene_.plates) {
      if (plate.name == name) return plate;
    }
    throw UnknownNameError("the certificate names the plate '" + name + "', which the graph does not have");
  }

  Edge* edge(int variable, int factor) {
    for (auto& edge : scene_.edges) {
      if (edge.variable == variable && edge.factor == factor) return &edge;
    }
    return nullptr;
  }

  void mark_edge(int variable, int factor) {
    scene_.nodes[variable].marked = true;
    scene_.nodes[factor].marked = true;
    if (Edge* found = edge(variable, factor)) found->marked = true;
  }

  /// Marks u, the path of factors with one shared variable of both plates between neighbours, and w.
  void mark(const Certificate& certificate) {
    Plate& a = plate_named(certificate.a);
    Plate& b = plate_named(certificate.b);
    a.marked = b.marked = true;
    const int both[] = {static_cast<int>(&a - scene_.plates.data()), static_cast<int>(&b - scene_.plates.data())};
    std::vector<int> path;
    for (const auto& name : certificate.factors) path.push_back(node_named(name, false));
    const int u = node_named(certificate.u, true);
    const int w = node_named(certificate.w, true);
    scene_.nodes[u].marked = scene_.nodes[w].marked = true;
    if (path.empty()) return;
    mark_edge(u, path.front());
    mark_edge(w, path.back());
    for (std::size_t k = 0; k + 1 < path.size(); ++k) {
      for (int v = 0; v < static_cast<int>(scene_.nodes.size()); ++v) {
        const auto& plates = scene_.nodes[v].plates;
        const bool inside = std::all_of(std::begin(both), std::end(both), [&](int plate) {
          return std::find(plates.begin(), plates.end(), plate) != plates.end();
        });
        if (!inside || edge(v, path[k]) == nullptr || edge(v, path[k + 1]) == nullptr) continue;
        mark_edge(v, path[k]);
        mark_edge(v, path[k + 1]);
        break;
      }
    }
  }

  void add_caption() {
    std::vector<std::string> notes;
    for (const auto& dim : graph_.dims()) {
      if (dim.kind != DimKind::batch) continue;
      notes.push_back(std::string("batch ").append(label_of(dim)));
    }
    const auto any = [&](auto&& has) { return std::any_of(scene_.nodes.begin(), scene_.nodes.end(), has); };
    if (any([](const Node& node) { return node.hollow; })) notes.push_back("hollow square: tied");
    if (any([](const Node& node) { return node.ringed; })) notes.push_back("double ring: kept in an output");
    if (any([](const Node& node) { return node.marked; })) notes.push_back("red: why it is intractable");
    for (const auto& note : notes) scene_.caption.append(scene_.caption.empty() ? "" : " · ").append(note);
  }

  const FactorGraph& graph_;
  const DrawOptions& options_;
  Scene scene_;
  std::vector<int> index_;  ///< of a dim: its plate's index or its variable's node
};

}  // namespace

Scene make_scene(const FactorGraph& graph, const Certificate* certificate, const DrawOptions& options) {
  return SceneMaker(graph, options).make(certificate);
}

}  // namespace plated::draw
