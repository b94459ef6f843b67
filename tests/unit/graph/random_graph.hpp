// Random plated factor graphs, valid by construction: outputs agree on every variable's plates.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "plated/factor_graph.hpp"

namespace plated::test {

inline FactorGraph random_graph(std::mt19937& random, std::int64_t smallest_plate = 1) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const auto coin = [&] { return random() % 2 == 0; };
  FactorGraph g;
  std::vector<std::string> plates, batch, variables;
  for (std::size_t k = below(4); k > 0; --k) {
    plates.push_back(std::string("p") += std::to_string(k));
    g.plate(plates.back(), smallest_plate + static_cast<std::int64_t>(below(3)));
  }
  for (std::size_t k = below(2); k > 0; --k) {
    batch.push_back(std::string("n") += std::to_string(k));
    g.batch(batch.back(), 2);
  }
  for (std::size_t k = below(5); k > 0; --k) {
    variables.push_back(std::string("v") += std::to_string(k));
    g.variable(variables.back(), 1 + static_cast<std::int64_t>(below(3)));
  }
  for (std::size_t k = below(6); k > 0; --k) {
    std::vector<std::string> dims, tied;
    for (const auto& plate : plates) {
      if (coin()) (below(4) == 0 ? tied : dims).push_back(plate);
    }
    for (const auto& name : batch) {
      if (coin()) dims.push_back(name);
    }
    for (const auto& variable : variables) {
      if (coin()) dims.push_back(variable);
    }
    if (!dims.empty() && below(4) == 0) dims.push_back(dims[below(dims.size())]);  // a diagonal
    std::shuffle(dims.begin(), dims.end(), random);
    g.factor("", dims, {.tied = tied});
  }
  // One output with any dims, then outputs of plates alone, which say nothing about variables.
  std::vector<std::string> dims;
  for (const auto& names : {plates, batch, variables}) {
    for (const auto& name : names) {
      if (coin()) dims.push_back(name);
    }
  }
  std::shuffle(dims.begin(), dims.end(), random);
  g.output(dims);
  if (coin()) g.output({});
  if (coin() && !plates.empty()) g.output({plates[0]});
  return g;
}

}  // namespace plated::test
