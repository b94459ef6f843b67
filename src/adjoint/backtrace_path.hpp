// Chooses along a chain, one row after another: what is chosen in a slice is known in the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "adjoint/backtrace.hpp"
#include "adjoint/backtrace_states.hpp"
#include "adjoint/backtrace_step.hpp"
#include "adjoint/backtrace_workers.hpp"

namespace plated::adjoint {

/// Slices first … last − 1 of a chain. Values that are stored in chunks hold slices from `origin` on.
struct SliceRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t origin = 0;
};

/// The rows of a scan: its linked variables' batch dims and plates but for the chain.
struct ScanRows {
  struct Row {
    std::int64_t number;   // of the first slice of the chain
    std::int64_t outside;  // without the chain
    std::int64_t present;  // where it finds whether that slice exists
  };
  std::vector<Row> list;   // by number
  std::int64_t along = 0;  // from slice to slice in the numbers of linked variables
  const double* present = nullptr;
  std::int64_t present_along = 0;

  [[nodiscard]] bool exists(const Row& row, std::int64_t slice) const {
    return present == nullptr || present[row.present + slice * present_along] != 0;
  }
};

class PathChooser {
 public:
  /// Whether a traced body's step is a sum to walk paths with: there is no other step, and what it chooses and knows is
  /// all that the next slice knows. Sizes alone decide.
  [[nodiscard]] static bool suits(const planner::Scan& scan, const std::vector<planner::Step>& traced,
                                  const planner::Extents& extents, const ChoiceStep& step, const Choice& choice);
  [[nodiscard]] static std::int64_t bytes(const planner::Scan& scan, const planner::Extents& extents,
                                          const ChoiceStep& step, const Choice& choice, int threads);

  PathChooser(const planner::Scan& scan, const planner::Extents& extents, const ScanRows& rows, const ChoiceStep& step,
              const Choice& choice, std::int64_t slices, int threads, ChosenStates& states);
  ~PathChooser();

  /// To be called before the slices are walked for the first time, and again where inputs hold other numbers.
  void begin();
  /// What is known in the first slice, as the range is walked, is among the states. Those of all slices are written.
  void walk(const SliceRange& range);

 private:
  class Worker;

  /// Finds the first input that is the same in all rows and slices, which is copied where so many slices are worth it.
  void find_packed(std::int64_t slices);

  const planner::Scan& scan_;
  const ScanRows& rows_;
  const ChoiceStep& step_;
  const Choice& choice_;
  ChosenStates& states_;
  std::vector<std::int64_t> known_extent_;               // [link]
  std::vector<std::int64_t> offset_;                     // [row][offset of the step], of the chain's first slice
  std::vector<std::vector<std::int64_t>> known_offset_;  // [input][states that the slice knows]
  std::vector<std::vector<std::int64_t>> state_offset_;  // [input][state], of several variables
  std::vector<std::uint32_t> from_state_;                // [state]: what of it is known next, if not all of it
  std::vector<std::uint32_t> from_known_;                // [states that the slice knows]
  std::vector<std::byte> packed_;                        // [states that the slice knows][state]
  std::vector<std::int64_t> packed_from_;                // [states that the slice knows]: where its row is copied from
  std::size_t packed_input_ = static_cast<std::size_t>(-1);
  std::optional<Workers<Worker>> workers_;
};

}  // namespace plated::adjoint
