// Traces a scan back: walks the slices of a chain against the direction of its messages.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "adjoint/backtrace_path.hpp"
#include "adjoint/backtrace_states.hpp"
#include "adjoint/backtrace_strategies.hpp"
#include "engine/bound_scan.hpp"

namespace plated::adjoint {

/// The names of the states where a scan's messages come out: dims of its output, or end_names.
[[nodiscard]] std::vector<DimId> ends_of(const planner::Schedule& schedule, const planner::Step& step);

/// Memory that tracing a scan takes besides the states.
[[nodiscard]] std::int64_t trace_bytes(const planner::Schedule& schedule, const planner::Step& step,
                                       const planner::Extents& extents, const Choice& choice, int threads);

class ScanTrace {
 public:
  /// Of a step of the source; the scan has kept its messages.
  ScanTrace(const ChoiceSource& source, std::size_t step, std::span<const Tensor> operands, const Choice& choice,
            int threads, ChosenStates& states);

  /// In visits of a state, about.
  [[nodiscard]] double work() const { return work_; }
  /// The states at the end where messages come out are known, and so are the variables that messages keep.
  void begin();
  /// Ranges follow each other against the direction of the messages, and together they are all slices.
  void walk(const SliceRange& range);
  void finish();
  /// All of it at once.
  void run() {
    begin();
    walk({.first = 0, .last = bound_.slices});
    finish();
  }

 private:
  void find_rows(const ChoiceSource& source, const planner::Step& step, std::span<const Tensor> operands);
  void read_body(const ChoiceSource& source, const engine::BoundStep& bound_step);
  void choose_how(const planner::Extents& extents);
  void compute(std::int64_t slice, std::int64_t origin);
  /// States after a slice of the chain are those before the next one. Slice −1: where messages come out, or where they
  /// begin.
  void pass(std::int64_t slice, std::int64_t to);
  /// The next slice against the direction of the messages; −1 after the last one.
  [[nodiscard]] std::int64_t next(std::int64_t slice) const {
    const std::int64_t to = scan_.forward ? slice - 1 : slice + 1;
    return to < bound_.slices ? to : -1;
  }

  const planner::Scan& scan_;
  const engine::BoundScan& bound_;
  const Choice& choice_;
  int threads_;
  ChosenStates& states_;
  planner::Schedule body_schedule_;
  std::vector<DimId> ends_;
  ScanRows rows_;
  engine::Workspace body_;
  std::unique_ptr<ChoiceSource> inside_;
  std::vector<const void*> operands_;              // of a slice
  std::vector<std::unique_ptr<KeptChoice>> sums_;  // of the body, the last first
  std::unique_ptr<PathChooser> path_;              // in place of choosers
  double work_ = 0;
};

}  // namespace plated::adjoint
