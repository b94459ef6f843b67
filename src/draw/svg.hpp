// Writes a picture as SVG.
#pragma once

#include <string>

#include "draw/picture.hpp"

namespace plated::draw {

[[nodiscard]] std::string to_svg(const Scene& scene, const Layout& layout, const Picture& picture);

}  // namespace plated::draw
