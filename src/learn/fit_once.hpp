// One fit: what fit() does once for all data, and once more for each fold.
#pragma once

#include "plated/fit.hpp"

namespace plated::learn {

/// Learns from all of the data; options about held-out data are not read. Throws as fit() does.
[[nodiscard]] Fit fit_once(const Model& model, const Data& data, const FitOptions& options);

}  // namespace plated::learn
