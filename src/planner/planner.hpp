// The planner: from a graph to a schedule, pass after pass.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "planner/contraction_order.hpp"
#include "planner/left_out.hpp"
#include "planner/schedule.hpp"

namespace plated::planner {

/// Whether schedules are verified where nothing else is said. Tests switch it on; it costs about as much as planning.
inline std::atomic<bool> verify_by_default{false};

struct Options {
  OrderOptions order;
  bool sums_only = false;
  /// For the reverse sweep: sums are values of their own, in double, neither multiplied over plates nor rounded to an
  /// output's type in the same step.
  bool keep_sums = false;
  /// For the backtrace: messages along chains are kept.
  bool keep_messages = false;
  /// The schedule is for the sizes of the graph alone: it may leave out dims of size 1, and what is in empty plates.
  bool fixed_sizes = false;
  /// Plates whose slices are raised to numbers that a run brings along, each with the axes of these numbers: batch
  /// dims, plates that everything in the plate is in, and the plate itself.
  std::map<DimId, std::vector<DimId>> weights;
  /// Variables whose states a run brings along, as indices; no output has one.
  Observations observations;
  /// A chain: outputs in its slices depend on no later ones.
  std::optional<DimId> filtered = {};
  /// One more output: the total without each slice of a plate, or without some factors of a chain's.
  std::optional<LeftOut> left_out = {};
  std::set<std::string> without;
  /// Price the repairs of an intractable graph; off while they are being priced.
  bool explain = true;
  /// Check the schedule's invariants after every pass; std::logic_error where one is broken.
  bool verify = verify_by_default.load(std::memory_order_relaxed);
};

/// The passes that may be left out.
[[nodiscard]] std::vector<std::string> optional_passes();
/// Throws OptionError for a pass that does not exist.
void check_passes(const std::set<std::string>& without);

/// How many schedules have been planned in this process; for tests of what is planned when.
inline std::atomic<std::uint64_t> plans_made{0};

/// Runs [TVE] Alg. 1 alone. Whether the graph is tractable only at its own sizes, of plates that have none or one
/// slice. Throws IntractableError where it is not tractable at all.
[[nodiscard]] bool needs_fixed_sizes(const FactorGraph& graph, const Options& options);

/// Plans the graph's outputs, for plates of any size. Where that is intractable but plates of size 0 or 1 make it
/// tractable, the schedule is for the sizes of the graph alone (Problem::fixed). Throws IntractableError, what
/// FactorGraph::validate throws, SizeOverflowError for an intermediate beyond 2^63 bytes, and OptionError for a pass
/// that does not exist.
[[nodiscard]] Schedule plan(const FactorGraph& graph, const Options& options);

}  // namespace plated::planner
