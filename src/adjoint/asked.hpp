// What a schedule is made for, as a value: the key under which a plan keeps it, and all that it depends on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "planner/planner.hpp"
#include "planner/schedule.hpp"

namespace plated::adjoint {

/// What a forward run computes: the graph's outputs, its total, or both.
enum class Forward : std::uint8_t { outputs, total, both };

struct Asked;
/// Gives the schedule of a forward run, which is made once for all that continue it.
using ForwardSchedule = std::function<planner::Schedule(Forward)>;
/// Makes the schedule of a question that continues a forward run.
using SweepPlanner = planner::Schedule (*)(const Asked& asked, const FactorGraph& graph,
                                           const planner::Options& options, const ForwardSchedule& forward);

struct Asked {
  enum class Kind : std::uint8_t {
    outputs,   ///< the graph's outputs, or `axes`, as fast as can be; with keep_sums, summed in double
    forward,   ///< a run that sweeps continue
    choices,   ///< the total with every value kept, for MAP and samples
    gradient,  ///< continues `forward`, and so do all that follow
    hessian,
    marginals,
    entropy,
    expectation,
    leave_one_out,
  };
  Kind kind = Kind::outputs;
  Forward forward = Forward::outputs;
  Semiring semiring = Semiring::log;
  bool keep_sums = false;
  bool nonnegative = true;  // of gradients: as in GradientQuestion
  bool reads_answers = true;
  bool variables = false;  // of marginals
  bool factors = false;
  bool own_outputs = true;                    // of outputs: the graph's; otherwise `axes`
  std::optional<DimId> filtered = {};         // of outputs: a chain; in its slices they depend on no later ones
  std::vector<bool> chosen = {};              // [factor]: wanted gradients, given statistics, or those left out
  std::vector<std::vector<DimId>> axes = {};  // of outputs
  DimId plate = 0;                            // of leave-one-out
  /// sweep_schedule in all that continue a forward run, so that a program which asks none is linked without it.
  SweepPlanner sweep = nullptr;

  bool operator==(const Asked&) const = default;
};
struct AskedHash {
  [[nodiscard]] std::size_t operator()(const Asked& asked) const noexcept;
};

/// Where the total is among the outputs of a forward run.
[[nodiscard]] std::size_t total_of(const FactorGraph& graph, Forward forward);
/// The forward run of the fewest outputs that has what is needed: where the graph's only output is the total, there is
/// just one.
[[nodiscard]] Forward simplest(const FactorGraph& graph, Forward forward);

/// Makes the schedule of anything.
[[nodiscard]] planner::Schedule schedule_for(const Asked& asked, const FactorGraph& graph,
                                             const planner::Options& options, const ForwardSchedule& forward);
/// Makes the schedule of what continues a forward run.
[[nodiscard]] planner::Schedule sweep_schedule(const Asked& asked, const FactorGraph& graph,
                                               const planner::Options& options, const ForwardSchedule& forward);

}  // namespace plated::adjoint
