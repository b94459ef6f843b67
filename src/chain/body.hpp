// The graphs that eliminate a piece: what is prepared for many slices at once, and what a message meets in one slice.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chain/piece.hpp"

namespace plated::chain {

/// Factors of a slice that are multiplied into one before messages come: what lies in plates inside the chain, and
/// factors of the same variable. Its graph has the chain and the rows as batch dims, as far as its factors carry them.
struct Preparation {
  std::vector<std::size_t> factors;
  std::vector<DimId> axes;  // of the result: batch dims, then variables
  std::size_t batch = 0;    // how many of them are batch dims
  bool varies = false;      // the chain is among them
};

/// What a message meets in a slice: a factor of the graph, or a preparation.
struct BodyFactor {
  std::size_t index = 0;
  bool is_prepared = false;
  bool varies = false;
  std::vector<DimId> axes;  // the chain among them if it varies
};

struct Body {
  std::vector<Preparation> preparations;
  std::vector<BodyFactor> factors;
};

/// Decides what is prepared. The graph is the one with all ends (Pieces::graph). What lies in slices of `ragged` chains
/// inside the piece differs from slice to slice and from row to row, whatever its factors carry.
[[nodiscard]] Body plan_body(const FactorGraph& graph, const Piece& piece, const SortedSet& ragged);

/// The axes of messages before a slice (over sources) and after it (over targets).
[[nodiscard]] std::vector<DimId> message_axes(const Piece& piece, const std::vector<DimId>& linked);

/// One step of the messages: from before the slice to after it, or back. Factor 0 is the message.
[[nodiscard]] FactorGraph body_graph(const FactorGraph& graph, const Piece& piece, const Body& body, bool forward);

/// A preparation for `slices` slices at once.
[[nodiscard]] FactorGraph preparation_graph(const FactorGraph& graph, const Piece& piece,
                                            const Preparation& preparation, std::int64_t slices);

/// The first message: the product of the absorbed factors, over the start's variables.
[[nodiscard]] FactorGraph start_graph(const FactorGraph& graph, const Piece& piece, bool with_message);

/// What is asked of many slices at once, each with the messages that meet in it.
struct SliceQuestion {
  std::int64_t slices = 1;
  /// The variables outside are batch dims: a problem for each of their states; else they are variables.
  bool outer_is_batch = true;
  /// Factors that are left out.
  std::vector<std::size_t> masked;
  /// Further factors, of ones, whose gradients tell marginals.
  std::vector<std::vector<DimId>> probes;
  /// With a factor for the messages' scalars, over the chain, rows and outer variables.
  bool offsets = false;
  /// Outputs; none: the total, for each batch.
  std::vector<std::vector<DimId>> outputs;
};
/// Factors: the piece's, the message before and the message after each slice, the scalars, the probes.
[[nodiscard]] FactorGraph slice_graph(const FactorGraph& graph, const Piece& piece, const SliceQuestion& question);

/// States between slices: factors are the two messages that meet in a state, over the sources, then probes.
[[nodiscard]] FactorGraph state_graph(const FactorGraph& graph, const Piece& piece, std::int64_t states,
                                      const std::vector<std::vector<DimId>>& probes);

/// The batch dims of a slice question: the chain, rows, and outer variables.
[[nodiscard]] std::vector<DimId> slice_batch(const Piece& piece);

}  // namespace plated::chain
