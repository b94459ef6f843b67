// Fits of one model with other numbers of states of a latent variable.
#pragma once

#include "plated/fit.hpp"

namespace plated::learn {

/// The model with so many states of a variable and of all that chains link it to. Factors that hold it start from
/// random numbers, unless the number is the model's own. Throws UnknownNameError and OptionError where that has no
/// meaning, as fit() says.
[[nodiscard]] Model with_states(const Model& model, const Data& data, const FitOptions& options,
                                const std::string& variable, std::int64_t states);

/// The best of the fits that FitOptions::vary asks for, with a row for each: Fit::varied.
[[nodiscard]] Fit fit_varied(const Model& model, const Data& data, const FitOptions& options);

}  // namespace plated::learn
