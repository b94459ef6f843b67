// Draws curves.
#include "chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "quantities.hpp"

namespace plated::cli {
namespace {

constexpr double left = 86, top = 76, across = 520, down = 380, right = 150, bottom = 66;
constexpr std::array colours = {"#1f5fa8", "#c4511a", "#2f8f4e", "#8a3fa0", "#b58900", "#555555"};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

std::string words(double x, double y, const std::string& text, const char* anchor, const char* style = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" {}>{}</text>\n", x, y, anchor, style,
                     escaped(text));
}

std::string line(double x1, double y1, double x2, double y2, const char* colour) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2, y2,
                     colour);
}

/// From sizes and seconds to places: the horizontal axis in powers of two, the other in decades.
class Axes {
 public:
  explicit Axes(const Chart& chart) {
    for (const Curve& curve : chart.curves) {
      for (const auto& [size, seconds] : curve.points) {
        first_ = std::min(first_, std::log2(size));
        last_ = std::max(last_, std::log2(size));
        low_ = std::min(low_, std::floor(std::log10(seconds) - 0.05));
        high_ = std::max(high_, std::ceil(std::log10(seconds) + 0.05));
      }
    }
  }

  [[nodiscard]] double x(double size) const {
    constexpr double inner = 16;  // so that markers do not sit on the frame
    return left + inner + (across - 2 * inner) * (std::log2(size) - first_) / std::max(1.0, last_ - first_);
  }
  [[nodiscard]] double y(double seconds) const { return top + down * (high_ - std::log10(seconds)) / (high_ - low_); }

  [[nodiscard]] std::string frame(const std::string& title) const {
    std::string svg;
    for (double decade = low_; decade <= high_; ++decade) {
      const double at = y(std::pow(10, decade));
      svg += line(left, at, left + across, at, "#e4e4e4") + line(left - 5, at, left, at, "#222");
      svg += words(left - 9, at + 4.5, cli::seconds(std::pow(10, decade)), "end");
    }
    for (double power = first_; power <= last_; ++power) {
      const double at = x(std::exp2(power));
      svg += line(at, top, at, top + down, "#e4e4e4") + line(at, top + down, at, top + down + 5, "#222");
      svg += words(at, top + down + 21, fmt::format("{:.0f}", std::exp2(power)), "middle");
    }
    svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#222\"/>\n", left,
                       top, across, down);
    return svg + words(left + across / 2, top + down + 46, title, "middle");
  }

 private:
  double first_ = 1e9, last_ = -1e9, low_ = 1e9, high_ = -1e9;
};

std::string drawn(const Curve& curve, const Axes& axes, const char* colour) {
  std::string path;
  std::string markers;
  for (const auto& [size, seconds] : curve.points) {
    path += fmt::format("{:.1f},{:.1f} ", axes.x(size), axes.y(seconds));
    markers += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.4\" fill=\"{}\" stroke=\"white\" stroke-width=\"0.8\"/>\n",
        axes.x(size), axes.y(seconds), colour);
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path, colour) +
         markers;
}

/// Names at the right ends of their curves, pushed apart where these lie close.
std::string names(const Chart& chart, const Axes& axes) {
  constexpr double apart = 17;
  std::vector<std::pair<double, std::size_t>> places;
  for (std::size_t k = 0; k < chart.curves.size(); ++k)
    places.emplace_back(axes.y(chart.curves[k].points.back().second), k);
  std::sort(places.begin(), places.end());
  for (std::size_t k = 1; k < places.size(); ++k)
    places[k].first = std::max(places[k].first, places[k - 1].first + apart);
  std::string svg;
  for (const auto& [y, k] : places) {
    const std::string style = fmt::format("font-weight=\"bold\" fill=\"{}\"", colours[k % colours.size()]);
    svg += words(left + across + 12, y + 4.5, chart.curves[k].name, "start", style.c_str());
  }
  return svg;
}

}  // namespace

std::string chart_svg(const Chart& chart) {
  const double width = left + across + right;
  const double height = top + down + bottom;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      width, height);
  svg += words(left, 32, chart.title, "start", "font-size=\"17\" font-weight=\"bold\"");
  svg += words(left, 54, chart.subtitle, "start", "fill=\"#666\"");
  const Axes axes(chart);
  svg += axes.frame(chart.across);
  for (std::size_t k = 0; k < chart.curves.size(); ++k)
    svg += drawn(chart.curves[k], axes, colours[k % colours.size()]);
  return svg + names(chart, axes) + "</svg>\n";
}

}  // namespace plated::cli
