// The scene to be drawn: nodes, edges and their plates, before layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plated/draw.hpp"

namespace plated::draw {

/// A variable or a factor.
struct Node {
  bool is_variable = false;
  bool hollow = false;    ///< a tied factor
  bool ringed = false;    ///< a variable that an output keeps
  bool observed = false;  ///< a variable that is shaded
  bool is_end = false;    ///< `^v` or `v$`
  bool marked = false;    ///< part of the forbidden minor
  std::string name;       ///< as in the graph
  std::string label;      ///< as on the picture
  std::string tooltip;
  std::vector<int> plates;  ///< indices into Scene::plates, sorted
};

struct Edge {
  enum class Kind : std::uint8_t {
    plain,  ///< from a variable to a factor that holds it
    arrow,  ///< from a parent to its child
    link,   ///< from a chain's target to its source, which is the next slice's
    end,    ///< from `^v` or `v$` to v
  };
  int from = 0;
  int to = 0;
  Kind kind = Kind::plain;
  bool marked = false;
  int plate = 0;  ///< of a link: its chain
  std::string label;
  [[nodiscard]] bool has_head() const { return kind == Kind::arrow || kind == Kind::link; }
};

/// A plate, or a chain.
struct Plate {
  std::string name;
  std::string label;
  bool is_chain = false;
  bool marked = false;
};

struct Scene {
  std::vector<Node> nodes;  ///< variables first, then factors, each in the graph's order
  std::vector<Edge> edges;
  std::vector<Plate> plates;
  std::string title;
  std::vector<std::string> notes;  ///< the caption, piece by piece
};

/// The scene of a graph; `certificate` may be null.
[[nodiscard]] Scene make_scene(const FactorGraph& graph, const Certificate* certificate, const DrawOptions& options);

/// Marks the forbidden minor: u, the path of factors with one shared variable of both plates between neighbours, and w.
void mark(Scene& scene, const Certificate& certificate);

}  // namespace plated::draw
