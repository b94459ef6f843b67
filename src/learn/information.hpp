// Standard errors of learnt tables, from the exact observed information.
#pragma once

#include <span>

#include "learn/em.hpp"

namespace plated::learn {

/// Throws MemoryLimitError where the information would not fit.
void check_information(const LearntParts& parts, const FitOptions& options);

/// Adds standard errors of the parameters to a fit, and notes about those that the data do not determine.
void add_standard_errors(Fit& result, const Model& observed, const LearntParts& parts, const Blocks& blocks,
                         std::span<const double> parameters, const FitOptions& options);

}  // namespace plated::learn
