// Draws a graph stage by stage: scene, layout on a grid or in layers, pixels, lines, labels, SVG.
#include "plated/draw.hpp"

#include "draw/layout.hpp"
#include "draw/picture.hpp"
#include "draw/scene.hpp"
#include "draw/svg.hpp"

namespace plated {
namespace {

std::string drawn(const FactorGraph& graph, const Certificate* certificate, const DrawOptions& options) {
  const draw::Scene scene = draw::make_scene(graph, certificate, options);
  draw::Layout layout;
  draw::Picture picture;
  if (draw::suits_layers(scene)) {
    draw::measure_in_layers(scene, picture);
  } else {
    layout = draw::lay_out(scene);
    draw::measure(scene, layout, picture);
    draw::route(scene, layout, picture);
  }
  draw::place_labels(scene, layout, picture);
  return draw::to_svg(scene, layout, picture);
}

}  // namespace

std::string draw_svg(const FactorGraph& graph, const DrawOptions& options) { return drawn(graph, nullptr, options); }

std::string draw_svg(const FactorGraph& graph, const Certificate& certificate, const DrawOptions& options) {
  return drawn(graph, &certificate, options);
}

}  // namespace plated
