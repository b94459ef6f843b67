// One call of a verb: the plan that serves it, the sizes of its operands, weights and lengths, and settings of its
// runs.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "api/plan_impl.hpp"
#include "engine/exponents.hpp"

namespace plated::api {

/// Memory for the sizes of a call, and whether it holds them already: the operands have data and are laid out as those
/// were that they were read from, and the options give no others.
struct KnownSizes {
  planner::Extents buffer;
  bool are_known = false;
};

class Call {
 public:
  /// Throws what engine::read_extents, engine::ragged_plates and engine::exponents_of throw, and OptionError.
  Call(const Plan& asked, std::span<const Tensor> given, const RunOptions& how, KnownSizes sizes = {})
      : Call(PlanAccess::impl(asked), asked.graph(), given, how, std::move(sizes)) {}
  /// The same with sizes from a graph where neither operands nor options give any.
  Call(const PlanImpl& asked, const FactorGraph& defaults, std::span<const Tensor> operands, const RunOptions& options,
       KnownSizes sizes = {});
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() = default;

 private:
  /// As far as weights and evidence do not matter.
  [[nodiscard]] const PlanImpl& served(const PlanImpl& asked) const { return sized_ ? *sized_ : asked; }

  planner::Extents extents_;
  std::shared_ptr<const PlanImpl> sized_;  // for other sizes than those of the plan that was asked
  engine::RaggedDims lengths_;
  engine::Exponents exponents_;
  std::shared_ptr<const PlanImpl> serving_;  // whose schedules raise slices of plates, or read observed states

 public:
  const PlanImpl& plan;
  const FactorGraph& graph;  // as it was asked; its sizes need not be those of the call
  std::span<const Tensor> operands;
  const RunOptions& options;

  [[nodiscard]] const planner::Extents& extents() const { return extents_; }
  [[nodiscard]] planner::Extents take_extents() { return std::move(extents_); }
  /// Of ragged chains and plates.
  [[nodiscard]] const engine::RaggedDims& lengths() const { return lengths_; }
  /// The evidence of a variable; null without any.
  [[nodiscard]] const IntegerView* evidence(DimId variable) const {
    const auto found = options.evidence.find(graph.dims()[variable].name);
    return found == options.evidence.end() ? nullptr : &found->second;
  }
  /// The same of one that factors are read at; null for others, whose evidence is a factor.
  [[nodiscard]] const IntegerView* observed(DimId variable) const {
    return plan.options.observations.contains(variable) ? evidence(variable) : nullptr;
  }
  /// Takes the weights of its options, which have changed, without lengths: numbers of the same plates, the same ones
  /// of them zero. Throws ValueError.
  void renew_weights() { engine::renew_weights(graph, options.weights, exponents_); }
  /// What the slices of plates are raised to.
  [[nodiscard]] const engine::Exponents& exponents() const { return exponents_; }
  /// The same of lengths alone: ones and zeros.
  [[nodiscard]] engine::Exponents presence() const { return engine::exponents_of(graph, extents_, lengths_); }

  [[nodiscard]] std::vector<std::int64_t> shape(const std::vector<DimId>& dims) const {
    return planner::sizes(extents_, dims);
  }
  /// One entry for each batch.
  [[nodiscard]] std::vector<std::int64_t> batch_shape() const { return shape(plan.axes.batch()); }
  /// Places for a graph's outputs, to be allocated.
  [[nodiscard]] std::vector<Tensor> output_shapes(const FactorGraph& of, Dtype dtype) const;
  [[nodiscard]] int threads() const;
  [[nodiscard]] engine::Settings settings(Semiring semiring) const;
};

/// Throws OptionError where threads or the memory limit are negative.
void check_options(const RunOptions& options);

}  // namespace plated::api
