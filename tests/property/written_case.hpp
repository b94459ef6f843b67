// A graph of plates and chains written down twice: through the builder and, where an equation can say it, as an
// equation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "oracle/oracle.hpp"
#include "plated/einsum.hpp"
#include "plated/error.hpp"

namespace plated::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15ULL + 1) {}
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11) * 0x1p-53);
  }
  template <class List>
  auto& pick(List& list) {
    return list[static_cast<std::size_t>(below(std::ssize(list)))];
  }
  template <class List>
  void shuffle(List& list) {
    std::shuffle(list.begin(), list.end(), engine_);
  }

 private:
  std::mt19937_64 engine_;
};

struct Case {
  using Names = std::vector<std::string>;
  struct Dimension {
    std::string name;
    std::int64_t size = 0;
    std::optional<Names> stated;  // explicit plates of a variable
  };
  struct Chained {
    std::string name;
    std::int64_t size = 0;
    std::vector<std::pair<std::string, std::string>> links;
  };
  struct Term {
    Names dims;
    Names tied;
  };
  std::uint64_t seed = 0;
  std::vector<Dimension> plates, batch, variables;
  std::vector<Chained> chains;
  Lengths lengths;
  std::vector<Term> factors;
  std::vector<Names> outputs;
  Names order;  // in which dims are declared; those that are not named come last

  /// Factors are named f0, f1, …
  [[nodiscard]] FactorGraph build() const {
    FactorGraph graph;
    declare(graph);
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

  static std::string joined(const Names& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
    return text;
  }

  [[nodiscard]] std::string equation() const {
    std::string text, right;
    for (std::size_t f = 0; f < factors.size(); ++f) {
      text += (f > 0 ? ", " : "") + (factors[f].tied.empty() ? "" : "(" + joined(factors[f].tied) + ") ") +
              joined(factors[f].dims);
    }
    for (std::size_t o = 0; o < outputs.size(); ++o) right += (o > 0 ? ", " : " ") + joined(outputs[o]);
    return text + " ->" + right;
  }

  /// Einsum options that make the equation mean what the builder was told; nothing where no equation can.
  [[nodiscard]] std::optional<EinsumOptions> equation_options() const {
    std::set<std::string> written;
    for (const Term& f : factors) {
      written.insert(f.dims.begin(), f.dims.end());
      written.insert(f.tied.begin(), f.tied.end());
    }
    for (const Names& o : outputs) written.insert(o.begin(), o.end());
    // An equation with nothing to the right of its arrow has one scalar output, and one without terms no operand.
    if (outputs.empty() || factors.empty()) return std::nullopt;
    EinsumOptions options;
    options.spaced = true;
    for (const auto* list : {&plates, &batch, &variables}) {
      for (const Dimension& d : *list) {
        if (d.stated || !written.contains(d.name)) return std::nullopt;
        options.sizes[d.name] = d.size;
      }
    }
    for (const Dimension& d : plates) options.plates += (options.plates.empty() ? "" : " ") + d.name;
    for (const Dimension& d : batch) options.batch += (options.batch.empty() ? "" : " ") + d.name;
    for (const Chained& d : chains) {
      options.sizes[d.name] = d.size;
      for (const auto& [source, target] : d.links) options.chains[d.name].push_back(source + "->" + target);
    }
    options.lengths = lengths;
    return options;
  }

  /// Everything needed to see the case by eye.
  [[nodiscard]] std::string print() const {
    std::string text = "seed " + std::to_string(seed) + ": \"" + equation() + "\"";
    const auto list = [&](const char* title, const std::vector<Dimension>& dims) {
      for (const Dimension& d : dims) {
        text += (&d == dims.data() ? std::string("\n  ") + title + " " : ", ") + d.name + "=" + std::to_string(d.size);
        if (d.stated) text += " in {" + joined(*d.stated) + "}";
      }
    };
    list("plates", plates);
    list("batch", batch);
    list("variables", variables);
    if (!order.empty()) text += "\n  declared " + joined(order);
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

 private:
  /// Declares plates, batch dims, chains and variables; a variable whose plates are stated comes behind these.
  void declare(FactorGraph& graph) const {
    struct Declared {
      DimKind kind;
      const std::string* name;
      std::int64_t size;
      const std::optional<Names>* stated;
    };
    const std::optional<Names> nothing;
    std::vector<Declared> all;
    for (const Dimension& d : plates) all.push_back({DimKind::plate, &d.name, d.size, &d.stated});
    for (const Dimension& d : batch) all.push_back({DimKind::batch, &d.name, d.size, &d.stated});
    for (const Chained& d : chains) all.push_back({DimKind::chain, &d.name, d.size, &nothing});
    for (const Dimension& d : variables) all.push_back({DimKind::variable, &d.name, d.size, &d.stated});
    const auto rank = [&](const Declared& d) {
      return std::pair(d.stated->has_value(), std::find(order.begin(), order.end(), *d.name));
    };
    std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    for (const auto& [kind, name, size, stated] : all) {
      if (kind == DimKind::plate) graph.plate(*name, size);
      if (kind == DimKind::batch) graph.batch(*name, size);
      if (kind == DimKind::chain) graph.chain(*name, size);
      if (kind == DimKind::variable && *stated) graph.variable(*name, size, **stated);
      if (kind == DimKind::variable && !*stated) graph.variable(*name, size);
    }
  }
};

}  // namespace plated::test
