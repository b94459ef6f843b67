// A picture: the layout in pixels, with every line routed and every label placed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "draw/geometry.hpp"
#include "draw/layout.hpp"
#include "draw/scene.hpp"

namespace plated::draw {

struct Label {
  std::string text;
  Rect rect;
  bool on_clear_ground = true;  ///< nothing else lies under it
};

/// A line of text that begins at a place on its baseline.
struct Sentence {
  std::string text;
  Pixel at;
};

struct Picture {
  double width = 0, height = 0;
  std::vector<Rect> nodes;                 ///< by node
  std::vector<Rect> boxes;                 ///< by box
  std::vector<Line> lines;                 ///< by edge
  std::vector<std::optional<Head>> heads;  ///< by edge
  std::vector<Label> factor_labels;        ///< by node; empty text for variables
  std::vector<Label> box_labels;           ///< by box
  std::vector<Label> edge_labels;          ///< by edge; empty text for all but links
  Sentence title;
  std::vector<Sentence> caption;
};

/// Half the width and height of a node's shape.
[[nodiscard]] Pixel half_extent(const Node& node);
/// The same with room for a factor's label above or below it.
[[nodiscard]] Pixel half_extent_with_label(const Node& node);

/// Columns, rows and borders in pixels.
void measure(const Scene& scene, const Layout& layout, Picture& picture);
/// Straight lines where they run over no node, bent ones elsewhere.
void route(const Scene& scene, const Layout& layout, Picture& picture);
/// Heads for the arrows among routed lines.
void add_heads(const Scene& scene, Picture& picture);
/// Whether a scene is one of arrows without plates.
[[nodiscard]] bool suits_layers(const Scene& scene);
/// Places such a scene in layers, arrows downwards, and routes its lines.
void measure_in_layers(const Scene& scene, Picture& picture);
/// Names beside factors and links, then names in the corners of boxes, where they cover nothing.
void place_labels(const Scene& scene, const Layout& layout, Picture& picture);

/// Puts a page around what takes `width` times `height`, with title and caption; returns where its top left corner is.
[[nodiscard]] Pixel frame(const Scene& scene, double width, double height, Picture& picture);

}  // namespace plated::draw
