// The planner: from a graph to a schedule, pass after pass.
#pragma once

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "planner/contraction_order.hpp"
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
  /// The schedule is for the sizes of the graph alone: it may leave out dims of size 1, and what is in empty plates.
  bool fixed_sizes = false;
  std::set<std::string> without;
  /// Price the repairs of an intractable graph; off while they are being priced.
  bool explain = true;
  /// Check the schedule's invariants after every pass; std::logic_error where one is broken.
  bool verify = verify_by_default.load(std::memory_order_relaxed);
};

/// The passes that may be left out.
[[nodiscard]] std::vector<std::string> optional_passes();

/// Plans the graph's outputs, for plates of any size. Where that is intractable but plates of size 0 or 1 make it
/// tractable, the schedule is for the sizes of the graph alone (Problem::fixed). Throws IntractableError, what
/// FactorGraph::validate throws, SizeOverflowError for an intermediate beyond 2^63 bytes, and OptionError for a pass
/// that does not exist.
[[nodiscard]] Schedule plan(const FactorGraph& graph, const Options& options);

}  // namespace plated::planner
