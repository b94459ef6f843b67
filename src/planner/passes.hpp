// Passes over a finished list of steps, one per file.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/schedule.hpp"

namespace plated::planner {

/// Makes a gather multiply over plates, and write in double, where the one step that reads it would.
void fuse_gathers(Schedule& schedule);

/// Folds a plain elementwise product into the one contraction that reads it, where that repeats no work.
void fuse_elementwise(Schedule& schedule);

/// Drops last steps that only copy: the step before writes the output itself.
void deliver_directly(Schedule& schedule);

/// When a buffer is in use, both ends included, its bytes, and the place it is given.
struct LiveRange {
  std::size_t first = 0;
  std::size_t last = 0;
  std::int64_t bytes = 0;
  std::int64_t offset = 0;
};
/// Gives buffers that are in use at the same time different places; returns the bytes of all. Throws SizeOverflowError.
[[nodiscard]] std::int64_t place_ranges(std::vector<LiveRange>& ranges);
/// Bytes of an element in each precision: those of messages along chains depend on the semiring.
struct ElementBytes {
  std::int64_t element = 8;
  std::int64_t message = 8;

  [[nodiscard]] std::int64_t of(Precision precision) const {
    return precision == Precision::element ? element : precision == Precision::message ? message : 8;
  }
};
/// Bytes of an intermediate. Throws SizeOverflowError.
[[nodiscard]] std::int64_t buffer_bytes(const Schedule& schedule, const Extents& extents, ElementBytes bytes,
                                        ValueId value);

/// Byte offsets of intermediates in the memory of a run, and its size.
struct Arena {
  std::vector<std::int64_t> offset;  // [value]; −1 for values that lie elsewhere
  std::int64_t bytes = 0;
};
/// Gives each intermediate its place; those that steps before `first_step` write have one elsewhere. Places are taken
/// again as the schedule says, or in any case. Throws SizeOverflowError.
[[nodiscard]] Arena place_buffers(const Schedule& schedule, const Extents& extents, ElementBytes bytes,
                                  std::size_t first_step = 0, bool reuses = false);

/// Checks that values are written once and before they are read, and that dims add up. Throws std::logic_error.
void verify(const Schedule& schedule);
/// Checks that buffers of values alive at the same time do not overlap. Throws std::logic_error.
void verify_places(const Schedule& schedule, const Arena& arena, const Extents& extents, ElementBytes bytes,
                   std::size_t first_step = 0);

}  // namespace plated::planner
