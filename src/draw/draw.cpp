// Drawing, from graph to text: scene, layout on the grid, pixels, lines, labels, SVG.
#include "plated/draw.hpp"

#include "draw/layout.hpp"
#include "draw/picture.hpp"
#include "draw/scene.hpp"
#include "draw/svg.hpp"

namespace plated {
namespace {

std::string drawn(const FactorGraph& graph, const Certificate* certificate, const DrawOptions& options) {
  const draw::Scene scene = draw::make_scene(graph, certificate, options);
  const draw::Layout layout = draw::lay_out(scene);
  draw::Picture picture;
  draw::measure(scene, layout, picture);
  draw::route(scene, picture);
  draw::place_labels(scene, layout, picture);
  return draw::to_svg(scene, layout, picture);
}

}  // namespace

std::string draw_svg(const FactorGraph& graph, const DrawOptions& options) { return drawn(graph, nullptr, options); }

std::string draw_svg(const FactorGraph& graph, const Certificate& certificate, const DrawOptions& options) {
  return drawn(graph, &certificate, options);
}

}  // namespace plated
