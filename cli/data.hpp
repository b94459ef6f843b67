// Reads the data that commands fit and score models on.
#pragma once

#include <string>
#include <vector>

#include "plated/fit.hpp"
#include "plated/model.hpp"

namespace plated::cli {

/// `name=FILE.npy`, `name=FILE.csv`, or `FILE.csv` for all of its columns; weights are `plate=FILE`. Throws UsageError
/// where two give the data of one variable or plate, and what read_data and read_weights throw.
[[nodiscard]] Data load_data(const Model& model, const std::vector<std::string>& words,
                             const std::vector<std::string>& weights, const std::string& option = "--data");

}  // namespace plated::cli
