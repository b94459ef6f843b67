// Without librsvg there are no PNG files.
#include "errors.hpp"
#include "png.hpp"

namespace plated::cli {

std::string png(const std::string& /*svg*/) {
  throw UsageError("this plated was built without librsvg and writes no PNG: draw an .svg");
}

}  // namespace plated::cli
