// Makes the density of each family.
#pragma once

#include "likelihood/density.hpp"

namespace plated::likelihood {

[[nodiscard]] std::unique_ptr<Density> normal_density(Spread spread);
[[nodiscard]] std::unique_ptr<Density> poisson_density(Spread spread);

}  // namespace plated::likelihood
