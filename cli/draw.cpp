// `plated draw`: draws a model, its plan, or the reason why it has no plan.
#include "plated/draw.hpp"

#include <filesystem>

#include "commands.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "plated/error.hpp"
#include "plated/solve.hpp"
#include "png.hpp"
#include "progress.hpp"

namespace plated::cli {
namespace {

DrawOptions options_for(const Model& model, const Draw& wanted) {
  DrawOptions options;
  // Networks of bnlearn are all called so.
  const bool unnamed = model.name.empty() || model.name == "unknown";
  options.title = unnamed ? std::filesystem::path(shown_name(wanted.input.model)).stem().string() : model.name;
  options.labels = model.labels;
  options.observed = model.observed;
  options.directed = wanted.directed;
  options.children = model.children;
  return options;
}

/// Whether the graph could have a forbidden minor: it takes two plates.
bool may_be_intractable(const FactorGraph& graph) {
  int plates = 0;
  for (const Dim& dim : graph.dims()) plates += has_slices(dim.kind) ? 1 : 0;
  return plates >= 2;
}

std::string picture(const Model& model, const Draw& wanted, bool quiet) {
  const DrawOptions options = options_for(model, wanted);
  if (wanted.plan) return draw_plan_svg(plated::explain(model).plans[0], options);
  if (may_be_intractable(model.graph)) {
    try {
      (void)compile(model.graph);
    } catch (const IntractableError& error) {
      if (!quiet) note("intractable; the picture shows the reason in red, and `plated explain` prints it");
      return draw_svg(model.graph, error.certificate(), options);
    } catch (const SizeOverflowError&) {
      // Too wide to be solved, and drawn like any other.
    }
  }
  return draw_svg(model.graph, options);
}

}  // namespace

int draw(const Draw& wanted, const Common& common) {
  const Model model = load(wanted.input, common);
  if (wanted.directed && !model.directed) {
    throw UsageError(shown_name(wanted.input.model) +
                     ": not every variable has one distribution given its parents, so that there "
                     "are no arrows to draw: leave out --directed");
  }
  const Progress progress("drawing", common.quiet);
  const std::string svg = picture(model, wanted, common.quiet);
  const std::string drawn = wanted.output.ends_with(".png") ? png(svg) : svg;
  deliver(drawn, wanted.output);
  return answered;
}

}  // namespace plated::cli
