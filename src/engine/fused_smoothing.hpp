// Masses that run back along scans of the form of hidden Markov models, by a kernel in place of the body.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/fused_scan.hpp"
#include "kernels/chain_posterior.hpp"

namespace plated::engine {

/// Where masses of the states at one end of each slice go.
struct SmoothedPlace {
  std::optional<std::size_t> answer;  // none: the masses of messages that the scan keeps
  bool before = false;                // the slice, as the scan goes whose masses they are
  SliceLayout layout;
};

/// Runs back along a scan.
struct FusedSmoothing {
  FusedScan there;           // the scan whose masses are passed on
  std::size_t messages = 0;  // before each slice of it; numbers of operands
  std::vector<SmoothedPlace> places;
  std::optional<std::size_t> matrix_answer;
  bool is_turned = false;  // the matrix's masses are [after, before]

  struct Memory {
    std::optional<kernels::ChainPosterior> kernel;
    std::byte *packed = nullptr, *scratch = nullptr;
    double *totals = nullptr, *pairs = nullptr;  // of each group of rows in a range, and of all
    FusedScan::Memory there;
  };
  [[nodiscard]] Memory take(MemoryLayout& layout, int threads) const;
  void pack(std::span<const void* const> operands, Memory& memory) const;
  /// A range of slices, which operands and places are given from; what it reads is filled in. Adds to the pairs in
  /// memory. False, with undefined answers and without pairs, where real space does not hold the messages.
  [[nodiscard]] bool run(std::span<const void* const> operands, kernels::PosteriorRun run,
                         std::span<kernels::PosteriorPlace> to, const Memory& memory, int threads) const;
  /// Adds the masses of the matrix's entries to a total.
  void add_pairs(const Memory& memory, double* total) const;

 private:
  [[nodiscard]] kernels::PosteriorShape shape() const {
    return {.dtype = there.shape.dtype, .states = there.shape.states, .rows = there.rows};
  }
  /// Sizes alone cut rows into groups, whose totals are added up in their order.
  [[nodiscard]] std::int64_t group() const;
  [[nodiscard]] std::int64_t groups() const { return (there.rows + group() - 1) / group(); }
  [[nodiscard]] std::int64_t totals() const { return matrix_answer ? shape().totals() : 0; }
};

}  // namespace plated::engine
