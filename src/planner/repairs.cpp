// Prices the unrolling of plates.
#include "planner/repairs.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "planner/point_ends.hpp"
#include "planner/schedule_cost.hpp"

namespace plated::planner {
namespace {

/// Unrolled graphs with more factors than this are not worth the planning: their cost is astronomical anyway.
constexpr double most_factors = 2000;

/// Copies that unrolling would make.
double unrolled_factors(const FactorGraph& graph, const std::vector<std::string>& plates) {
  double total = 0;
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    double copies = 1;
    for (const DimId b : graph.factor_plates(f)) {
      const Dim& dim = graph.dims()[b];
      if (std::find(plates.begin(), plates.end(), dim.name) != plates.end()) copies *= static_cast<double>(dim.size);
    }
    total += copies;
  }
  return total;
}

/// What unrolling some plates comes to: a repair with its price, or why there is none.
struct Attempt {
  std::optional<Repair> repair;
  bool too_large = false;  // to be planned, or for any machine; otherwise other plates are entangled as well
};

Attempt price(const FactorGraph& graph, const std::vector<std::string>& plates, const Options& options) {
  if (unrolled_factors(graph, plates) > most_factors) return {.too_large = true};
  try {
    FactorGraph unrolled = graph;
    for (const std::string& plate : plates) unrolled = unrolled.unroll(plate).graph;
    Options quick = options;
    quick.explain = false;
    quick.weights.clear();  // dims have other numbers, and the price is the same
    add_exponents_of_ends(unrolled, quick.weights);
    quick.order.strategy = Strategy::greedy;
    const Cost cost = schedule_cost(plan(unrolled, quick), extents_of(unrolled), Semiring::log, 4);
    return {.repair = Repair{.unroll = plates, .flops = cost.flops, .peak_bytes = cost.peak_bytes}};
  } catch (const IntractableError&) {
    return {};
  } catch (const SizeOverflowError&) {
    return {.too_large = true};
  }
}

}  // namespace

IntractableError with_repairs(const IntractableError& error, const FactorGraph& graph, const Options& options) {
  const Certificate& why = error.certificate();
  std::vector<Repair> repairs;
  bool too_large = false;
  for (const std::vector<std::string>& plates : {std::vector{why.a}, std::vector{why.b}, std::vector{why.a, why.b}}) {
    // Unrolling both never beats unrolling one that is enough.
    if (plates.size() == 2 && !repairs.empty()) continue;
    Attempt attempt = price(graph, plates, options);
    if (attempt.repair) repairs.push_back(std::move(*attempt.repair));
    too_large = too_large || attempt.too_large;
  }
  std::stable_sort(repairs.begin(), repairs.end(), [](const Repair& x, const Repair& y) { return x.flops < y.flops; });
  std::string message = error.what();
  for (const Repair& repair : repairs) {
    char line[128];
    std::snprintf(line, sizeof line, " %.3g flops, %.3g bytes of working memory.", repair.flops,
                  static_cast<double>(repair.peak_bytes));
    message += " Unrolling plate '" + repair.unroll[0] + "'";
    if (repair.unroll.size() > 1) message += " and plate '" + repair.unroll[1] + "'";
    message += " would cost";
    message += line;
  }
  if (repairs.empty()) {
    message += too_large
                   ? " Unrolling these plates would give a model too large to plan: make a plate smaller, or drop or "
                     "move the dependency."
                   : " Unrolling these plates would not help, since others are entangled as well: drop or move the "
                     "dependency.";
  }
  return {message, why, std::move(repairs)};
}

}  // namespace plated::planner
