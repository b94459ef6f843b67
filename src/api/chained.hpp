// The settings and the checked lengths that questions about chains are called with.
#pragma once

#include "api/plan_impl.hpp"

namespace plated::api {

/// The lengths of ragged chains by dim. Throws UnknownNameError, ShapeError, ValueError, and OptionError where factors
/// of a chain lack plates of its linked variables and are joined to none of them, so that no length is theirs.
[[nodiscard]] chain::RaggedChains ragged_chains(const PlanImpl& plan, const Lengths& lengths);

/// The program of the total alone: questions about a posterior do not depend on the outputs that were asked for.
[[nodiscard]] std::shared_ptr<const chain::Program> total_program(const PlanImpl& plan);

/// A call with the lengths that it refers to.
class ChainCall {
 public:
  ChainCall(const PlanImpl& plan, const RunOptions& options, const engine::Settings& settings)
      : lengths_(ragged_chains(plan, options.lengths)),
        call_{.settings = settings, .lengths = lengths_.empty() ? nullptr : &lengths_} {}
  ChainCall(const ChainCall&) = delete;
  ChainCall& operator=(const ChainCall&) = delete;
  ~ChainCall() = default;

  operator const chain::Call&() const { return call_; }  // NOLINT(google-explicit-constructor): it is one

 private:
  chain::RaggedChains lengths_;
  chain::Call call_;
};

}  // namespace plated::api
