// Models as flat formats hold them: no plates, no repeated dims, weights.
#pragma once

#include <string>
#include <vector>

#include "plated/model.hpp"
#include "plated/model_file.hpp"

namespace plated::io {

/// A factor over distinct variables, given by their place among the model's.
struct FlatFactor {
  std::vector<std::size_t> variables;
  Tensor numbers;
};

/// What UAI and BIF have in common: variables in order, and tables of weights. A child comes last.
struct FlatModel {
  std::vector<std::string> variables;
  std::vector<std::int64_t> sizes;
  std::vector<FlatFactor> factors;
};

/// Throws OptionError for plates, chains and batch dims, naming the format that has none; notes what is lost.
[[nodiscard]] FlatModel flat(const Model& model, Format format, std::vector<std::string>& losses);

}  // namespace plated::io
