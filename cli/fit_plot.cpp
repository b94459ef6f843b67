// Draws the objective over the iterations.
#include "fit_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace plated::cli {
namespace {

constexpr double plot_width = 720, plot_height = 440, plot_left = 100, plot_top = 56, plot_right = 30, plot_bottom = 56;

std::string label(double x, double y, const std::string& text, const char* anchor) {
  std::string shown;
  for (const char c : text) shown += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, shown);
}

/// A step of 1, 2 or 5 times a power of ten that cuts a range into five or so.
double step_of(double range) {
  const double rough = std::max(range, 1e-12) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double mantissa = rough / power;
  return power * (mantissa < 1.5 ? 1 : mantissa < 3.5 ? 2 : mantissa < 7.5 ? 5 : 10);
}

}  // namespace

std::string fit_plot(const Fit& fit, const std::string& title) {
  const std::vector<double>& history = fit.history;
  const auto [low, high] = std::minmax_element(history.begin(), history.end());
  const double step = step_of(*high - *low);
  const double bottom_value = std::floor(*low / step) * step;
  const double top_value = std::max(std::ceil(*high / step) * step, bottom_value + step);
  const double last = std::max(1.0, static_cast<double>(history.size() - 1));
  const auto x = [&](double iteration) { return plot_left + (plot_width - plot_left - plot_right) * iteration / last; };
  const auto y = [&](double value) {
    return plot_height - plot_bottom -
           (plot_height - plot_top - plot_bottom) * (value - bottom_value) / (top_value - bottom_value);
  };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      plot_width, plot_height);
  svg += label(plot_left, 30, (title.empty() ? "" : title + ": ") + fmt::format("ln L = {:.4f}", fit.log_likelihood),
               "start");
  for (double value = bottom_value; value < top_value + step / 2; value += step) {
    svg += fmt::format("<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#e4e4e4\"/>\n", plot_left,
                       y(value), plot_width - plot_right, y(value));
    svg += label(plot_left - 8, y(value) + 4.5, fmt::format("{:.6g}", value), "end");
  }
  const double across = std::max(1.0, step_of(last));
  for (double k = 0; k <= last; k += across)
    svg += label(x(k), plot_height - plot_bottom + 20, fmt::format("{:g}", k), "middle");
  svg += label((plot_left + plot_width - plot_right) / 2, plot_height - 14, "iteration", "middle");
  std::string points;
  for (std::size_t k = 0; k < history.size(); ++k) {
    points += fmt::format("{:.1f},{:.1f} ", x(static_cast<double>(k)), y(history[k]));
  }
  svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"2\"/>\n", points);
  return svg + "</svg>\n";
}

}  // namespace plated::cli
