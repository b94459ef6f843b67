// k-fold cross-validation over a plate.
#pragma once

#include "plated/fit.hpp"

namespace plated::learn {

/// Refuses what cross_validate() could not do, before anything is computed: UnknownNameError, OptionError.
void check_folds(const Model& model, const Data& data, const FitOptions& options);

/// Adds the folds to a fit. An interruption ends it with the folds so far.
void cross_validate(Fit& result, const Model& model, const Data& data, const FitOptions& options);

}  // namespace plated::learn
