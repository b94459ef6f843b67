// What weighs the states that are chosen in a slice of a chain, given those that are known there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "chain/sweep.hpp"

namespace plated::chain {

/// A path is traced against the messages: at a slice the linked variables on the one side are known, and those of the
/// other side that are not among them are chosen.
struct SliceChoice {
  std::vector<DimId> known;          // [link]
  std::vector<DimId> chosen;         // in declaration order: their tuple is what is chosen
  std::vector<std::int64_t> extent;  // [chosen]
  std::vector<DimId> summed;         // variables of the slice itself, which are eliminated first
  /// For each link, where its state on the other side comes from: a chosen variable, or a link's known state.
  struct Source {
    std::size_t index = 0;
    bool is_chosen = false;
  };
  std::vector<Source> next;  // [link]
};
[[nodiscard]] SliceChoice slice_choice(const FactorGraph& graph, const Piece& piece, const Body& body);

/// The factors and messages of a block that the choice depends on.
struct SliceWeights {
  struct Input {
    const std::byte* data = nullptr;
    Dtype dtype = Dtype::float64;
    std::int64_t step = 0;            // from slice to slice
    std::vector<std::int64_t> row;    // [row]
    std::vector<std::int64_t> outer;  // strides
    std::vector<std::int64_t> known;
    std::vector<std::int64_t> chosen;
    Tensor operand;  // over the chosen and the summed variables alone, as the table wants it
  };
  std::vector<Input> inputs;
  /// Where variables are summed: makes the table over the chosen ones, of inputs at one index of all else.
  std::shared_ptr<const engine::Runnable> table;
};
[[nodiscard]] SliceWeights slice_weights(const Program& program, std::size_t piece, const SliceChoice& choice,
                                         const TraceBlock& block);

}  // namespace plated::chain
