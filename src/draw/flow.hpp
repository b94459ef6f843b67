// A plan as a flow graph: the inputs of each step, before layout.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "planner/schedule.hpp"
#include "plated/draw.hpp"

namespace plated::draw {

struct FlowNode {
  enum class Kind : std::uint8_t { factor, step, output, gap };
  Kind kind = Kind::step;
  std::string heading;             ///< of a step: its number and leaf
  std::vector<std::string> lines;  ///< what it does, and what comes out
  int colour = -1;                 ///< steps of the same leaf have the same one
  std::string tooltip;
};

struct Flow {
  std::vector<FlowNode> nodes;
  std::vector<std::pair<int, int>> arrows;
};

/// What a body's operands are called, whose steps continue the count of `messages`; empty for a schedule of its own.
struct SliceNames {
  std::vector<std::string> operands;
  std::size_t messages = 0;
};
/// The names of a scan's body: those of the values that it reads slices of.
[[nodiscard]] SliceNames slice_names(const planner::Schedule& schedule, const planner::Step& step,
                                     const SliceNames& outside);

/// The steps of a schedule with the factors that go into them. Of more than `most` steps the first and the last are
/// shown, with a gap for those between.
[[nodiscard]] Flow flow_of(const planner::Schedule& schedule, const DrawOptions& options, const SliceNames& names = {},
                           std::size_t most = 200);

}  // namespace plated::draw
