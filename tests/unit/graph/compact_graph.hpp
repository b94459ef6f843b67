// Builds graphs of compact equations without written shapes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plated/factor_graph.hpp"

namespace plated::test {

/// The graph of a compact equation in which every dim has the size that the options give, or else 2.
inline FactorGraph compact_graph(std::string_view equation, EquationOptions options) {
  std::vector<std::vector<std::int64_t>> shapes(1);
  bool tied = false;
  for (const char c : equation.substr(0, equation.find("->"))) {
    if (c == '(' || c == ')') {
      tied = c == '(';
    } else if (c == ',') {
      shapes.emplace_back();
    } else if (c != '^' && c != '$') {
      const std::string name(1, c);
      const std::int64_t size = options.sizes.contains(name) ? options.sizes.at(name) : 2;
      if (tied) {
        options.sizes.emplace(name, size);
      } else {
        shapes.back().push_back(size);
      }
    }
  }
  return FactorGraph::from_equation(equation, shapes, options);
}

/// P(v) as the letters of its plates, in declaration order.
inline std::string plates_of(const FactorGraph& graph, std::string_view variable) {
  std::string result;
  const auto plates = graph.variable_plates();
  for (const DimId d : plates[*graph.find(variable)]) result += graph.dims()[d].name;
  return result;
}

}  // namespace plated::test
