// Runs EM from several starts, side by side.
#pragma once

#include <vector>

#include "learn/runner.hpp"
#include "plated/fit.hpp"

namespace plated::learn {

/// The outcomes of all restarts that were begun, in order; those that an interruption has left out are missing at the
/// end or have no history. Restart k draws its start from a stream of its own. Throws what EM throws.
[[nodiscard]] std::vector<Outcome> run_restarts(const LearntParts& parts, const MakeRunner& make,
                                                const FitOptions& options);

}  // namespace plated::learn
