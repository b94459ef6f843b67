// Whether a piece of a chain can be eliminated slice by slice.
#pragma once

#include <vector>

#include "chain/piece.hpp"

namespace plated::chain {

/// Throws IntractableError, naming the variables, unless every variable of the piece lives in all plates of the linked
/// ones, no other chain links variables across the messages' rows, and what it touches outside lives in no plate but
/// theirs. Plates of a single slice do not count.
void check_tractable(const FactorGraph& graph, const Piece& piece, const SortedSet& outer,
                     const std::vector<std::vector<DimId>>& plates);

}  // namespace plated::chain
