// Turns a graph into a scene: variables, factors or arrows, links and ends, with labels, tooltips and a caption.
#include "draw/scene.hpp"

#include <algorithm>

#include "draw/distributions.hpp"

namespace plated::draw {
namespace {

class SceneMaker {
 public:
  SceneMaker(const FactorGraph& graph, const DrawOptions& options) : graph_(graph), options_(options) {}

  Scene make(const Certificate* certificate) {
    scene_.title = options_.title;
    number_plates();
    add_variables();
    const auto targets = arrow_targets(graph_, certificate, options_);
    for (std::size_t f = 0; f < targets.size(); ++f) {
      if (targets[f]) {
        add_arrows(f, *targets[f]);
      } else {
        add_factor(f);
      }
    }
    add_links();
    add_ends();
    if (certificate != nullptr) mark(scene_, *certificate);
    if (options_.caption) add_notes();
    return std::move(scene_);
  }

 private:
  void number_plates() {
    const auto& dims = graph_.dims();
    index_.assign(dims.size(), -1);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (!has_slices(dims[d].kind)) continue;
      index_[d] = static_cast<int>(scene_.plates.size());
      const bool is_chain = dims[d].kind == DimKind::chain;
      scene_.plates.push_back(
          {.name = dims[d].name, .label = sized(dims[d]) + (is_chain ? " →" : ""), .is_chain = is_chain});
    }
  }

  std::string sized(const Dim& dim) const {
    return options_.sizes ? dim.name + " = " + std::to_string(dim.size) : dim.name;
  }

  /// What a dim is called on the picture; an end is called after its variable.
  std::string label_of(DimId dim) const {
    const Dim& of = graph_.dims()[dim];
    if (const auto found = options_.labels.find(of.name); found != options_.labels.end()) return found->second;
    if (of.end == End::none) return of.name;
    return of.end == End::first ? first(label_of(of.of)) : last(label_of(of.of));
  }

  std::vector<int> plate_indices(const std::vector<DimId>& plates) const {
    std::vector<int> indices;
    for (const DimId plate : plates) indices.push_back(index_[plate]);
    std::sort(indices.begin(), indices.end());
    return indices;
  }

  std::string labels_of(const std::vector<DimId>& dims) const {
    std::string text;
    for (const DimId dim : dims) text.append(text.empty() ? "" : " ").append(label_of(dim));
    return text;
  }

  bool is_observed(const Dim& dim) const {
    return options_.observed.contains(dim.name) ||
           (dim.end != End::none && options_.observed.contains(graph_.dims()[dim.of].name));
  }

  void add_variables() {
    const auto& dims = graph_.dims();
    for (const auto& name : options_.observed) {
      const auto found = graph_.find(name);
      if (!found || dims[*found].kind != DimKind::variable)
        throw UnknownNameError("the graph has no variable '" + name + "' that could be observed");
    }
    const auto plates = graph_.variable_plates();
    for (DimId d = 0; d < dims.size(); ++d) {
      if (dims[d].kind != DimKind::variable) continue;
      Node node{.is_variable = true,
                .observed = is_observed(dims[d]),
                .is_end = dims[d].end != End::none,
                .name = dims[d].name,
                .label = label_of(d),
                .plates = plate_indices(plates[d])};
      node.tooltip = node.label + ": " + std::to_string(dims[d].size) + (dims[d].size == 1 ? " state" : " states");
      if (!plates[d].empty()) node.tooltip.append(", in ").append(labels_of(plates[d]));
      for (const auto& output : graph_.outputs()) {
        node.ringed |= std::find(output.dims.begin(), output.dims.end(), d) != output.dims.end();
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
      if (!factor.tied.empty()) node.label.append(" (").append(labels_of(factor.tied)).append(")");
      if (!batch.empty()) node.label.append(" [").append(labels_of(batch)).append("]");
    }
    node.tooltip = factor.name + ": ";
    if (!factor.tied.empty()) node.tooltip.append("(").append(labels_of(factor.tied)).append(") ");
    node.tooltip += labels_of(factor.dims);
    const int at = static_cast<int>(scene_.nodes.size());
    for (const DimId variable : graph_.factor_variables(f)) scene_.edges.push_back({index_[variable], at});
    scene_.nodes.push_back(std::move(node));
  }

  void add_arrows(std::size_t f, DimId child) {
    std::vector<DimId> parents = graph_.factor_variables(f);
    std::erase(parents, child);
    for (const DimId parent : parents) {
      scene_.edges.push_back({.from = index_[parent], .to = index_[child], .kind = Edge::Kind::arrow});
    }
    if (!parents.empty()) scene_.nodes[index_[child]].tooltip.append(", given ").append(labels_of(parents));
  }

  void add_links() {
    for (const auto& chain : graph_.chains()) {
      for (const auto& link : chain.links) {
        scene_.edges.push_back({.from = index_[link.target],
                                .to = index_[link.source],
                                .kind = Edge::Kind::link,
                                .plate = index_[chain.dim],
                                .label = "next " + graph_.dims()[chain.dim].name});
      }
    }
  }

  void add_ends() {
    for (DimId d = 0; d < graph_.dims().size(); ++d) {
      const Dim& dim = graph_.dims()[d];
      if (dim.end == End::none) continue;
      scene_.edges.push_back({.from = index_[d], .to = index_[dim.of], .kind = Edge::Kind::end});
    }
  }

  void add_notes() {
    auto& notes = scene_.notes;
    for (const auto& dim : graph_.dims()) {
      if (dim.kind == DimKind::batch) notes.push_back("batch " + sized(dim));
    }
    const auto any = [&](auto&& has) { return std::any_of(scene_.nodes.begin(), scene_.nodes.end(), has); };
    if (any([](const Node& node) { return node.observed; })) notes.push_back("grey: observed");
    if (any([](const Node& node) { return node.hollow; })) notes.push_back("hollow square: tied");
    if (any([](const Node& node) { return node.ringed; })) notes.push_back("double ring: kept in an output");
    for (const auto& chain : graph_.chains()) {
      if (chain.links.empty()) continue;
      std::string targets, sources;
      for (const auto& [source, target] : chain.links) {
        targets.append(targets.empty() ? "" : ", ").append(label_of(target));
        sources.append(sources.empty() ? "" : ", ").append(label_of(source));
      }
      std::string note = "dashed arrow: ";
      note.append(targets).append(chain.links.size() == 1 ? " is " : " are ").append(sources);
      notes.push_back(note.append(" of the next ").append(graph_.dims()[chain.dim].name));
    }
    if (any([](const Node& node) { return node.is_end; }))
      notes.push_back("dotted: ^v is v of the first slice, v$ of the last");
    if (any([](const Node& node) { return node.marked; })) notes.push_back("red: why it is intractable");
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
