// A graph with chains written twice: through the builder and, where possible, as an equation.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "property/written_case.hpp"

namespace plated::test {

struct ChainCase : Case {
  struct Chained {
    std::string name;
    std::int64_t size = 0;
    std::vector<std::pair<std::string, std::string>> links;
  };
  std::vector<Chained> chains;
  Lengths lengths;

  /// Factors are named f0, f1, …
  [[nodiscard]] FactorGraph build() const {
    FactorGraph graph;
    std::vector<Dimension> dims;
    for (const Chained& d : chains) dims.push_back({d.name, d.size, {}});
    declare(graph, dims);
    for (const Chained& d : chains) {
      for (const auto& [source, target] : d.links) graph.link(d.name, source, target);
    }
    for (std::size_t f = 0; f < factors.size(); ++f) {
      graph.factor("f" + std::to_string(f), factors[f].dims, {.tied = factors[f].tied});
    }
    for (const Names& o : outputs) graph.output(o);
    if (outputs.empty()) graph.output({});  // what compile() plans for a graph without outputs
    graph.validate();
    return graph;
  }

  [[nodiscard]] std::optional<EinsumOptions> equation_options() const {
    std::optional<EinsumOptions> options = Case::equation_options();
    for (const Chained& d : chains) {
      if (!options) break;
      options->sizes[d.name] = d.size;
      for (const auto& [source, target] : d.links) options->chains[d.name].push_back(source + "->" + target);
    }
    if (options) options->lengths = lengths;
    return options;
  }

  [[nodiscard]] std::string print() const {
    std::string text = Case::print();
    for (const Chained& d : chains) {
      text += "\n  chain " + d.name + "=" + std::to_string(d.size);
      for (const auto& [source, target] : d.links) text += ", " + source + "->" + target;
      const auto given = lengths.find(d.name);
      if (given == lengths.end()) continue;
      text += ", lengths";
      for (const std::int64_t length : given->second.values) text += " " + std::to_string(length);
    }
    return text;
  }
};

}  // namespace plated::test
