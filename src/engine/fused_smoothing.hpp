// Masses along a chain in real space: what messages of both directions give where they meet in a slice.
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

/// Runs back along a scan of the form of hidden Markov models, block by block of slices that stay in the cache.
struct FusedSmoothing {
  FusedScan there;  // the scan whose masses are passed on
  FusedScan back;
  std::size_t messages = 0;  // before each slice of it; numbers of operands
  std::size_t last = 0;
  std::vector<SmoothedPlace> places;
  std::optional<std::size_t> matrix_answer;
  bool is_turned = false;  // the matrix's masses are [after, before]

  struct Memory {
    std::byte *own, *returning;  // [states at the ends of a block's slices, rows, states]
    std::byte* message;          // that returns
    std::byte* before;           // the same before the range that is running
    /// The message of the way there that returns meets at the end of the range, in real space and as numbers.
    std::byte *edge, *edge_numbers;
    double *shift, *weight;  // [row]
    std::byte* packed;
    std::byte* scratch;
    double *totals, *pairs, *pairs_of_range;
    FusedScan::Memory back;
  };
  [[nodiscard]] Memory take(MemoryLayout& layout, int threads) const;

  /// Matrices, once for all ranges.
  struct Packed {
    kernels::Scan back;
    kernels::ChainPosterior posterior;
  };
  [[nodiscard]] Packed pack(std::span<const void* const> operands, const Memory& memory) const;

  /// A range of slices: operands and answers are given from its first slice on.
  struct Run {
    std::span<const void* const> operands;
    std::int64_t origin = 0;  // the slice of the chain
    std::int64_t slices = 0;
    bool in_real_space = false;             // the messages that it reads
    const std::int64_t* lengths = nullptr;  // of rows, or null
    std::span<void* const> data;            // [place]
    int threads = 1;
  };
  /// `message` holds what returns, as numbers, `weight` the mass of each row and `edge` what it meets first; then
  /// `message` what has returned, and `before` what it was. False, with undefined answers, where real space does not
  /// hold the messages.
  [[nodiscard]] bool run(const Packed& packed, const Run& run, const Memory& memory) const;
  /// Counts what the range has added to the masses of the matrix.
  void keep_pairs(const Memory& memory) const;
  /// Adds these to a total.
  void add_pairs(const Packed& packed, const Memory& memory, double* total) const;

  /// The messages before some slices of a range on the way there, in real space.
  void copy_messages(const Run& run, std::int64_t slice, std::int64_t count, std::byte* to) const;
  [[nodiscard]] std::int64_t width() const { return there.rows * there.shape.states; }

 private:
  [[nodiscard]] std::int64_t block() const;
  [[nodiscard]] std::int64_t tasks(std::int64_t slices) const;
  [[nodiscard]] std::int64_t pairs() const { return matrix_answer ? there.shape.states * there.shape.states : 0; }
  [[nodiscard]] bool meet(const kernels::ChainPosterior& posterior, const Run& run, const Memory& memory,
                          std::int64_t first, std::int64_t count) const;
  /// Messages at the states first … first + count of the range, on the way there: where they are, or copied.
  [[nodiscard]] const std::byte* messages_of_block(const Run& run, const Memory& memory, std::int64_t first,
                                                   std::int64_t count) const;
};

}  // namespace plated::engine
