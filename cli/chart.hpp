// Charts with two logarithmic axes, as standalone SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace plated::cli {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< sizes, powers of two, with seconds
};

struct Chart {
  std::string title;
  std::string subtitle;
  std::string across;  ///< what the horizontal axis is
  std::vector<Curve> curves;
};

[[nodiscard]] std::string chart_svg(const Chart& chart);

}  // namespace plated::cli
