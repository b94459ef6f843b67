// Makes the density of each family.
#pragma once

#include "likelihood/density.hpp"

namespace plated::likelihood {

/// The largest shape, concentration, and alpha and beta together. Log-densities are sums of terms as large as these,
/// whose rounding must stay below what counts as a gain of EM.
inline constexpr double largest_shape = 1e6;

[[nodiscard]] std::unique_ptr<Density> normal_density(Spread spread);
[[nodiscard]] std::unique_ptr<Density> poisson_density(Spread spread);
[[nodiscard]] std::unique_ptr<Density> gamma_density(Spread spread);
[[nodiscard]] std::unique_ptr<Density> beta_density(Spread spread);
[[nodiscard]] std::unique_ptr<Density> von_mises_density(Spread spread);
[[nodiscard]] std::unique_ptr<Density> bernoulli_density(Spread spread);
[[nodiscard]] std::unique_ptr<Density> categorical_density(Spread spread, std::size_t states);

}  // namespace plated::likelihood
