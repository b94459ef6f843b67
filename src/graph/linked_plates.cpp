// Gives linked variables the same plates, and an end its variable's plates without the chain.
#include "graph/linked_plates.hpp"

#include <optional>

#include "graph/ends.hpp"
#include "graph/link_paths.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"

namespace plated::graph {
namespace {

using base::SortedSet;
using Intersections = std::vector<std::optional<SortedSet>>;  // [dim]; none: nothing holds it

void narrow(std::optional<SortedSet>& known, const SortedSet& plates) {
  known = known ? base::intersect(*known, plates) : plates;
}

class LinkedPlates {
 public:
  LinkedPlates(const FactorGraph& graph, const StatedPlates& stated, const std::vector<Holder>& holders,
               std::vector<std::vector<DimId>>& plates)
      : graph_(graph), stated_(stated), holders_(holders), plates_(plates), paths_(graph) {}

  void add() {
    gather();
    for (const LinkPath& path : paths_.all()) {
      const SortedSet shared = shared_plates(path);
      for (const DimId v : path.variables) plates_[v] = shared;
    }
    for (DimId d = 0; d < graph_.dims().size(); ++d) {
      if (dim(d).end == End::none) continue;
      plates_[d] = plates_[dim(d).of];
      if (const auto chain = chain_of_ends(graph_, dim(d).of, plates_[d])) std::erase(plates_[d], *chain);
    }
    for (const Holder& holder : holders_) {
      for (const DimId v : holder.variables) {
        if (dim(v).end != End::none) check_end(holder, v);
        if (dim(v).end != End::none || paths_.place(v)) check_lies_in_plates(holder, v);
      }
    }
  }

 private:
  [[nodiscard]] const Dim& dim(DimId d) const { return graph_.dims()[d]; }

  /// What the holders of each linked variable have in common: its factors, and, of whole paths, everything else.
  void gather() {
    inside_.resize(graph_.dims().size());
    outside_.resize(paths_.all().size());
    for (const Holder& holder : holders_) {
      for (const DimId v : holder.variables) {
        const bool end = dim(v).end != End::none;
        const auto& place = paths_.place(end ? dim(v).of : v);
        if (!place) continue;
        narrow(end || holder.is_output ? outside_[place->path] : inside_[v], holder.plates);
      }
    }
  }

  [[nodiscard]] SortedSet shared_plates(const LinkPath& path) const {
    if (const auto stated = stated_plates(path)) return *stated;
    std::optional<DimId> first;
    for (const DimId v : path.variables) {
      if (!inside_[v]) continue;
      if (!first) first = v;
      if (*inside_[*first] != *inside_[v]) disagree(path, *first, v);
    }
    if (first) return *inside_[*first];
    const auto& outside = outside_[static_cast<std::size_t>(&path - paths_.all().data())];
    return outside ? base::unite(*outside, {path.chain}) : SortedSet{path.chain};
  }

  [[nodiscard]] std::optional<SortedSet> stated_plates(const LinkPath& path) const {
    const SortedSet* known = nullptr;
    DimId by = 0;
    for (const DimId v : path.variables) {
      const auto stated = stated_.find(v);
      if (stated == stated_.end()) continue;
      if (!base::contains(stated->second, path.chain)) {
        throw PlateError("variable " + quoted(dim(v).name) + " is stated to be in " + as_set(graph_, stated->second) +
                         ", but chain " + quoted(dim(path.chain).name) + " links it: state that chain, too");
      }
      if (known == nullptr) {
        known = &stated->second;
        by = v;
      } else if (*known != stated->second) {
        throw PlateError("variables " + quoted(dim(by).name) + " and " + quoted(dim(v).name) +
                         " are linked and share their plates, but are stated to be in " + as_set(graph_, *known) +
                         " and " + as_set(graph_, stated->second));
      }
    }
    return known == nullptr ? std::nullopt : std::optional(*known);
  }

  [[noreturn]] void disagree(const LinkPath& path, DimId a, DimId b) const {
    const bool a_lacks = !base::subtract(*inside_[b], *inside_[a]).empty();
    const DimId poorer = a_lacks ? a : b;
    const SortedSet missing = base::subtract(*inside_[a_lacks ? b : a], *inside_[poorer]);
    std::string message = "variables " + quoted(dim(a).name) + " and " + quoted(dim(b).name) + " are linked in chain " +
                          quoted(dim(path.chain).name) + " and share their plates, but their factors put them in " +
                          as_set(graph_, *inside_[a]) + " and " + as_set(graph_, *inside_[b]);
    for (const Holder& holder : holders_) {
      const SortedSet lacks = base::subtract(missing, holder.plates);
      if (holder.is_output || !base::contains(holder.variables, poorer) || lacks.empty()) continue;
      throw PlateError(message + ": " + holder.text() + " lies outside of " + as_set(graph_, lacks) + ", " +
                       repair(holder, lacks));
    }
    throw PlateError(message);
  }

