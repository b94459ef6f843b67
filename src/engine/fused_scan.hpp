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

/// Whether a shift is taken out of each message along a chain: where products are sums.
[[nodiscard]] bool takes_shifts(Semiring semiring);

/// Where a value has a vector over the states of each slice and row. Strides are in elements.
struct SliceLayout {
  Dtype dtype = Dtype::float64;
  std::int64_t slice_stride = 0;  // from slice to slice of the chain
  std::int64_t state_stride = 1;
  std::vector<std::int64_t> row_offset;

  /// Of a value's memory, from one of its slices on.
  template <class Data>
  [[nodiscard]] kernels::SliceVectors<Data> at(Data* data, std::int64_t slice) const {
    const kernels::SliceVectors<Data> all{.data = data,
                                          .dtype = dtype,
                                          .step_stride = slice_stride,
                                          .state_stride = state_stride,
                                          .row_offset = row_offset.data()};
    return all.from(slice);
  }
};

/// A factor of each slice.
struct FusedTerm {
  std::size_t operand = 0;  // of the body
  SliceLayout layout;
  /// Where another type is wanted, or what was computed may have overflowed: it is read from the scan's memory, without
  /// the best entry of each slice and row.
  std::optional<std::size_t> converted = {};
};

/// What a fused scan reads, and in which order.
struct FusedScan {
  kernels::ScanShape shape;
  bool forward = true;
  std::int64_t most = 0;  // steps of a stretch
  std::int64_t rows = 1;
  std::size_t matrix = 0;
  std::int64_t matrix_stride[2] = {};  // along the states before and after a slice
  std::optional<FusedTerm> before, after;

  /// Memory of a run, and the kernel that it holds the matrix of.
  struct Memory {
    std::optional<kernels::Scan> kernel;
    std::byte* packed = nullptr;   // the matrix
    std::byte* scratch = nullptr;  // of each group of rows
    std::byte* converted[2] = {};  // terms: [slice, row, state]
    double* taken = nullptr;       // out of them: [slice, row]
    double* sum = nullptr;         // of that: [row]
    std::int64_t scratch_bytes = 0;
  };
  [[nodiscard]] Memory take(MemoryLayout& layout, int threads) const;

  void pack(std::span<const void* const> operands, Memory& memory) const;
  /// Some steps of the way, from a slice on that is counted as those of operands are. The terms are filled in.
  void run(std::span<const void* const> operands, std::int64_t slice, kernels::ScanRun run, const Memory& memory,
           int threads) const;

  /// Converts the terms of so many slices, before they are read.
  void convert(std::span<const void* const> operands, std::int64_t count, const Memory& memory, int threads) const;
  /// A term from one of the slices on, in the order of time.
  [[nodiscard]] kernels::SliceTerm at(const std::optional<FusedTerm>& term, std::span<const void* const> operands,
                                      std::int64_t slice, const Memory& memory) const;
  /// Vectors over the states of all rows, one slice after the other.
  template <class Data>
  [[nodiscard]] kernels::SliceVectors<Data> rows_at(Data* data) const {
    return {.data = data, .dtype = shape.dtype, .step_stride = rows * shape.states, .row_stride = shape.states};
  }
  /// Where the messages after all steps but the last of the way through some slices go: each before the next slice.
  /// Shifts may be null.
  [[nodiscard]] kernels::ScanTrace trace(std::int64_t slices, void* messages, double* shifts, bool in_real_space) const;

 private:
  [[nodiscard]] bool converts() const { return (before && before->converted) || (after && after->converted); }
  /// What was taken out of the terms of a run is part of its messages.
  void add_taken(std::int64_t slice, const kernels::ScanRun& run, const Memory& memory) const;
  [[nodiscard]] std::int64_t groups(std::int64_t steps, std::int64_t count, int threads) const;
  void run_rows(const kernels::ScanRun& run, std::int64_t count, const Memory& memory, int threads) const;
  /// Runs the only row as parts at once, each from every state.
  template <class T>
  void run_split(const kernels::ScanRun& whole, const Memory& memory, int threads) const;
};

/// Where a value that has the chain of a scan has the vectors over one of its states.
[[nodiscard]] SliceLayout slice_layout(const planner::Extents& extents, const Layout& layout, const planner::Scan& scan,
                                       DimId state);

/// A scan whose body has that form, or the scan that it returns along. None where the kernels do not have the semiring
/// or the types.
struct FusedRequest {
  Semiring semiring = Semiring::log;
  const planner::Step& step;
  planner::ScanForm form;
  bool returns = false;
  std::int64_t most = 0;  // slices of a stretch
};
[[nodiscard]] std::optional<FusedScan> fused_scan(const planner::Extents& extents, const Layouts& layouts,
                                                  const FusedRequest& request);

}  // namespace plated::engine
