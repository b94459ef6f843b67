// [TVE] Theorem 1 as stated, on every small plated graph and on larger random ones, and Theorem 3 on random plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <string>

#include "planner/planner.hpp"
#include "planner/schedule_cost.hpp"
#include "plated/error.hpp"
#include "plated_minor.hpp"

namespace plated {
namespace {

using test::MinorSearch;
using test::PlatedGraph;

/// A plated factor graph in bits: a variable's plates and factors, a factor's plates.
struct Bits {
  struct Variable {
    std::uint32_t plates = 0;
    std::uint32_t factors = 0;
  };
  std::uint32_t plates = 0;
  std::vector<Variable> variables;
  std::vector<std::uint32_t> factors;
};

std::vector<std::string> plate_names(std::uint32_t set) {
  std::vector<std::string> names;
  for (std::uint32_t b = 0; b < 32; ++b) {
    if ((set >> b & 1U) != 0) names.push_back("p" + std::to_string(b));
  }
  return names;
}

FactorGraph factor_graph(const Bits& bits, const std::vector<std::int64_t>& sizes) {
  FactorGraph g;
  for (std::uint32_t b = 0; b < bits.plates; ++b) g.plate("p" + std::to_string(b), sizes[b]);
  for (std::size_t v = 0; v < bits.variables.size(); ++v) {
    g.variable("x" + std::to_string(v), 2, plate_names(bits.variables[v].plates));
  }
  for (std::size_t f = 0; f < bits.factors.size(); ++f) {
    std::vector<std::string> dims = plate_names(bits.factors[f]);
    for (std::size_t v = 0; v < bits.variables.size(); ++v) {
      if ((bits.variables[v].factors >> f & 1U) != 0) dims.push_back("x" + std::to_string(v));
    }
    g.factor("g" + std::to_string(f), dims);
  }
  g.output({});
  return g;
}

FactorGraph factor_graph(const Bits& bits) { return factor_graph(bits, std::vector<std::int64_t>(bits.plates, 2)); }

/// "When considering graph minors, we view factor graphs (V, F, E) as undirected graphs (V ∪ F, E)."
PlatedGraph plated_graph(const Bits& bits) {
  PlatedGraph graph;
  for (const auto& variable : bits.variables) graph.vertices.push_back({variable.plates, true, 0});
  for (const std::uint32_t plates : bits.factors) graph.vertices.push_back({plates, false, 0});
  for (std::size_t v = 0; v < bits.variables.size(); ++v) {
    for (std::size_t f = 0; f < bits.factors.size(); ++f) {
      if ((bits.variables[v].factors >> f & 1U) != 0) graph.connect(v, bits.variables.size() + f);
    }
  }
  return graph;
}

/// The certificate that planning throws, or none where it succeeds.
std::optional<Certificate> refusal(const FactorGraph& graph) {
  try {
    (void)planner::plan(graph, {});
    return std::nullopt;
  } catch (const IntractableError& error) {
    return error.certificate();
  }
}

/// What is wrong with a certificate; empty where it is true.
std::string untruth(const FactorGraph& g, const Certificate& c) {
  for (const auto* name : {&c.u, &c.w, &c.a, &c.b}) {
    if (!g.find(*name)) return "there is no " + *name;
  }
  const DimId u = *g.find(c.u), w = *g.find(c.w), a = *g.find(c.a), b = *g.find(c.b);
  const auto plates = g.variable_plates();
  const auto has = [](const std::vector<DimId>& set, DimId d) {
    return std::find(set.begin(), set.end(), d) != set.end();
  };
  if (!has(plates[u], a) || has(plates[u], b)) return "u is not in a alone";
  if (!has(plates[w], b) || has(plates[w], a)) return "w is not in b alone";
  if (c.factors.empty()) return "no factors";
  std::vector<std::size_t> path;
  for (const std::string& name : c.factors) {
    const auto found =
        std::find_if(g.factors().begin(), g.factors().end(), [&](const Factor& f) { return f.name == name; });
    if (found == g.factors().end()) return "there is no factor " + name;
    path.push_back(static_cast<std::size_t>(found - g.factors().begin()));
    const auto of_factor = g.factor_plates(path.back());
    if (!has(of_factor, a) || !has(of_factor, b)) return name + " is not in both plates";
  }
  if (!has(g.factor_variables(path.front()), u)) return "the first factor does not hold u";
  if (!has(g.factor_variables(path.back()), w)) return "the last factor does not hold w";
  for (std::size_t k = 1; k < path.size(); ++k) {
    const auto after = g.factor_variables(path[k]);
    bool joined = false;
    for (const DimId v : g.factor_variables(path[k - 1])) {
      joined = joined || (has(after, v) && has(plates[v], a) && has(plates[v], b));
    }
    if (!joined) return "factors " + c.factors[k - 1] + " and " + c.factors[k] + " share no variable in both plates";
  }
  return {};
}

/// Whether no renaming of the plates makes the ordered list of sets smaller.
bool is_first_renaming(const std::vector<std::uint32_t>& sets, std::uint32_t plates) {
  std::vector<std::uint32_t> order(plates);
  std::iota(order.begin(), order.end(), 0U);
  do {
    std::vector<std::uint32_t> renamed;
    for (const std::uint32_t set : sets) {
      std::uint32_t to = 0;
      for (std::uint32_t b = 0; b < plates; ++b) to |= (set >> b & 1U) << order[b];
      renamed.push_back(to);
    }
    std::sort(renamed.begin(), renamed.end());
    if (renamed < sets) return false;
  } while (std::next_permutation(order.begin(), order.end()));
  return true;
}

/// Every graph with these numbers of variables, factors and plates, each at least once up to renaming: factors ordered
/// by their plates, variables by their factors and plates, and the plates named so that the factors come out first.
template <class Visit>
void every_graph(std::size_t variables, std::size_t factors, std::uint32_t plates, const Visit& visit) {
  Bits bits{.plates = plates,
            .variables = std::vector<Bits::Variable>(variables),
            .factors = std::vector<std::uint32_t>(factors)};
  const std::uint32_t sets = 1U << plates;
  const auto place_variables = [&](const auto& self, std::size_t v, std::uint32_t smallest) -> void {
    if (v == variables) return visit(bits);
    for (std::uint32_t code = smallest; code < sets << factors; ++code) {
      bits.variables[v] = {.plates = code % sets, .factors = code / sets};
      bool valid = true;  // P(v) ⊆ P(f)
      for (std::size_t f = 0; f < factors; ++f) {
        if ((bits.variables[v].factors >> f & 1U) != 0 && (bits.variables[v].plates & ~bits.factors[f]) != 0)
          valid = false;
      }
      if (valid) self(self, v + 1, code);
    }
  };
  const auto place_factors = [&](const auto& self, std::size_t f, std::uint32_t smallest) -> void {
    if (f == factors) {
      if (is_first_renaming(bits.factors, plates)) place_variables(place_variables, 0, 0);
      return;
    }
    for (std::uint32_t set = smallest; set < sets; ++set) {
      bits.factors[f] = set;
      self(self, f + 1, set);
    }
  };
  place_factors(place_factors, 0, 0);
}

/// A certificate that is no certificate, or a verdict that the search over minors does not share.
void expect_theorem_1(const Bits& bits, bool has_minor, std::size_t& intractable) {
  const FactorGraph g = factor_graph(bits);
  const std::optional<Certificate> certificate = refusal(g);
  ASSERT_EQ(certificate.has_value(), has_minor) << g.print();
  if (!certificate) return;
  ++intractable;
  ASSERT_EQ(untruth(g, *certificate), "") << g.print();
}

TEST(Theorem1, HoldsOnEveryGraphOfThreeVariablesThreeFactorsAndThreePlates) {
  MinorSearch search;
  std::size_t graphs = 0;
  std::size_t intractable = 0;
  for (const std::uint32_t plates : {0U, 1U, 2U, 3U}) {
    for (std::size_t variables = 0; variables <= 3; ++variables) {
      for (std::size_t factors = 0; factors <= 3; ++factors) {
        every_graph(variables, factors, plates, [&](const Bits& bits) {
          if (testing::Test::HasFatalFailure()) return;
          // A variable that nothing holds has its own component, and changes no verdict; smaller graphs have covered
          // it.
          if (variables > 1 && bits.variables[0].factors == 0) return;
          ++graphs;
          const PlatedGraph graph = plated_graph(bits);
          const bool has_minor = search.has_forbidden_minor(graph);
          ASSERT_EQ(test::is_entangled(graph, plates), has_minor) << factor_graph(bits).print();
          expect_theorem_1(bits, has_minor, intractable);
        });
      }
    }
  }
  RecordProperty("graphs", static_cast<int>(graphs));
  RecordProperty("intractable", static_cast<int>(intractable));
  RecordProperty("minors", static_cast<int>(search.graphs_seen()));
  EXPECT_GT(intractable, graphs / 100);
}

/// Variables drawn within the intersection of their factors' plates.
Bits random_bits(std::mt19937& random, std::uint32_t plates, std::size_t variables, std::size_t factors) {
  Bits bits{.plates = plates,
            .variables = std::vector<Bits::Variable>(variables),
            .factors = std::vector<std::uint32_t>(factors)};
  for (auto& set : bits.factors) set = static_cast<std::uint32_t>(random() | random()) % (1U << plates);
  for (auto& variable : bits.variables) {
    variable.plates = (1U << plates) - 1;
    for (std::size_t k = 1 + random() % 3; k > 0 && factors > 0; --k) variable.factors |= 1U << random() % factors;
    for (std::size_t f = 0; f < factors; ++f) {
      if ((variable.factors >> f & 1U) != 0) variable.plates &= bits.factors[f];
    }
    if (random() % 4 == 0) variable.plates &= static_cast<std::uint32_t>(random());
  }
  return bits;
}

TEST(Theorem1, HoldsOnLargerRandomGraphs) {
  std::mt19937 random(20190);
  std::size_t intractable = 0;
  constexpr int graphs = 4000;
  for (int trial = 0; trial < graphs; ++trial) {
    const Bits bits =
        random_bits(random, 2 + static_cast<std::uint32_t>(random() % 5), 2 + random() % 9, 1 + random() % 10);
    expect_theorem_1(bits, test::is_entangled(plated_graph(bits), bits.plates), intractable);
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_GT(intractable, graphs / 10);
  EXPECT_LT(intractable, graphs * 9 / 10);
}

TEST(Theorem3, DoublingAPlateAddsOneToTheSpanForEachProductOverIt) {
  std::mt19937 random(1902);
  int tested = 0;
  while (tested < 300) {
    const Bits bits =
        random_bits(random, 1 + static_cast<std::uint32_t>(random() % 4), 1 + random() % 6, 1 + random() % 7);
    if (test::is_entangled(plated_graph(bits), bits.plates)) continue;
    ++tested;
    std::vector<std::int64_t> sizes;
    for (std::uint32_t b = 0; b < bits.plates; ++b) sizes.push_back(std::int64_t{2} << random() % 8);
    const FactorGraph g = factor_graph(bits, sizes);
    const planner::Schedule schedule = planner::plan(g, {});
    const Cost cost = planner::schedule_cost(schedule, schedule.extents, Semiring::real, 4);
    double depth = 0;
    for (std::uint32_t b = 0; b < bits.plates; ++b) {
      double products = 0;
      for (const planner::Step& step : schedule.steps) {
        products += base::contains(multiplied(step), b) ? 1 : 0;
      }
      std::vector<std::int64_t> doubled = sizes;
      doubled[b] *= 2;
      const planner::Schedule larger = planner::plan(factor_graph(bits, doubled), {});
      const Cost after = planner::schedule_cost(larger, larger.extents, Semiring::real, 4);
      ASSERT_EQ(after.sequential, cost.sequential) << g.print();
      ASSERT_EQ(after.span, cost.span + products) << g.print();
      ASSERT_EQ(larger.steps.size(), schedule.steps.size()) << g.print();
      depth += products * std::log2(static_cast<double>(sizes[b]));
    }
    ASSERT_EQ(cost.span, cost.sequential + depth) << g.print();
    // T + O(Σ_b log M(b)): the constant is at most the number of components, one Product each, whatever the sizes.
    double logs = 0;
    for (const std::int64_t size : sizes) logs += std::log2(static_cast<double>(size));
    const auto most = static_cast<double>(bits.variables.size() + bits.factors.size() + 1);
    ASSERT_LE(cost.span, cost.sequential + most * logs) << g.print();
  }
}

}  // namespace
}  // namespace plated
