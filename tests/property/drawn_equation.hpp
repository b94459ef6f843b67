// A drawn model as an equation, where its answers have the same axes.
#pragma once

#include <optional>

#include "property/drawn_model.hpp"

namespace plated::test {

/// Options of the equation; none where no equation can say the model, or where one may give answers other axes: dims
/// are declared as they are met there, and lengths and leading axes are in the order of declaration.
inline std::optional<EinsumOptions> comparable_equation(const DrawnModel& drawn) {
  std::optional<EinsumOptions> options = drawn.c.equation_options();
  if (!options || drawn.of_kind(DimKind::batch).size() > 1) return std::nullopt;
  const bool chained = !drawn.c.chains.empty();
  if (chained && (drawn.of_kind(DimKind::plate).size() > 1 || drawn.c.chains.size() > 1)) return std::nullopt;
  options->threads = 1;
  return options;
}

}  // namespace plated::test
