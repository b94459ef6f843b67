// The objective of a fit, iteration by iteration, as standalone SVG.
#pragma once

#include <string>

#include "plated/fit.hpp"

namespace plated::cli {

[[nodiscard]] std::string fit_plot(const Fit& fit, const std::string& title);

}  // namespace plated::cli
