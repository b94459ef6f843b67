// Refuses PNG files in builds without librsvg.
#include "errors.hpp"
#include "png.hpp"

namespace plated::cli {

std::string png(const std::string& /*svg*/) {
  throw UsageError("this plated was built without librsvg and cannot write PNG: draw an .svg");
}

}  // namespace plated::cli
