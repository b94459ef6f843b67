// SVG to PNG, by librsvg where it is installed.
#pragma once

#include <string>

namespace plated::cli {

/// The bytes of a PNG file, two pixels a unit, on white. Throws UsageError where librsvg is not
/// installed, naming its package, or the picture is too large for a PNG.
[[nodiscard]] std::string png(const std::string& svg);

}  // namespace plated::cli
