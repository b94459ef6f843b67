// Shorthands for a graph, a problem and a schedule.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "planner/planner.hpp"
#include "planner/schedule_cost.hpp"

namespace plated::test {

/// An equation whose dims all have size 2 but those named in `sizes`.
inline FactorGraph graph_of(std::string_view equation, const std::string& plates = "",
                            std::map<std::string, std::int64_t> sizes = {}) {
  std::vector<std::vector<std::int64_t>> shapes(1);
  for (const char c : equation.substr(0, equation.find("->"))) {
    if (c == ',') {
      shapes.emplace_back();
      continue;
    }
    const auto size = sizes.find(std::string(1, c));
    shapes.back().push_back(size == sizes.end() ? 2 : size->second);
  }
  return FactorGraph::from_equation(equation, shapes, {.plates = plates, .spaced = false});
}

inline planner::Schedule plan_of(const FactorGraph& graph, std::set<std::string> without = {}, bool sums_only = false) {
  return planner::plan(graph, {.order = {}, .sums_only = sums_only, .without = std::move(without)});
}

inline planner::Schedule plan_of(std::string_view equation, const std::string& plates = "",
                                 std::set<std::string> without = {}) {
  return plan_of(graph_of(equation, plates), std::move(without));
}

inline Cost cost_of(const planner::Schedule& schedule) {
  return planner::schedule_cost(schedule, schedule.extents, Semiring::real, 4);
}

/// The names of dims, joined: "ij".
inline std::string names(const FactorGraph& graph, const std::vector<DimId>& dims) {
  std::string text;
  for (const DimId d : dims) text += graph.dims()[d].name;
  return text;
}

/// "a,b" … of a row of variables a row long: "v0 v1, v1 v2 -> …" with the outputs given.
inline FactorGraph row(int variables, const std::vector<std::vector<std::string>>& outputs, std::int64_t domain = 2) {
  FactorGraph g;
  for (int v = 0; v < variables; ++v) g.variable("v" + std::to_string(v), domain);
  for (int v = 0; v + 1 < variables; ++v) g.factor("", {"v" + std::to_string(v), "v" + std::to_string(v + 1)});
  for (const auto& output : outputs) g.output(output);
  return g;
}

}  // namespace plated::test
