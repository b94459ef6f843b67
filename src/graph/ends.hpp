// The ends of a chain: `^v` and `v$` name the first and the last slice's v outside of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plated/factor_graph.hpp"

namespace plated::graph {

/// A name taken apart: `^v` is the first slice's v, `v$` the last slice's.
struct SplitName {
  std::string_view variable;
  End end = End::none;
};
[[nodiscard]] SplitName split_end(std::string_view name);
[[nodiscard]] inline bool is_end(std::string_view name) { return split_end(name).end != End::none; }

/// `^v`, `v$`, or v itself.
[[nodiscard]] std::string with_end(std::string_view variable, End end);

/// The chain that a variable's ends are of: the one that links it or, where none does, the only one among its plates.
[[nodiscard]] std::optional<DimId> chain_of_ends(const FactorGraph& graph, DimId variable,
                                                 const std::vector<DimId>& plates);

/// Variables by the chain of whose later slices a filtered marginal knows nothing: the outermost that they are in, the
/// first of several. What lies outside of all chains is with the first. Empty without links. Throws OptionError for a
/// variable in chains that link nothing.
using VariablesOfChains = std::map<DimId, std::vector<DimId>>;
[[nodiscard]] VariablesOfChains by_outermost_chain(const FactorGraph& graph, const std::vector<DimId>& variables);

}  // namespace plated::graph
