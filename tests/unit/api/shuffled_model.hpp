// A model whose dims are declared in another order than any operand has them: one x for all, a y in each slice of two
// plates, for each of six batches.
#pragma once

#include <string>
#include <vector>

#include "plated/factor_graph.hpp"

namespace plated {

inline FactorGraph shuffled_graph(const std::vector<std::string>& output = {}) {
  FactorGraph graph;
  graph.variable("y", 3);
  graph.plate("j", 4);
  graph.variable("x", 2);
  graph.plate("i", 5);
  graph.batch("n", 6);
  graph.factor("f", {"x", "n"});
  graph.factor("g", {"y", "i", "x", "j"});
  graph.output(output);
  return graph;
}

}  // namespace plated
