// Models that pictures are tested on.
#pragma once

#include <string>
#include <vector>

#include "plated/factor_graph.hpp"

namespace plated::test {

/// [TVE] Fig. 4: plates i and j overlap.
inline FactorGraph performance_model() {
  FactorGraph g;
  g.plate("i", 32);
  g.plate("j", 32);
  for (const char* name : {"x", "w", "v", "y", "z"}) g.variable(name, 32);
  g.factor("fx", {"x"});
  g.factor("fwx", {"x", "w", "i"});
  g.factor("fvw", {"w", "v", "i", "j"});
  g.factor("fyx", {"x", "y", "j"});
  g.factor("fzy", {"y", "z", "i", "j"});
  return g;
}

/// [TVE] Ex. 3.2: a restricted Boltzmann machine.
inline FactorGraph rbm() {
  FactorGraph g;
  g.plate("i", 2);
  g.plate("j", 2);
  g.variable("X", 2);
  g.variable("Y", 2);
  g.factor("F", {"i", "j", "X", "Y"});
  return g;
}

/// A variable and a factor in every pair of `plates` plates: from four or so on, more than rectangles can do.
inline FactorGraph all_pairs(int plates) {
  FactorGraph g;
  std::vector<std::string> names;
  for (int p = 0; p < plates; ++p) {
    names.push_back(std::string("p").append(std::to_string(p)));
    g.plate(names.back(), 3);
  }
  for (int p = 0; p < plates; ++p) {
    for (int q = p + 1; q < plates; ++q) {
      const std::string name = std::string("m").append(std::to_string(p)).append(std::to_string(q));
      g.variable(name, 2);
      g.factor(std::string("f").append(name), {name, names[p], names[q]});
    }
  }
  return g;
}

/// A lattice of binary variables with a factor for each pair of neighbours.
inline FactorGraph lattice(int columns, int rows) {
  FactorGraph g;
  const auto name = [](int column, int row) {
    return std::string("v").append(std::to_string(row)).append("_").append(std::to_string(column));
  };
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) g.variable(name(c, r), 2);
  }
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      if (c + 1 < columns) g.factor("", {name(c, r), name(c + 1, r)});
      if (r + 1 < rows) g.factor("", {name(c, r), name(c, r + 1)});
    }
  }
  return g;
}

}  // namespace plated::test
