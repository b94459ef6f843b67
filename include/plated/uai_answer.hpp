// Writes answers in the result format of the UAI inference competitions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plated {

/// `PR`, then the decimal logarithm of the partition function, from its natural one.
[[nodiscard]] std::string uai_pr(double ln_z);
/// `MAR`, then the number of variables and for each its number of states and their probabilities. Observed variables
/// are included.
[[nodiscard]] std::string uai_mar(const std::vector<std::vector<double>>& marginals);
/// `MAP`, then the number of variables and the state of each.
[[nodiscard]] std::string uai_map(const std::vector<std::int64_t>& states);

}  // namespace plated
