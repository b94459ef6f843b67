// A schedule that can be run, with a pool of workspaces that earlier runs have allocated.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "engine/run.hpp"
#include "planner/schedule.hpp"

namespace plated::engine {

/// Allocates those outputs that have no data, runs, and returns all of them. A run over the memory limit is refused
/// before anything is allocated.
std::vector<Tensor> run_allocating(const planner::Schedule& schedule, std::vector<Tensor> outputs,
                                   std::span<const Tensor> operands, Workspace& workspace, Settings settings);

class Runnable {
 public:
  explicit Runnable(planner::Schedule schedule) : schedule_(std::move(schedule)) {}

  [[nodiscard]] const planner::Schedule& schedule() const { return schedule_; }

  /// A workspace lent for a run and what follows it; returned to the pool at the end.
  class Lease {
   public:
    explicit Lease(const Runnable& owner);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    [[nodiscard]] Workspace& operator*() const { return *workspace_; }

   private:
    const Runnable& owner_;
    std::unique_ptr<Workspace> workspace_;
  };

  /// See run_allocating().
  std::vector<Tensor> run(std::vector<Tensor> outputs, std::span<const Tensor> operands, const Settings& settings,
                          const Lease& lease) const {
    return run_allocating(schedule_, std::move(outputs), operands, *lease, settings);
  }
  std::vector<Tensor> run(std::vector<Tensor> outputs, std::span<const Tensor> operands,
                          const Settings& settings) const {
    return run(std::move(outputs), operands, settings, Lease(*this));
  }

 private:
  planner::Schedule schedule_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> idle_;  // bounded: a burst of runs should not pin its memory
};

/// A tensor without data, to be allocated by run().
[[nodiscard]] Tensor shape_only(Dtype dtype, std::vector<std::int64_t> shape);
/// The sizes of a graph's dims.
[[nodiscard]] std::vector<std::int64_t> sizes(const FactorGraph& graph, const std::vector<DimId>& dims);
/// Shapes of a graph's outputs.
[[nodiscard]] std::vector<Tensor> output_shapes(const FactorGraph& graph, Dtype dtype);

}  // namespace plated::engine
