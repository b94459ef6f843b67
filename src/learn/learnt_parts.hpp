// Which factors of a model are learnt, and which of them share their numbers.
#pragma once

#include <cstddef>
#include <vector>

#include "plated/fit.hpp"

namespace plated::learn {

/// Groups of factors that share their numbers, in the order of their first; the first is the one whose numbers they
/// start from. Throws UnknownNameError and OptionError as fit() does.
[[nodiscard]] std::vector<std::vector<std::size_t>> learnt_groups(const Model& model,
                                                                  const std::vector<std::string>& learn);

}  // namespace plated::learn
