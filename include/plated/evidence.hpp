// Evidence: observed values of variables that a plan was compiled to observe.
#pragma once

#include <map>
#include <string>

#include "plated/integers.hpp"

namespace plated {

/// For each observed variable its values, shaped by its plates in declaration order; batch dims may lead them, all of
/// them or none (then every batch observes the same). −1 leaves a slice unobserved.
///
///   Evidence{{"rain", Integers({}, {1})}, {"sensor", Integers({3}, {0, -1, 1})}}
using Evidence = std::map<std::string, Integers>;

}  // namespace plated
