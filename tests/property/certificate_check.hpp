// Checks that a certificate proves a graph intractable: the forbidden minor of [TVE] Thm. 1, read off the graph.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated::test {

inline bool proves_intractable(const FactorGraph& graph, const Certificate& certificate) {
  const std::vector<std::vector<DimId>> plates = graph.variable_plates();
  const auto has = [](const auto& list, DimId d) { return std::find(list.begin(), list.end(), d) != list.end(); };
  const auto u = graph.find(certificate.u), w = graph.find(certificate.w);
  const auto a = graph.find(certificate.a), b = graph.find(certificate.b);
  if (!u || !w || !a || !b || certificate.factors.empty()) return false;
  // Dims of size 1 are dropped before the verdict; empty ones are not.
  for (const DimId d : {*u, *w, *a, *b}) {
    if (graph.dims()[d].size == 1) return false;
  }
  if (!has(plates[*u], *a) || has(plates[*u], *b) || !has(plates[*w], *b) || has(plates[*w], *a)) return false;
  std::vector<DimId> link{*u};  // what the next factor of the path must share with the one before it
  for (const std::string& name : certificate.factors) {
    std::size_t f = 0;
    while (f < graph.factors().size() && graph.factors()[f].name != name) ++f;
    if (f == graph.factors().size()) return false;
    const std::vector<DimId> in = graph.factor_plates(f), holds = graph.factor_variables(f);
    if (!has(in, *a) || !has(in, *b)) return false;
    if (std::none_of(holds.begin(), holds.end(), [&](DimId v) { return has(link, v); })) return false;
    link = holds;
    const bool last = &name == &certificate.factors.back();
    if (last) return has(holds, *w);
    std::erase_if(link,
                  [&](DimId v) { return graph.dims()[v].size == 1 || !has(plates[v], *a) || !has(plates[v], *b); });
  }
  return false;
}

}  // namespace plated::test
