// Contractions of few elements, and constant ones: no lanes, no tiles, hardly any overhead.
#pragma once

#include <memory>

#include "kernels/loop_nest.hpp"
#include "kernels/strategy.hpp"

namespace plated::kernels {

/// Null where the nest is neither small, nor empty, nor without inputs.
[[nodiscard]] std::unique_ptr<Strategy> make_small(const ContractionShape& shape, const LoopNest& nest);

}  // namespace plated::kernels
