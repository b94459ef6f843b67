// Finds plates that can be cut, and the blocks whose padding and number cost least together.
#include "learn/cut.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/sorted_set.hpp"
#include "graph/answer_axes.hpp"
#include "graph/length_axes.hpp"
#include "graph/spell.hpp"
#include "model/likelihoods.hpp"
#include "tensor/check_entries.hpp"

namespace plated::learn {
namespace {

bool holds(const std::vector<DimId>& dims, DimId dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

bool is_known(const Model& observed, DimId variable) {
  const auto seen = observed.evidence.find(observed.graph.dims()[variable].name);
  return seen != observed.evidence.end() && tensor::range_of(seen->second).least >= 0;
}

/// A chain or plate whose lengths depend on the plate that is cut, and which blocks can have fewer slices of.
struct Ragged {
  DimId dim = 0;
  std::vector<std::int64_t> lengths;  // [slice of the plate]: the longest there
  double cells = 1;                   // of data for each slice of both
};

/// The lengths of a dim as (before, slice, behind) of a plate; none where they have no axis for it, or make no sense.
std::optional<std::vector<std::int64_t>> lengths_by_slice(const FactorGraph& graph, DimId dim, DimId plate,
                                                          const Integers& lengths) {
  std::vector<DimId> axes = graph::length_axes(graph, dim);
  const auto batch = std::ssize(graph::batch_axes(graph));
  if (std::ssize(lengths.shape) + batch == std::ssize(axes)) axes.erase(axes.begin(), axes.begin() + batch);
  const auto found = std::find(axes.begin(), axes.end(), plate);
  if (found == axes.end() || lengths.shape.size() != axes.size()) return std::nullopt;
  std::size_t inner = 1, all = 1;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::int64_t size = graph.dims()[axes[k]].size;
    if (lengths.shape[k] != size) return std::nullopt;
    all *= static_cast<std::size_t>(size);
    if (axes.begin() + static_cast<std::ptrdiff_t>(k) > found) inner *= static_cast<std::size_t>(size);
  }
  if (lengths.values.size() != all) return std::nullopt;
  const auto count = static_cast<std::size_t>(graph.dims()[plate].size);
  std::vector<std::int64_t> longest(count, 0);
  for (std::size_t k = 0; k < all; ++k) {
    const std::int64_t length = lengths.values[k];
    if (length < 0 || length > graph.dims()[dim].size) return std::nullopt;
    std::int64_t& known = longest[k / inner % count];
    known = std::max(known, length);
  }
  return longest;
}

/// How many cells of data there are for each slice of two dims; one at least.
double cells_of(const Model& observed, DimId plate, DimId dim) {
  const FactorGraph& graph = observed.graph;
  double cells = 0;
  const auto add = [&](const std::vector<DimId>& plates, double size) {
    if (base::contains(plates, plate) && base::contains(plates, dim)) cells += size;
  };
  for (const auto& [name, states] : observed.evidence) {
    add(graph.variable_plates()[*graph.find(name)], static_cast<double>(states.size()));
  }
  for (const auto& [name, list] : observed.lists) {
    add(graph.variable_plates()[*graph.find(name)], static_cast<double>(list.states.size()));
  }
  for (const auto& [name, numbers] : observed.measurements) {
    add(graph.factor_plates(model::factors_measuring(observed, name)[0]), static_cast<double>(numbers.elements()));
  }
  const auto slices = static_cast<double>(graph.dims()[plate].size) * static_cast<double>(graph.dims()[dim].size);
  return std::max(1.0, cells / std::max(1.0, slices));
}

std::vector<Ragged> ragged_in(const Model& observed, DimId plate) {
  const FactorGraph& graph = observed.graph;
  std::vector<Ragged> result;
  for (const auto& [name, lengths] : observed.lengths) {
    const auto dim = graph.find(name);
    if (!dim || *dim == plate) continue;
    bool inside = true;
    for (std::size_t f = 0; f < graph.factors().size() && inside; ++f) {
      const std::vector<DimId> plates = graph.factor_plates(f);
      inside =
          !base::contains(plates, *dim) || (base::contains(plates, plate) && !holds(graph.factors()[f].dims, *dim));
    }
    if (!inside) continue;
    auto longest = lengths_by_slice(graph, *dim, plate, lengths);
    if (!longest) continue;
    result.push_back({.dim = *dim, .lengths = std::move(*longest), .cells = cells_of(observed, plate, *dim)});
  }
  return result;
}

/// A block of these slices, with what it costs.
void measure(CutBlock& block, const FactorGraph& graph, const std::vector<Ragged>& ragged) {
  for (const Ragged& one : ragged) {
    std::int64_t longest = 1;  // an end of a chain without slices would be refused, whatever the other blocks have
    for (const std::int64_t slice : block.slices) {
      longest = std::max(longest, one.lengths[static_cast<std::size_t>(slice)]);
    }
    const std::int64_t size = graph.dims()[one.dim].size;
    if (longest < size) block.longest.emplace(one.dim, longest);
    block.work += one.cells * static_cast<double>(std::min(longest, size)) * static_cast<double>(block.slices.size());
  }
}

/// Slices in the order of their lengths, and the places where a block may begin.
struct Sorted {
  std::vector<std::int64_t> order;
  std::vector<std::size_t> begins;  // the last is the end
};

Sorted sorted_by_length(const std::vector<Ragged>& ragged, std::int64_t slices) {
  std::vector<double> work(static_cast<std::size_t>(slices), 0.0);
  for (const Ragged& one : ragged) {
    for (std::size_t k = 0; k < work.size(); ++k) work[k] += one.cells * static_cast<double>(one.lengths[k]);
  }
  const auto work_of = [&](std::int64_t slice) { return work[static_cast<std::size_t>(slice)]; };
  Sorted sorted;
  sorted.order.resize(work.size());
  std::iota(sorted.order.begin(), sorted.order.end(), std::int64_t{0});
  std::stable_sort(sorted.order.begin(), sorted.order.end(),
                   [&](std::int64_t a, std::int64_t b) { return work_of(a) < work_of(b); });
  // Blocks whose lengths differ by less need no place between them, so that there are few.
  constexpr double apart = 1 + 1.0 / 64;
  double last = -1;
  for (std::size_t k = 0; k < sorted.order.size(); ++k) {
    if (work_of(sorted.order[k]) <= last * apart) continue;
    last = work_of(sorted.order[k]);
    sorted.begins.push_back(k);
  }
  sorted.begins.push_back(sorted.order.size());
  return sorted;
}

/// Where the blocks begin that cost least, and what they cost.
std::pair<std::vector<std::size_t>, double> best_begins(const Sorted& sorted, const std::vector<Ragged>& ragged,
                                                        BlockCosts costs) {
  const std::size_t places = sorted.begins.size() - 1;
  std::vector<std::vector<std::int64_t>> longest(ragged.size(), std::vector<std::int64_t>(places, 1));
  for (std::size_t r = 0; r < ragged.size(); ++r) {
    for (std::size_t p = 0; p < places; ++p) {
      for (std::size_t k = sorted.begins[p]; k < sorted.begins[p + 1]; ++k) {
        longest[r][p] = std::max(longest[r][p], ragged[r].lengths[static_cast<std::size_t>(sorted.order[k])]);
      }
    }
  }
  // [place]: of all slices before it, and where the last block of these begins.
  std::vector<double> best(places + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> from(places + 1, 0);
  best[0] = 0;
  std::vector<std::int64_t> most(ragged.size());
  for (std::size_t end = 1; end <= places; ++end) {
    std::fill(most.begin(), most.end(), 1);
    for (std::size_t begin = end; begin-- > 0;) {
      const auto slices = static_cast<double>(sorted.begins[end] - sorted.begins[begin]);
      double cost = best[begin] + costs.of_run;
      for (std::size_t r = 0; r < ragged.size(); ++r) {
        most[r] = std::max(most[r], longest[r][begin]);
        cost += static_cast<double>(most[r]) * (ragged[r].cells * (slices + 1) + costs.of_step);
      }
      if (cost >= best[end]) continue;
      best[end] = cost;
      from[end] = begin;
    }
  }
  std::vector<std::size_t> begins;
  for (std::size_t end = places; end > 0; end = from[end]) begins.push_back(sorted.begins[from[end]]);
  std::reverse(begins.begin(), begins.end());
  return {std::move(begins), best[places]};
}

/// Whether ln Z of the data is the sum over blocks of the plate: all that there is lies in it.
bool adds_up(const Model& observed, const Weights& weights, DimId plate) {
  const FactorGraph& graph = observed.graph;
  if (observed.lengths.contains(graph.dims()[plate].name) || why_joined(observed, plate)) return false;
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    if (!base::contains(graph.factor_plates(f), plate)) return false;
  }
  for (const DimId v : graph::variables(graph)) {
    if (graph.dims()[v].end != End::none) continue;
    if (!base::contains(graph.variable_plates()[v], plate) && !is_known(observed, v)) return false;
  }
  const auto given = weights.find(graph.dims()[plate].name);
  if (given == weights.end()) return true;
  if (given->second.data() == nullptr) return false;
  const std::vector<double> values = given->second.values();
  return (given->second.rank() == 0 || given->second.shape() == Tensor::Shape{graph.dims()[plate].size}) &&
         std::all_of(values.begin(), values.end(), [](double w) { return std::isfinite(w) && w >= 0; });
}

}  // namespace

std::optional<std::string> why_joined(const Model& observed, DimId plate) {
  const FactorGraph& graph = observed.graph;
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    const Factor& factor = graph.factors()[f];
    if (!base::contains(graph.factor_plates(f), plate)) continue;
    if (holds(factor.dims, plate)) return "factor " + graph::quoted(factor.name) + " has an axis for it";
    for (const DimId v : graph.factor_variables(f)) {
      const DimId in = graph.dims()[v].end == End::none ? v : graph.dims()[v].of;
      if (base::contains(graph.variable_plates()[in], plate) || is_known(observed, v)) continue;
      return graph::quoted(graph.dims()[v].name) + ", which is outside of it, joins its slices";
    }
  }
  return std::nullopt;
}

