// The semiring that maximises what another one adds up.
#pragma once

#include "plated/semiring.hpp"

namespace plated::semiring {

/// max_plus for log, max_product for real, selective ones for themselves. Throws OptionError for boolean.
[[nodiscard]] Semiring selective(Semiring semiring);

}  // namespace plated::semiring
