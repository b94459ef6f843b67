// Loops with the number of components as a constant where it is small: rows then stay in registers.
#include "likelihood/loops.hpp"

#include <algorithm>
#include <utility>

namespace plated::likelihood {
namespace {

/// So many numbers are summed before they are added to the whole: errors grow with the number of such blocks.
constexpr std::size_t block = 512;

/// Numbers of components that loops are compiled for.
using Common = std::index_sequence<1, 2, 3, 4, 8, 16>;

/// Calls run(constant) with the number of components, or with 0 where it is none of the common ones.
template <class Run, std::size_t... Known>
void with_constant(std::size_t components, const Run& run, std::index_sequence<Known...> /*common*/) {
  const auto is = [&](auto constant) {
    if (components != constant) return false;
    run(constant);
    return true;
  };
  if (!(is(std::integral_constant<std::size_t, Known>{}) || ...)) run(std::integral_constant<std::size_t, 0>{});
}

template <std::size_t Components>
void linear_logs(const Numbers& numbers, std::size_t components, const double* c, double* logs) {
  const std::size_t many = Components > 0 ? Components : components;
  for (std::size_t n = 0; n < numbers.count; ++n, logs += many) {
    const double base = numbers.base != nullptr ? numbers.base[n] : 0;
    const double x = numbers.first[n];
    if (numbers.second == nullptr) {
      for (std::size_t k = 0; k < many; ++k) logs[k] = base + (c[k] + x * c[many + k]);
    } else {
      const double y = numbers.second[n];
      for (std::size_t k = 0; k < many; ++k) logs[k] = base + (c[k] + x * c[many + k] + y * c[2 * many + k]);
    }
  }
}

template <std::size_t Components>
void squared_logs(const Numbers& numbers, std::size_t components, const double* c, double* logs) {
  const std::size_t many = Components > 0 ? Components : components;
  for (std::size_t n = 0; n < numbers.count; ++n, logs += many) {
    const double x = numbers.first[n];
    for (std::size_t k = 0; k < many; ++k) {
      const double away = (x - c[many + k]) * c[2 * many + k];
      logs[k] = c[k] - 0.5 * away * away;
    }
  }
}

void chosen_logs(const Numbers& numbers, std::size_t components, const double* c, double* logs) {
  for (std::size_t n = 0; n < numbers.count; ++n, logs += components) {
    const double* const row = c + static_cast<std::size_t>(numbers.first[n]) * components;
    std::copy(row, row + components, logs);
  }
}

template <std::size_t Components>
void linear_sums(const Numbers& numbers, std::size_t components, const double* counts, double* sums) {
  const std::size_t many = Components > 0 ? Components : components;
  for (std::size_t n = 0; n < numbers.count; ++n, counts += many) {
    const double x = numbers.first[n];
    for (std::size_t k = 0; k < many; ++k) {
      sums[k] += counts[k];
      sums[many + k] += counts[k] * x;
    }
    if (numbers.second == nullptr) continue;
    const double y = numbers.second[n];
    for (std::size_t k = 0; k < many; ++k) sums[2 * many + k] += counts[k] * y;
  }
}

template <std::size_t Components>
void squared_sums(const Numbers& numbers, std::size_t components, const double* c, const double* counts, double* sums) {
  const std::size_t many = Components > 0 ? Components : components;
  for (std::size_t n = 0; n < numbers.count; ++n, counts += many) {
    const double x = numbers.first[n];
    for (std::size_t k = 0; k < many; ++k) {
      const double away = x - c[3 * many + k];
      const double share = counts[k] * away;
      sums[k] += counts[k];
      sums[many + k] += share;
      sums[2 * many + k] += share * away;
    }
  }
}

void chosen_sums(const Numbers& numbers, std::size_t components, const double* counts, double* sums) {
  for (std::size_t n = 0; n < numbers.count; ++n, counts += components) {
    double* const row = sums + static_cast<std::size_t>(numbers.first[n]) * components;
    for (std::size_t k = 0; k < components; ++k) row[k] += counts[k];
  }
}

/// Sums of one block in memory of their own, which loops keep in registers, then added to the whole.
template <std::size_t Components, class Sum>
void add_block(std::size_t statistics, double* whole, const Sum& sum) {
  double own[3 * Components] = {};
  sum(own);
  for (std::size_t k = 0; k < statistics * Components; ++k) whole[k] += own[k];
}

}  // namespace

void log_probabilities(Form form, const Numbers& numbers, std::size_t components, const double* coefficients,
                       double* logs) {
  if (form == Form::chosen) return chosen_logs(numbers, components, coefficients, logs);
  with_constant(
      components,
      [&](auto constant) {
        constexpr std::size_t known = decltype(constant)::value;
        if (form == Form::linear) {
          linear_logs<known>(numbers, components, coefficients, logs);
        } else {
          squared_logs<known>(numbers, components, coefficients, logs);
        }
      },
      Common{});
}

void add_statistics(Form form, const Numbers& numbers, std::size_t components, const double* coefficients,
                    const double* counts, double* statistics) {
  if (form == Form::chosen) return chosen_sums(numbers, components, counts, statistics);
  const std::size_t rows = form == Form::linear && numbers.second == nullptr ? 2 : 3;
  with_constant(
      components,
      [&](auto constant) {
        constexpr std::size_t known = decltype(constant)::value;
        for (std::size_t at = 0; at < numbers.count; at += block) {
          const Numbers some{.count = std::min(block, numbers.count - at),
                             .first = numbers.first + at,
                             .second = numbers.second == nullptr ? nullptr : numbers.second + at};
          const auto sum = [&](double* sums) {
            const double* const own = counts + at * components;
            if (form == Form::linear) {
              linear_sums<known>(some, components, own, sums);
            } else {
              squared_sums<known>(some, components, coefficients, own, sums);
            }
          };
          if constexpr (known > 0) {
            add_block<known>(rows, statistics, sum);
          } else {
            sum(statistics);
          }
        }
      },
      Common{});
}

}  // namespace plated::likelihood
