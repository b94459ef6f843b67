// The inputs of a run besides its operands: observed values of variables, and lengths of chains.
#pragma once

#include <map>
#include <string>

#include "plated/integers.hpp"

namespace plated {

/// For each observed variable its values, shaped by its plates in declaration order; batch dims may come first, all of
/// them or none (then every batch observes the same). −1 leaves a slice unobserved.
///
///   Evidence{{"rain", Integers({}, {1})}, {"sensor", Integers({3}, {0, -1, 1})}}
using Evidence = std::map<std::string, Integers>;

/// For each ragged chain the number of slices that exist, in 0 … its size, shaped by the batch dims and plates of its
/// linked variables, in declaration order without the chain itself; or by the plates alone.
using Lengths = std::map<std::string, Integers>;

}  // namespace plated