Cut cut_evenly(const Model& observed, DimId plate, std::int64_t slices) {
  const std::vector<Ragged> ragged = ragged_in(observed, plate);
  const std::int64_t all = observed.graph.dims()[plate].size;
  Cut cut{.plate = plate, .blocks = {}};
  for (std::int64_t begin = 0; begin < all; begin += std::min(slices, all - begin)) {
    CutBlock& block = cut.blocks.emplace_back();
    block.slices.resize(static_cast<std::size_t>(std::min(slices, all - begin)));
    std::iota(block.slices.begin(), block.slices.end(), begin);
    measure(block, observed.graph, ragged);
  }
  return cut;
}

std::optional<Cut> cut_by_length(const Model& observed, const Weights& weights, BlockCosts costs) {
  const FactorGraph& graph = observed.graph;
  std::optional<Cut> best;
  double least = 0.9;  // of what all at once costs
  for (DimId plate = 0; plate < graph.dims().size(); ++plate) {
    const std::int64_t size = graph.dims()[plate].size;
    if (graph.dims()[plate].kind != DimKind::plate || size < 2) continue;
    const std::vector<Ragged> ragged = ragged_in(observed, plate);
    if (ragged.empty() || !adds_up(observed, weights, plate)) continue;
    const Sorted sorted = sorted_by_length(ragged, size);
    const auto [begins, cost] = best_begins(sorted, ragged, costs);
    double at_once = costs.of_run;
    for (const Ragged& one : ragged) {
      const auto steps = static_cast<double>(graph.dims()[one.dim].size);
      at_once += steps * (one.cells * (static_cast<double>(size) + 1) + costs.of_step);
    }
    if (cost >= least * at_once) continue;
    least = cost / at_once;
    best = Cut{.plate = plate, .blocks = {}};
    for (std::size_t k = 0; k < begins.size(); ++k) {
      CutBlock& block = best->blocks.emplace_back();
      const std::size_t end = k + 1 < begins.size() ? begins[k + 1] : sorted.order.size();
      for (std::size_t at = begins[k]; at < end; ++at) block.slices.push_back(sorted.order[at]);
      std::sort(block.slices.begin(), block.slices.end());
      measure(block, graph, ragged);
    }
  }
  return best;
}

}  // namespace plated::learn
