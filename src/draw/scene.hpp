// What is to be drawn: nodes, edges and the plates they live in, before anything has a place.
#pragma once

#include <string>
#include <vector>

#include "plated/draw.hpp"

namespace plated::draw {

/// A variable or a factor.
struct Node {
  bool is_variable = false;
  bool hollow = false;  ///< a tied factor
  bool ringed = false;  ///< a variable that an output keeps
  bool marked = false;  ///< part of the forbidden minor
  std::string name;     ///< as in the graph
  std::string label;    ///< as on the picture
  std::string tooltip;
  std::vector<int> plates;  ///< indices into Scene::plates, sorted
};

struct Edge {
  int variable = 0;
  int factor = 0;
  bool marked = false;
};

struct Plate {
  std::string name;
  std::string label;
  bool marked = false;
};

struct Scene {
  std::vector<Node> nodes;  ///< variables first, then factors, each in the graph's order
  std::vector<Edge> edges;
  std::vector<Plate> plates;
  std::string title;
  std::string caption;
};

/// The scene of a graph; `certificate` may be null.
[[nodiscard]] Scene make_scene(const FactorGraph& graph, const Certificate* certificate, const DrawOptions& options);

}  // namespace plated::draw
