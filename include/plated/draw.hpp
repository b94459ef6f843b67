// Pictures of plated factor graphs, as standalone SVG.
#pragma once

#include <string>

#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {

/// What a picture shows beside nodes, edges and plates.
struct DrawOptions {
  std::string title;         ///< a line above the picture; none where empty
  bool factor_names = true;  ///< the name beside each factor
  bool sizes = true;         ///< `i = 32` in the corner of a plate, not just `i`
  bool caption = true;       ///< a line below: batch dims, and what hollow squares and double rings mean
};

/// The graph in the style of [TVE]: circles for variables, squares for factors, boxes for plates. The box of a plate
/// holds exactly the variables and factors that live in it (none: no box); plates that overlap are overlapping boxes.
/// Where no arrangement of boxes does that, a plate is drawn as several boxes marked `(part)`. The same graph gives the
/// same text. Tied factors are hollow, variables that an output keeps have a double ring. Throws what
/// FactorGraph::validate throws.
///
///   std::ofstream("model.svg") << draw_svg(graph);
[[nodiscard]] std::string draw_svg(const FactorGraph& graph, const DrawOptions& options = {});

/// The same with the forbidden minor of an IntractableError in red: u, w, their plates and what joins them. Throws
/// UnknownNameError where the certificate names what the graph does not have.
[[nodiscard]] std::string draw_svg(const FactorGraph& graph, const Certificate& certificate,
                                   const DrawOptions& options = {});

}  // namespace plated
