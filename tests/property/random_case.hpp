// Random plated graphs: nested, overlapping and disjoint plates, tied and repeated dims, empty and single-state ones,
// named and declared in any order.
#pragma once

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "plated/error.hpp"
#include "property/disguise.hpp"

namespace plated::test {

struct CaseOptions {
  double most_work = 20000;  // of the oracle: assignments × sites
  bool ties = true;
  bool small_sizes = true;     // 0 and 1
  bool plated_outputs = true;  // variables of plates in outputs
  bool odd = true;             // variables that nothing holds in plates, names in any order
};

class CaseGenerator {
 public:
  CaseGenerator(std::uint64_t seed, const CaseOptions& options) : random_(seed), options_(options) {
    case_.seed = seed;
  }

  Case run() {
    for (;;) {
      draw();
      if (options_.odd) (void)Disguise(case_, random_);
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
    case_.order.clear();
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
      if (random_.chance(options_.odd ? 20 : 10)) case_.variables.back().stated = home;
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