  /// What to write where a holder lacks plates that its variables are in.
  [[nodiscard]] std::string repair(const Holder& holder, const SortedSet& missing) const {
    if (holder.is_output) {
      SortedSet dims = missing;
      const auto& written = graph_.outputs()[holder.index].dims;
      dims.insert(dims.end(), written.begin(), written.end());
      return "write " + quoted(spaced(graph_, dims));
    }
    Factor factor = graph_.factors()[holder.index];
    factor.tied.insert(factor.tied.begin(), missing.begin(), missing.end());
    return "write " + quoted(spaced(graph_, factor)) + " if it is the same in every slice";
  }

  void check_lies_in_plates(const Holder& holder, DimId v) const {
    const SortedSet missing = base::subtract(plates_[v], holder.plates);
    if (missing.empty()) return;
    throw PlateError(holder.text() + " holds variable " + quoted(dim(v).name) + " outside of plate " +
                     quoted(dim(missing.front()).name) + ", but linked variables and the ends of chains stay in " +
                     "their plates, here " + as_set(graph_, plates_[v]) + ": " + repair(holder, missing));
  }

  void check_end(const Holder& holder, DimId end) const {
    const DimId v = dim(end).of;
    const std::string name = quoted(dim(end).name);
    const auto chain = chain_of_ends(graph_, v, plates_[v]);
    if (!chain) {
      const bool none = plates_[v].empty() || !has_chain(plates_[v]);
      throw PlateError(holder.text() + " holds " + name + ", but variable " + quoted(dim(v).name) + " is " +
                       (none ? "in no chain: write " + quoted(dim(v).name)
                             : "in several chains, " + as_set(graph_, plates_[v]) + ", and linked in none, so it has " +
                                   "no first and last slice"));
    }
    if (base::contains(holder.plates, *chain)) {
      throw PlateError(holder.text() + " holds " + name + " inside chain " + quoted(dim(*chain).name) + ": write " +
                       quoted(dim(v).name) + " for the slice's own, or leave " + quoted(dim(*chain).name) +
                       " out to hold the chain's end");
    }
    if (dim(*chain).size == 0 && exists(holder)) check_exists(holder, end, *chain);
  }

  /// Without slices, a path of order m has m states: each link's last target is its first source, and no other end is
  /// there.
  void check_exists(const Holder& holder, DimId end, DimId chain) const {
    const DimId v = dim(end).of;
    if (const auto& place = paths_.place(v)) {
      const bool source = place->offset < paths_.all()[place->path].order();
      if (dim(end).end == End::first ? source : place->offset > 0) return;
    }
    throw PlateError(holder.text() + " holds " + quoted(dim(end).name) + ", but chain " + quoted(dim(chain).name) +
                     " has no slices, and so no variable " + quoted(dim(v).name) + " in them");
  }

  [[nodiscard]] bool has_chain(const SortedSet& plates) const {
    for (const DimId plate : plates) {
      if (dim(plate).kind == DimKind::chain) return true;
    }
    return false;
  }

  /// A holder in an empty plate does not.
  [[nodiscard]] bool exists(const Holder& holder) const {
    for (const DimId plate : holder.plates) {
      if (dim(plate).size == 0) return false;
    }
    return true;
  }

  const FactorGraph& graph_;
  const StatedPlates& stated_;
  const std::vector<Holder>& holders_;
  std::vector<std::vector<DimId>>& plates_;
  LinkPaths paths_;
  Intersections inside_;   // over the factors inside the chain
  Intersections outside_;  // [path], over the outputs, and what holds the ends
};

}  // namespace

std::string Holder::text() const {
  if (is_output) return "output " + as_term(graph, graph.outputs()[index].dims);
  return "factor " + quoted(graph.factors()[index].name) + " (" + spaced(graph, graph.factors()[index]) + ")";
}

void add_linked_plates(const FactorGraph& graph, const StatedPlates& stated, const std::vector<Holder>& holders,
                       std::vector<std::vector<DimId>>& plates) {
  LinkedPlates(graph, stated, holders, plates).add();
}

}  // namespace plated::graph
