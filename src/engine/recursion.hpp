// Runs messages along a chain: a body once per step, each time on the message of the previous step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/run.hpp"
#include "kernels/chain_posterior.hpp"
#include "kernels/scan.hpp"
#include "planner/schedule.hpp"

namespace plated::engine {

/// A factor of the body as the first step of a stretch sees it; `step` elements further lies the next step's.
struct BodyOperand {
  Tensor first;
  std::int64_t step = 0;
};

/// Steps that are run in one go. Step s is slice first_slice + s · direction.
struct Stretch {
  std::int64_t first_slice = 0;
  std::int64_t steps = 0;
  std::int64_t direction = 1;
  std::vector<BodyOperand> operands;
  /// [rows, states], read and overwritten, and a scalar for each row: in the log, max-plus and min-plus semirings a
  /// message is its entries plus that scalar, and its best entry is 0.
  void* message = nullptr;
  double* offset = nullptr;
  /// A further factor of each row in each step: [steps, rows], or null.
  const double* factor = nullptr;
  /// Where the message and the scalar after each step go: [steps, rows, states] and [steps, rows], or null. Steps may
  /// lie in descending order.
  void* trace = nullptr;
  double* trace_offset = nullptr;
  std::int64_t trace_direction = 1;
  /// The traced messages' exponentials instead, whose largest entry is 1, and no scalars: of a fused log scan only.
  bool linear = false;
  /// [rows], or null: a row keeps its message through slices at or beyond its length.
  const std::int64_t* lengths = nullptr;
};

/// Slices between messages of both directions, in real space: what a fused log scan has traced with `linear`.
struct Smoothing {
  std::int64_t first_slice = 0;
  std::int64_t steps = 0;
  std::vector<BodyOperand> operands;  // of the first slice, as the forward body has them
  const void* forward = nullptr;      // [steps + 1, rows, states]
  const void* backward = nullptr;
  const double* weight = nullptr;  // of each row
  const std::int64_t* lengths = nullptr;
  /// Places for the posterior of each slice's source and target, and what their axes are: rows, the chain, the state.
  struct Place {
    Tensor tensor;
    std::vector<DimId> axes;
    bool target = false;
  };
  std::vector<Place> places;
  DimId chain = 0;
  double* pairs = nullptr;  // [sources, targets]: the matrix's own posterior is added to it; null: not asked for
};

/// Whether messages carry a scalar apart: where products are sums.
[[nodiscard]] bool carries_offset(Semiring semiring);

/// The elements between neighbours along a dim, for a tensor whose axes are named; 0 where it has no such axis.
[[nodiscard]] std::int64_t stride_along(const Tensor& tensor, const std::vector<DimId>& axes, DimId dim);

/// Brings the best entry of each row to 0 and adds what is taken out to the row's scalar.
void normalise(Semiring semiring, Dtype dtype, void* message, double* offset, std::int64_t rows, std::int64_t states);

/// The body's operand 0 is the message, [rows …, sources …]; its output is the next one, [rows …, targets …].
class Recursion {
 public:
  /// `varies[k]`: factor k differs from step to step. `links` is the number of sources.
  Recursion(const planner::Schedule& body, std::size_t links, const std::vector<bool>& varies, Semiring semiring,
            Dtype dtype);

  void run(const Stretch& stretch, const Settings& settings);
  /// To be called before other data are used: discards what was packed from the last ones.
  void forget_data();

  /// Of the forward body: false, with undefined answers, where real space does not hold the messages.
  [[nodiscard]] bool smooth(const Smoothing& smoothing, const Settings& settings);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t states() const { return states_; }
  /// A message times a matrix that is the same in every step, with at most a vector before and a vector after it: the
  /// numbers of these factors. Such a body is run by the fused scan.
  struct Fused {
    std::size_t matrix = 0;
    std::optional<std::size_t> before;
    std::optional<std::size_t> after;
  };
  [[nodiscard]] const std::optional<Fused>& fused() const { return fused_; }
  /// Whether a fused scan of that many steps runs as parts at once, each from every state: where that pays more than
  /// one long stretch. Sizes alone decide.
  [[nodiscard]] bool splits_time(std::int64_t steps) const;
  static constexpr std::int64_t time_parts = 64;

 private:
  [[nodiscard]] std::optional<Fused> fused_form(const std::vector<bool>& varies) const;
  void run_fused(const Stretch& stretch, const Settings& settings);
  [[nodiscard]] kernels::ScanRun scan_run(const Stretch& stretch);
  void run_split(const kernels::ScanRun& whole, const Settings& settings);
  /// Runs rows of a scan, in parallel where that pays.
  void run_rows(const kernels::ScanRun& run, std::int64_t rows, const Settings& settings) const;
  void run_steps(const Stretch& stretch, const Settings& settings);
  [[nodiscard]] kernels::SliceTerm term(const BodyOperand& from, std::size_t operand,
                                        std::vector<std::int64_t>& row_offset) const;
  /// Where each row begins in a tensor whose axes are named.
  [[nodiscard]] std::vector<std::int64_t> row_offsets(const Tensor& tensor, const std::vector<DimId>& axes) const;

  const planner::Schedule& body_;
  Semiring semiring_;
  Dtype dtype_;
  std::vector<DimId> row_dims_;
  std::int64_t rows_ = 1;
  std::int64_t states_ = 1;
  std::optional<Fused> fused_;
  std::optional<kernels::Scan> scan_;
  std::optional<kernels::ChainPosterior> posterior_;
  const void* scanned_ = nullptr;  // the matrix that it has packed
  std::vector<std::int64_t> before_offset_;
  std::vector<std::int64_t> after_offset_;
  Workspace workspace_;
  std::vector<std::byte> next_;
};

}  // namespace plated::engine
