// Decides which factors are drawn as arrows to the variable that they are a distribution of.
#pragma once

#include <optional>
#include <vector>

#include "plated/draw.hpp"

namespace plated::draw {

/// For each factor the variable that its arrows point to; none for a factor that is drawn as a square. Throws
/// OptionError and UnknownNameError, see DrawOptions::children.
[[nodiscard]] std::vector<std::optional<DimId>> arrow_targets(const FactorGraph& graph, const Certificate* certificate,
                                                              const DrawOptions& options);

}  // namespace plated::draw
