// Draws plated factor graphs and plans as standalone SVG.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {

class Plan;

/// What a picture shows besides nodes, edges and plates. A Model's `observed`, `labels` and `children` fit directly.
struct DrawOptions {
  std::string title = {};    ///< a line above the picture; none where empty
  bool factor_names = true;  ///< the name beside each factor
  bool sizes = true;         ///< `i = 32` in the corner of a plate, not just `i`
  bool caption = true;       ///< lines below: batch dims, and the meaning of hollow squares, double rings etc.
  /// Variables that are drawn shaded. UnknownNameError where the graph has no such variable.
  std::set<std::string, std::less<>> observed = {};
  /// Labels of variables in the picture; a variable without one is shown by its name. Unknown names are ignored.
  std::map<std::string, std::string, std::less<>> labels = {};
  /// Factors that are distributions of a variable are drawn as arrows from their other variables to it. Other factors,
  /// those of a certificate and those in plates that their variable does not live in stay squares.
  bool directed = false;
  /// For each factor the variable that it is a distribution of, empty for none; if the list is empty, what the graph
  /// says (Factor::distribution_of). OptionError where its length is not the number of factors,
  /// UnknownNameError where a factor does not hold its variable.
  std::vector<std::string> children = {};
};

/// The graph in the style of [TVE]: circles for variables, squares for factors, boxes for plates. The box of a plate
/// holds exactly the variables and factors that live in it (none: no box); plates that overlap are overlapping boxes.
/// Where no arrangement of boxes does that, a plate is drawn as several boxes marked `(part)`. The same graph gives the
/// same text. Tied factors are hollow, variables that an output keeps have a double ring. A chain's box is dashed, and
/// a dashed arrow leads along each link, from the target in one slice to the source in the next; `^v` and `v$` are
/// dotted circles, joined to v by dotted lines. Throws what FactorGraph::validate throws.
///
///   std::ofstream("model.svg") << draw_svg(graph);
[[nodiscard]] std::string draw_svg(const FactorGraph& graph, const DrawOptions& options = {});

/// The same with the forbidden minor of an IntractableError in red: u, w, their plates and what joins them. Throws
/// UnknownNameError where the certificate names something that the graph lacks.
[[nodiscard]] std::string draw_svg(const FactorGraph& graph, const Certificate& certificate,
                                   const DrawOptions& options = {});

/// A plan, step by step, in the words of Plan::print: factors flow through SumProduct and Product steps down to the
/// outputs; each step shows its leaf and the shape and size of its result. A chain is a panel of its own: the step that
/// every slice takes. Of very long plans only the first and the last steps are shown. Of the options, `title`,
/// `caption` and `labels` are used.
///
///   std::ofstream("plan.svg") << draw_plan_svg(compile(graph));
[[nodiscard]] std::string draw_plan_svg(const Plan& plan, const DrawOptions& options = {});

}  // namespace plated
