// The loops over observed numbers and components: log-probabilities, and weighted sums of features.
#pragma once

#include <cstddef>

#include "likelihood/density.hpp"

namespace plated::likelihood {

/// Numbers one behind the other that share their components.
struct Numbers {
  std::size_t count = 0;
  const double* first = nullptr;   ///< a feature of each
  const double* second = nullptr;  ///< another; nullptr: the form has one, or the second is not used
  const double* base = nullptr;    ///< nullptr: zeros
};

/// Entry (number, component) of `logs` becomes the number's log-probability. Coefficient c of component k is at
/// c · components + k.
void log_probabilities(Form form, const Numbers& numbers, std::size_t components, const double* coefficients,
                       double* logs);

/// Adds the statistics of numbers that count as often as `counts` say, laid out as coefficients are.
void add_statistics(Form form, const Numbers& numbers, std::size_t components, const double* coefficients,
                    const double* counts, double* statistics);

}  // namespace plated::likelihood
