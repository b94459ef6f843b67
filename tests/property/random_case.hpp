// Random plated graphs: nested, overlapping and disjoint plates, tied and repeated dims, empty and single-state ones.
//
// A case is written twice, through the builder and, where possible, as an equation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
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
  struct Term {
    Names dims;
    Names tied;
  };
  std::uint64_t seed = 0;
  std::vector<Dimension> plates, batch, variables;
  std::vector<Term> factors;
  std::vector<Names> outputs;

  [[nodiscard]] FactorGraph build() const {
    FactorGraph graph;
    for (const Dimension& d : plates) graph.plate(d.name, d.size);
    for (const Dimension& d : batch) graph.batch(d.name, d.size);
    for (const Dimension& d : variables) {
      if (d.stated) {
        graph.variable(d.name, d.size, *d.stated);
      } else {
        graph.variable(d.name, d.size);
      }
    }
    for (const Term& f : factors) graph.factor("", f.dims, {.tied = f.tied});
    for (const Names& o : outputs) graph.output(o);
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
    return text;
  }
};

struct CaseOptions {
  double most_work = 20000;  // of the oracle: assignments × sites
  bool ties = true;
  bool small_sizes = true;     // 0 and 1
  bool plated_outputs = true;  // variables of plates in outputs
};

class CaseGenerator {
 public:
  CaseGenerator(std::uint64_t seed, const CaseOptions& options) : random_(seed), options_(options) {
    case_.seed = seed;
  }

  Case run() {
    for (;;) {
      draw();
      if (settle()) return case_;
    }
  }

 private:
  std::int64_t size(int zero_percent, int one_percent) {
    if (options_.small_sizes && random_.chance(zero_percent)) return 0;
    if (options_.small_sizes && random_.chance(one_percent)) return 1;
    return 2 + random_.below(2);
  }

  Case::Names some(const std::vector<Case::Dimension>& dims, int percent) {
    Case::Names names;
    for (const Case::Dimension& d : dims) {
      if (random_.chance(percent)) names.push_back(d.name);
    }
    return names;
  }

  static void merge(Case::Names& into, const Case::Names& names) {
    for (const std::string& name : names) {
      if (std::find(into.begin(), into.end(), name) == into.end()) into.push_back(name);
    }
  }

  void draw() {
    case_.plates.clear();
    case_.batch.clear();
    case_.variables.clear();
    case_.factors.clear();
    case_.outputs.clear();
    home_.clear();
    const char* plate_names[] = {"i", "j", "k"};
    for (std::int64_t n = random_.below(4), p = 0; p < n; ++p)
      case_.plates.push_back({plate_names[p], size(5, 12), {}});
    if (random_.chance(30)) case_.batch.push_back({"n", size(4, 20), {}});
    if (random_.chance(8)) case_.batch.push_back({"m", size(4, 20), {}});
    const char* variable_names[] = {"a", "b", "c", "d", "e"};
    // In half of the cases plates are nested: the home of a variable is the first few of them.
    const bool nested = random_.chance(50);
    for (std::int64_t n = random_.below(6), v = 0; v < n; ++v) {
      const std::int64_t depth = random_.below(static_cast<std::int64_t>(case_.plates.size()) + 1);
      Case::Names home = nested ? Case::Names{} : some(case_.plates, 35);
      for (std::int64_t p = 0; nested && p < depth; ++p) home.push_back(case_.plates[static_cast<std::size_t>(p)].name);
      case_.variables.push_back({variable_names[v], size(3, 10), {}});
      if (random_.chance(10)) case_.variables.back().stated = home;
      home_[case_.variables.back().name] = std::move(home);
    }
    for (std::int64_t n = random_.below(6); n > 0; --n) draw_factor();
    for (std::int64_t n = random_.below(4); n > 0; --n) draw_output();
  }

  void draw_factor() {
    Case::Term factor;
    if (!case_.factors.empty() && random_.chance(10)) {
      case_.factors.push_back(random_.pick(case_.factors));  // the same dims again
      return;
    }
    Case::Names plates = some(case_.plates, 12);
    if (!case_.variables.empty()) {
      for (std::int64_t n = random_.below(4); n > 0; --n) {
        const std::string& v = random_.pick(case_.variables).name;
        merge(factor.dims, {v});
        merge(plates, home_[v]);
      }
    }
    for (const std::string& p : plates) (options_.ties && random_.chance(12) ? factor.tied : factor.dims).push_back(p);
    merge(factor.dims, some(case_.batch, 60));
    if (!factor.dims.empty() && random_.chance(8))
      factor.dims.push_back(std::string(random_.pick(factor.dims)));  // a diagonal
    random_.shuffle(factor.dims);
    case_.factors.push_back(std::move(factor));
  }

  void draw_output() {
    Case::Names output;
    if (!case_.variables.empty() && random_.chance(75)) {
      for (std::int64_t n = 1 + random_.below(3); n > 0; --n) {
        const std::string& v = random_.pick(case_.variables).name;
        merge(output, {v});
        if (options_.plated_outputs && random_.chance(85)) merge(output, home_[v]);
      }
    }
    if (options_.plated_outputs) merge(output, some(case_.plates, 15));
    merge(output, some(case_.batch, 50));
    random_.shuffle(output);
    case_.outputs.push_back(std::move(output));
  }

  /// Drops outputs that disagree on plates, and says whether the oracle can afford the case.
  bool settle() {
    for (;;) {
      try {
        const FactorGraph graph = case_.build();
        return work(graph) <= options_.most_work;
      } catch (const PlateError&) {
        if (case_.outputs.empty()) return false;  // stated plates that a factor contradicts
        case_.outputs.pop_back();
      }
    }
  }

  static double work(const FactorGraph& graph) {
    const std::vector<std::vector<DimId>> plates = graph.variable_plates();
    double assignments = 1, sites = 1, batch = 1;
    const auto slices = [&](const std::vector<DimId>& dims, DimKind kind) {
      double product = 1;
      for (const DimId d : std::set<DimId>(dims.begin(), dims.end())) {
        if (graph.dims()[d].kind == kind) product *= static_cast<double>(graph.dims()[d].size);
      }
      return product;
    };
    for (DimId d = 0; d < graph.dims().size(); ++d) {
      const double size = static_cast<double>(graph.dims()[d].size);
      if (graph.dims()[d].kind == DimKind::variable) assignments *= std::pow(size, slices(plates[d], DimKind::plate));
      if (graph.dims()[d].kind == DimKind::batch) batch *= size;
    }
    for (std::size_t f = 0; f < graph.factors().size(); ++f) sites += slices(graph.factor_plates(f), DimKind::plate);
    for (const Output& output : graph.outputs()) sites += slices(output.dims, DimKind::plate);
    return assignments * sites * batch;
  }

  Random random_;
  CaseOptions options_;
  Case case_;
  std::map<std::string, Case::Names> home_;
};

[[nodiscard]] inline Case random_case(std::uint64_t seed, const CaseOptions& options = {}) {
  return CaseGenerator(seed, options).run();
}

}  // namespace plated::test
