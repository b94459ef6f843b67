// Directed models: factors that are distributions of a child given its parents.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plated/model.hpp"

namespace plated::model {

/// A factor before it is part of a graph.
struct NewFactor {
  std::string name;
  std::vector<std::string> dims;
  std::vector<std::string> tied;
  std::string child;  // empty: not a distribution
  Tensor numbers;
};

/// Whether every sum along an axis is one, to the 2e-6 that rounding to six digits leaves.
[[nodiscard]] bool sums_to_one(const Tensor& numbers, std::size_t axis, Space space);

/// Adds a factor to a model. One that has a child is a distribution of it in the graph, and trusted, if its sums are
/// one; otherwise it is a factor like any other, and the model's notes say so. Sums of more than `most` entries are
/// left to the run to check.
void add_factor(Model& model, NewFactor factor, std::int64_t most = std::int64_t{1} << 62);

/// A cycle among parents given as lists of indices: each is a parent of the next, and the last of the first. Empty
/// where there is none.
[[nodiscard]] std::vector<std::size_t> find_cycle(const std::vector<std::vector<std::size_t>>& parents);

/// Whether every variable is the child of one factor, all factors have a child, and there is no cycle; for models
/// without plates.
[[nodiscard]] bool is_directed(const Model& model);

}  // namespace plated::model
