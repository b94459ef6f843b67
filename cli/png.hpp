// SVG to PNG: png_rsvg.cpp where librsvg is found, else png_none.cpp.
#pragma once

#include <string>

namespace plated::cli {

/// The bytes of a PNG file, two pixels a unit, on white. Throws UsageError where there is no librsvg, or the picture is
/// too large for a PNG.
[[nodiscard]] std::string png(const std::string& svg);

}  // namespace plated::cli
