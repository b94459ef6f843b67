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
    std::byte *packed, *scratch;
    double *totals, *pairs;  // of each group of rows in a range, and of all
    // To run a range of the other scan once more.
    std::byte* message;
    double* shift;
    FusedScan::Memory there;
  };
  [[nodiscard]] Memory take(MemoryLayout& layout, int threads) const;
  [[nodiscard]] kernels::ChainPosterior pack(std::span<const void* const> operands, const Memory& memory) const;

  /// A range of slices: operands and answers are given from its first slice on.
  struct Run {
    std::span<const void* const> operands;
    std::int64_t origin = 0;  // the slice of the chain
    std::int64_t slices = 0;
    bool in_real_space = false;                 // the messages that it reads
    const std::int64_t* lengths = nullptr;      // of rows, or null
    const double* mass = nullptr;               // [row, state], where the range is entered
    double* left = nullptr;                     // and where it is left
    std::span<kernels::PosteriorPlace> places;  // with the data that they are in
    int threads = 1;
  };
  /// Adds to the pairs in memory. False, with undefined answers and without pairs, where real space does not hold the
  /// messages.
  [[nodiscard]] bool run(const kernels::ChainPosterior& posterior, const Run& run, const Memory& memory) const;
  /// Adds the masses of the matrix's entries to a total.
  void add_pairs(const kernels::ChainPosterior& posterior, const Memory& memory, double* total) const;

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
