// Pictures of plated factor graphs and of plans, as standalone SVG.
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

/// What a picture shows beside nodes, edges and plates. A Model's `observed`, `labels` and `children` fit as they are.
struct DrawOptions {
  std::string title;         ///< a line above the picture; none where empty
  bool factor_names = true;  ///< the name beside each factor
  bool sizes = true;         ///< `i = 32` in the corner of a plate, not just `i`
  bool caption = true;       ///< lines below: batch dims, and what hollow squares, double rings and the like mean
  /// Variables that are drawn shaded. UnknownNameError where the graph has no such variable.
  std::set<std::string, std::less<>> observed;
  /// What variables are called on the picture; one that is not here is called by its name. Others are ignored.
  std::map<std::string, std::string, std::less<>> labels;
  /// Factors that are distributions of a variable are drawn as arrows from their other variables to it. Other factors,
  /// those of a certificate and those in plates that their variable does not live in stay squares.
  bool directed = false;
  /// For each factor the variable that it is a distribution of, empty for none; where this is empty, what the graph
  /// says (Factor::distribution_of). OptionError where it has another length than the graph has factors,
  /// UnknownNameError where a factor does not hold its variable.
  std::vector<std::string> children;
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
/// UnknownNameError where the certificate names what the graph does not have.
[[nodiscard]] std::string draw_svg(const FactorGraph& graph, const Certificate& certificate,
                                   const DrawOptions& options = {});

/// A plan, step by step, in the words of Plan::print: factors flow through SumProduct and Product steps down to the
/// outputs; each step says its leaf and the shape and size of its result. A chain is a panel of its own: the step that
/// is taken in every slice. Of very long plans the first and the last steps are shown. Of the options, `title`,
/// `caption` and `labels` count.
///
///   std::ofstream("plan.svg") << draw_plan_svg(compile(graph));
[[nodiscard]] std::string draw_plan_svg(const Plan& plan, const DrawOptions& options = {});

}  // namespace plated
