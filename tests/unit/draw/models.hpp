// Models for the tests of pictures.
#pragma once

#include <algorithm>
#include <random>
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

/// Sequences s of a hidden Markov model, with a first state of their own.
inline FactorGraph hidden_markov_model() {
  FactorGraph g;
  g.plate("s", 7);
  g.chain("t", 100);
  for (const char* name : {"a", "b", "seen"}) g.variable(name, 4);
  g.link("t", "a", "b");
  g.factor("start", {first("a")}, {.tied = {"s"}, .distribution_of = first("a")});
  g.factor("move", {"a", "b"}, {.tied = {"s", "t"}, .distribution_of = "b"});
  g.factor("emit", {"s", "t", "b", "seen"}, {.distribution_of = "seen"});
  return g;
}

/// Two links in a row, and a plate inside the chain.
inline FactorGraph second_order_chain() {
  FactorGraph g;
  g.chain("t", 9);
  g.plate("p", 5);
  for (const char* name : {"a", "b", "c"}) g.variable(name, 2);
  g.link("t", "a", "b");
  g.link("t", "b", "c");
  g.factor("begin", {first("a"), first("b")});
  g.factor("move", {"a", "b", "c"}, {.tied = {"t"}});
  g.factor("seen", {"t", "p", "c"});
  return g;
}

/// Three chains in one that are heard together.
inline FactorGraph factorial_chain() {
  FactorGraph g;
  g.chain("t", 1000);
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) g.variable(name, 16);
  g.link("t", "a", "b");
  g.link("t", "c", "d");
  g.link("t", "e", "f");
  g.factor("A", {"a", "b"}, {.tied = {"t"}, .distribution_of = "b"});
  g.factor("C", {"c", "d"}, {.tied = {"t"}, .distribution_of = "d"});
  g.factor("E", {"e", "f"}, {.tied = {"t"}, .distribution_of = "f"});
  g.factor("heard", {"t", "b", "d", "f"});
  return g;
}

/// A directed graph and the variable that each factor is a distribution of.
struct Network {
  FactorGraph graph;
  std::vector<std::string> children;
};

/// Each variable has up to three parents, mostly among the few before it.
inline Network random_network(int variables, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned bound) { return static_cast<int>(random() % bound); };
  Network network;
  std::vector<std::string> names;
  for (int v = 0; v < variables; ++v) {
    names.push_back(std::string("Node").append(std::to_string(v)));
    network.graph.variable(names.back(), 2);
  }
  for (int v = 0; v < variables; ++v) {
    std::vector<std::string> dims;
    const int parents = std::min(v, below(4));
    for (int p = 0; p < parents; ++p) {
      const int nearby = std::max(0, v - 12), range = below(4) == 0 ? v : v - nearby;
      const std::string& parent = names[v - 1 - below(static_cast<unsigned>(range))];
      if (std::find(dims.begin(), dims.end(), parent) == dims.end()) dims.push_back(parent);
    }
    dims.push_back(names[v]);
    network.graph.factor(std::string("f").append(std::to_string(v)), dims);
    network.children.push_back(names[v]);
  }
  return network;
}

/// Few causes of many symptoms, as in medicine: layers are wide, and arrows pass through them.
inline Network symptom_network(int causes, int symptoms) {
  Network network;
  const auto add = [&](const std::string& name, std::vector<std::string> dims) {
    network.graph.variable(name, 2);
    dims.push_back(name);
    network.graph.factor(std::string("f_").append(name), dims);
    network.children.push_back(name);
  };
  const auto cause = [](int k) { return std::string("Cause").append(std::to_string(k)); };
  for (int k = 0; k < causes; ++k) add(cause(k), k % 3 == 2 ? std::vector{cause(k - 1)} : std::vector<std::string>{});
  for (int k = 0; k < symptoms; ++k) {
    std::vector<std::string> parents{cause(k % causes), cause((3 * k + 1) % causes)};
    if (parents[0] == parents[1]) parents.pop_back();
    add(std::string("Symptom").append(std::to_string(k)), parents);
  }
  return network;
}

}  // namespace plated::test
