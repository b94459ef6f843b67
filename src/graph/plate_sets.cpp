// The plates of variables and factors, and whether what is written about them agrees.
#include <algorithm>

#include "base/sorted_set.hpp"
#include "graph/linked_plates.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

using base::SortedSet;
using graph::Holder;
using graph::quoted;

SortedSet plates_among(const FactorGraph& graph, const std::vector<DimId>& dims) {
  SortedSet result;
  for (const DimId dim : dims) {
    if (has_slices(graph.dims()[dim].kind)) result.push_back(dim);
  }
  return base::sorted(std::move(result));
}

SortedSet variables_among(const FactorGraph& graph, const std::vector<DimId>& dims) {
  SortedSet result;
  for (const DimId dim : dims) {
    if (graph.dims()[dim].kind == DimKind::variable) result.push_back(dim);
  }
  return base::sorted(std::move(result));
}

std::vector<Holder> holders_of(const FactorGraph& graph) {
  std::vector<Holder> holders;
  holders.reserve(graph.factors().size() + graph.outputs().size());
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    holders.push_back({graph, false, f, graph.factor_plates(f), graph.factor_variables(f)});
  }
  for (std::size_t o = 0; o < graph.outputs().size(); ++o) {
    const auto& dims = graph.outputs()[o].dims;
    holders.push_back({graph, true, o, plates_among(graph, dims), variables_among(graph, dims)});
  }
  return holders;
}

/// What has been learnt about one variable's plates.
struct Evidence {
  std::optional<SortedSet> plates;  // the intersection over the factors so far; none: no factor holds it
  std::optional<SortedSet> said;    // by outputs
  std::size_t said_by = 0;          // the first output that says it
  const SortedSet* stated = nullptr;
};

/// A variable's stated plates against those of a factor or output that holds it.
void check_stated(const FactorGraph& graph, DimId variable, const SortedSet& stated, const Holder& holder) {
  const SortedSet missing = base::subtract(stated, holder.plates);
  if (missing.empty()) return;
  throw PlateError("variable " + quoted(graph.dims()[variable].name) + " is stated to be in plate " +
                   quoted(graph.dims()[missing.front()].name) + ", but " + holder.text() +
                   " holds it outside of that plate");
}

/// An output's say on a variable: its own plates within the factors' intersection.
void hear(const FactorGraph& graph, DimId variable, Evidence& known, const Holder& output) {
  SortedSet said = known.plates ? base::intersect(*known.plates, output.plates) : output.plates;
  if (!known.said) {
    known.said = std::move(said);
    known.said_by = output.index;
  } else if (*known.said != said) {
    throw PlateError("outputs " + graph::as_term(graph, graph.outputs()[known.said_by].dims) + " and " +
                     graph::as_term(graph, graph.outputs()[output.index].dims) +
                     " disagree on the plates of variable " + quoted(graph.dims()[variable].name) + ": " +
                     graph::as_set(graph, *known.said) + " and " + graph::as_set(graph, said) +
                     "; ask for them in separate equations");
  }
}

}  // namespace

std::vector<DimId> FactorGraph::factor_plates(std::size_t factor) const {
  std::vector<DimId> dims = factors().at(factor).dims;
  dims.insert(dims.end(), factors()[factor].tied.begin(), factors()[factor].tied.end());
  return plates_among(*this, dims);
}

std::vector<DimId> FactorGraph::factor_variables(std::size_t factor) const {
  return variables_among(*this, factors().at(factor).dims);
}

graph::PlateSets FactorGraph::infer_plates() const {
  const auto matters = [](const Dim& dim) { return has_slices(dim.kind) || dim.end != End::none; };
  if (std::none_of(dims().begin(), dims().end(), matters)) return graph::PlateSets(dims().size());
  std::vector<Evidence> evidence(dims().size());
  for (const auto& [variable, plates] : *stated_plates_) evidence[variable].stated = &plates;
  const std::vector<Holder> holders = holders_of(*this);
  for (const Holder& holder : holders) {  // the factors, and then the outputs
    for (const DimId variable : holder.variables) {
      if (dims()[variable].end != End::none || linked_->contains(variable)) continue;  // add_linked_plates() has them
      Evidence& known = evidence[variable];
      if (known.stated != nullptr) check_stated(*this, variable, *known.stated, holder);
      if (!holder.is_output) {
        known.plates = known.plates ? base::intersect(*known.plates, holder.plates) : holder.plates;
      } else if (known.stated == nullptr) {
        hear(*this, variable, known, holder);
      }
    }
  }

  graph::PlateSets result(dims().size());
  for (DimId d = 0; d < dims().size(); ++d) {
    Evidence& known = evidence[d];
    if (known.stated != nullptr) {
      result[d] = *known.stated;
    } else if (known.said) {
      result[d] = std::move(*known.said);
    } else if (known.plates) {
      result[d] = std::move(*known.plates);
    }
  }
  graph::add_linked_plates(*this, *stated_plates_, holders, result);
  return result;
}

const graph::PlateSets& FactorGraph::variable_plates() const {
  if (const graph::PlateSets* known = known_plates_.find()) return *known;
  return known_plates_.keep(infer_plates());
}

void FactorGraph::validate() const { (void)variable_plates(); }

}  // namespace plated
