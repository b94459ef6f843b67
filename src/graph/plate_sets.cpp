// The plates of variables and factors, and whether what is written about them agrees.
#include <unordered_set>

#include "base/sorted_set.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

using base::SortedSet;
using graph::quoted;

SortedSet of_kind(const FactorGraph& graph, const std::vector<DimId>& dims, DimKind kind) {
  SortedSet result;
  for (const DimId dim : dims) {
    if (graph.dims()[dim].kind == kind) result.push_back(dim);
  }
  return base::sorted(std::move(result));
}

/// What has been learnt about one variable's plates.
struct Evidence {
  std::optional<SortedSet> plates;  // the intersection over the factors so far; none: no factor holds it
  std::optional<SortedSet> said;    // by outputs
  std::size_t said_by = 0;          // the first output that says it
  const SortedSet* stated = nullptr;
};

/// A variable's stated plates against those of a factor or output that holds it.
void check_stated(const FactorGraph& graph, DimId variable, const SortedSet& stated, const SortedSet& plates,
                  const std::string& holder) {
  const SortedSet missing = base::subtract(stated, plates);
  if (missing.empty()) return;
  throw PlateError("variable " + quoted(graph.dims()[variable].name) + " is stated to be in plate " +
                   quoted(graph.dims()[missing.front()].name) + ", but " + holder + " holds it outside of that plate");
}

}  // namespace

std::vector<DimId> FactorGraph::factor_plates(std::size_t factor) const {
  std::vector<DimId> dims = factors_.at(factor).dims;
  dims.insert(dims.end(), factors_[factor].tied.begin(), factors_[factor].tied.end());
  return of_kind(*this, dims, DimKind::plate);
}

std::vector<DimId> FactorGraph::factor_variables(std::size_t factor) const {
  return of_kind(*this, factors_.at(factor).dims, DimKind::variable);
}

std::vector<std::vector<DimId>> FactorGraph::variable_plates() const {
  std::vector<Evidence> evidence(dims_.size());
  for (const auto& [variable, plates] : stated_plates_) evidence[variable].stated = &plates;

  for (std::size_t f = 0; f < factors_.size(); ++f) {
    const SortedSet plates = factor_plates(f);
    for (const DimId variable : factor_variables(f)) {
      Evidence& known = evidence[variable];
      if (known.stated != nullptr) {
        check_stated(*this, variable, *known.stated, plates,
                     "factor " + quoted(factors_[f].name) + " (" + graph::spaced(*this, factors_[f]) + ")");
      }
      known.plates = known.plates ? base::intersect(*known.plates, plates) : plates;
    }
  }

  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const SortedSet plates = of_kind(*this, outputs_[o].dims, DimKind::plate);
    for (const DimId variable : of_kind(*this, outputs_[o].dims, DimKind::variable)) {
      Evidence& known = evidence[variable];
      if (known.stated != nullptr) {
        check_stated(*this, variable, *known.stated, plates, "output " + graph::as_term(*this, outputs_[o].dims));
        continue;
      }
      SortedSet said = known.plates ? base::intersect(*known.plates, plates) : plates;
      if (!known.said) {
        known.said = std::move(said);
        known.said_by = o;
      } else if (*known.said != said) {
        throw PlateError("outputs " + graph::as_term(*this, outputs_[known.said_by].dims) + " and " +
                         graph::as_term(*this, outputs_[o].dims) + " disagree on the plates of variable " +
                         quoted(dims_[variable].name) + ": " + graph::as_set(*this, *known.said) + " and " +
                         graph::as_set(*this, said) + "; ask for them in separate equations");
      }
    }
  }

  std::vector<std::vector<DimId>> result(dims_.size());
  for (DimId d = 0; d < dims_.size(); ++d) {
    Evidence& known = evidence[d];
    if (known.stated != nullptr) {
      result[d] = *known.stated;
    } else if (known.said) {
      result[d] = std::move(*known.said);
    } else if (known.plates) {
      result[d] = std::move(*known.plates);
    }
  }
  return result;
}

void FactorGraph::validate() const {
  std::unordered_set<std::string_view> names;
  for (const Factor& factor : factors_) {
    if (!names.insert(factor.name).second) {
      throw DuplicateNameError("two factors are named " + quoted(factor.name));
    }
  }
  (void)variable_plates();
}

}  // namespace plated
