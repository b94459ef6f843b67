// Turns the dims of a step into the loops of a kernel.
#pragma once

#include <vector>

#include "engine/kernel.hpp"
#include "engine/layout.hpp"
#include "planner/schedule.hpp"

namespace plated::engine {

using base::SortedSet;

class StepShapes {
 public:
  /// `extents` are those of the run.
  StepShapes(const planner::Schedule& schedule, const planner::Extents& extents, Semiring semiring,
             const Layouts& layouts)
      : schedule_(schedule), extents_(extents), semiring_(semiring), layouts_(layouts) {}

  /// A step over as many slices of each dim as `loops` says.
  [[nodiscard]] KernelShape shape(const planner::Step& step, const planner::Extents& loops) const;
  /// The same without what comes last (powers, scales, adding to what the output holds), into a row-major array of
  /// doubles over the output's dims; for contractions, weighted sums, gathers and scatters.
  [[nodiscard]] KernelShape partial(const planner::Step& step, const planner::Extents& loops) const;
  /// From such an array into the output, with what comes last.
  [[nodiscard]] KernelShape delivery(const planner::Step& step) const;

 private:
  [[nodiscard]] Layout partial_layout(const planner::Step& step) const;
  [[nodiscard]] kernels::ContractionShape contraction(const planner::Step& step, const planner::Contract& contract,
                                                      const planner::Extents& loops) const;
  [[nodiscard]] kernels::WeightedSumShape weighted_sum(const planner::Step& step, const planner::Weigh& weigh,
                                                       const planner::Extents& loops) const;
  [[nodiscard]] LeaveOneOutInputs leave_one_out(const planner::Step& step, const planner::LeaveOneOut& others,
                                                const planner::Extents& loops) const;
  [[nodiscard]] kernels::LogMassShape log_mass(const planner::Step& step, const planner::Extents& loops) const;

  [[nodiscard]] kernels::RaiseShape raise(const planner::Step& step, const planner::Raise& raised,
                                          const planner::Extents& loops) const;

  [[nodiscard]] kernels::GatherShape gather(const planner::Step& step, const planner::Gather& gathered,
                                            const planner::Extents& loops) const;
  [[nodiscard]] kernels::ScatterShape scatter(const planner::Step& step, const planner::Scatter& scattered,
                                              const planner::Extents& loops) const;
  /// The observed states that inputs from the second on give; `has_states` is the array with an axis for these.
  [[nodiscard]] std::vector<kernels::IndexArray> indices(const planner::Step& step, const SortedSet& variables,
                                                         const std::vector<DimId>& loops, const Layout& has_states,
                                                         const planner::Extents& extents) const;

  const planner::Schedule& schedule_;
  const planner::Extents& extents_;
  Semiring semiring_;
  const Layouts& layouts_;
};

}  // namespace plated::engine
