// Scans that have the form of a hidden Markov model, run by the kernels for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/layout.hpp"
#include "engine/memory_layout.hpp"
#include "kernels/scan.hpp"
#include "planner/scan_form.hpp"

namespace plated::engine {

/// A vector over the states of each slice and row. Strides are in elements.
struct FusedTerm {
  std::size_t operand = 0;        // of the body, not counting the message
  std::int64_t slice_stride = 0;  // from slice to slice of the chain
  std::int64_t state_stride = 1;
  std::vector<std::int64_t> row_offset;
};

/// What a fused scan reads, and in which order.
struct FusedScan {
  kernels::ScanShape shape;
  bool forward = true;
  std::int64_t slices = 0;
  std::int64_t rows = 1;
  std::size_t matrix = 0;
  std::int64_t matrix_stride[2] = {};  // along the states before and after a slice
  std::optional<FusedTerm> before, after;

  /// Memory of a run.
  struct Memory {
    std::byte* packed = nullptr;   // the matrix
    std::byte* scratch = nullptr;  // of each group of rows
    std::byte* split = nullptr;    // where time is split
    std::int64_t scratch_bytes = 0;
  };
  [[nodiscard]] Memory take(MemoryLayout& layout, int threads) const;

  /// Steps `first` … `first + steps` − 1 of the way through the slices.
  struct Stretch {
    std::int64_t first = 0;
    std::int64_t steps = 0;
    void* message = nullptr;  // [rows, states], read and overwritten
    double* shift = nullptr;  // [rows], added to
    const std::int64_t* lengths = nullptr;
    /// Where the message after each step goes, and what was taken out of it.
    kernels::ScanTrace trace = {};
  };
  [[nodiscard]] kernels::Scan pack(std::span<const void* const> operands, const Memory& memory) const;
  void run(const kernels::Scan& scan, std::span<const void* const> operands, const Stretch& stretch,
           const Memory& memory, int threads) const;

  /// A term at a slice, with a step of 1 or −1.
  [[nodiscard]] kernels::SliceTerm at(const std::optional<FusedTerm>& term, std::span<const void* const> operands,
                                      std::int64_t slice, std::int64_t direction) const;
  /// The same scan the other way.
  [[nodiscard]] FusedScan returning() const;
  /// The slice of a step on the way.
  [[nodiscard]] std::int64_t slice(std::int64_t step) const { return forward ? step : slices - 1 - step; }
  /// Messages pass through memory at the states before slices whose number is a multiple of this, on both ways. A way
  /// that is cut there gives the same bits as a whole one. Sizes alone decide.
  [[nodiscard]] std::int64_t settles_after() const;

 private:
  [[nodiscard]] std::int64_t groups(std::int64_t steps, std::int64_t count, int threads) const;
  /// The run without its first steps.
  [[nodiscard]] kernels::ScanRun later(const kernels::ScanRun& run, std::int64_t steps) const;
  /// `settles`: steps until messages pass through memory for the first time.
  void run_rows(const kernels::Scan& scan, const kernels::ScanRun& run, std::int64_t count, std::int64_t settles,
                const Memory& memory, int threads) const;
  /// Whether so many steps run as parts at once, each from every state: sizes alone decide.
  [[nodiscard]] bool splits(std::int64_t steps) const;
  [[nodiscard]] std::int64_t split_bytes() const;
  void run_split(const kernels::Scan& scan, const kernels::ScanRun& whole, const Memory& memory, int threads) const;
};

/// Where each row begins in a value: offsets of all indices of some axes, in row-major order.
[[nodiscard]] std::vector<std::int64_t> row_offsets(const std::vector<std::int64_t>& extent,
                                                    const std::vector<std::int64_t>& stride);

/// A scan of that form, as a body's operands: the values they are slices of, and the dims.
struct FusedRequest {
  Semiring semiring = Semiring::log;
  DimId chain = 0, before = 0, after = 0;
  std::vector<DimId> kept;
  bool forward = true;
  const planner::Step& step;
  planner::ScanForm form;
};

/// None where the kernels do not have the semiring or the types.
[[nodiscard]] std::optional<FusedScan> fused_scan(const planner::Extents& extents, const Layouts& layouts,
                                                  const FusedRequest& request);

}  // namespace plated::engine
