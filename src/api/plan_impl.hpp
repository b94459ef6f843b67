// The state of a Plan: its graph, how it is planned, and the schedules of the questions asked so far.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "adjoint/asked.hpp"
#include "engine/exponents.hpp"
#include "engine/planned.hpp"
#include "graph/answer_axes.hpp"
#include "planner/planner.hpp"
#include "plated/plan.hpp"

namespace plated {

namespace api {

/// A question that a workspace holds; see held.hpp.
class Held {
 public:
  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  virtual ~Held() = default;
  [[nodiscard]] virtual std::int64_t bytes() const = 0;
};

}  // namespace api

struct Workspace::Impl {
  std::shared_ptr<const void> plan;  // the plan's Impl: what is bound in the memory is only right for its schedule
  engine::Workspace memory;
  std::vector<std::unique_ptr<api::Held>> held;
};

namespace api {

using engine::Runnable;
using engine::shape_only;

class PlanImpl {
 public:
  /// Throws IntractableError: a plan can be refused before anything is planned.
  /// Without observable variables, `with_evidence` need not be given.
  PlanImpl(FactorGraph asked, std::optional<FactorGraph> with_evidence, std::vector<DimId> observable,
           planner::Options how);
  PlanImpl(const PlanImpl&) = delete;
  PlanImpl& operator=(const PlanImpl&) = delete;

  const FactorGraph graph;  // as it was asked

 private:
  std::optional<FactorGraph> with_evidence_;

 public:
  const FactorGraph& observed;  // the graph and, after its factors, one for the evidence of each observable variable
  std::vector<DimId> observable;
  graph::AnswerAxes axes;
  planner::Options options;

  /// The schedule of a question, made when it is first asked.
  [[nodiscard]] std::shared_ptr<const Runnable> runnable(const adjoint::Asked& asked) const;
  /// That of the plan's own outputs, which small runs look up all the time.
  [[nodiscard]] const Runnable& value() const;
  /// The forward run that questions about the total continue; and where the total is among its outputs.
  [[nodiscard]] adjoint::Forward forward_of_total() const { return of_total_; }
  [[nodiscard]] std::size_t total_of(adjoint::Forward forward) const {
    return total_of_[static_cast<std::size_t>(forward)];
  }
  /// Memory that a part takes besides its run, for answers in another type.
  [[nodiscard]] std::int64_t bytes_beside(const adjoint::Asked& part, const planner::Extents& extents) const;
  /// What the parts of a question ask, in the order in which they are run.
  [[nodiscard]] std::vector<adjoint::Asked> parts(const Question& question) const;

  /// The plan for other sizes: null where this one serves them. A graph that is tractable only because plates have size
  /// 0 or 1 has a plan for each. Throws IntractableError where the graph is intractable then.
  [[nodiscard]] std::shared_ptr<const PlanImpl> at(const planner::Extents& extents) const;
  /// The plan of the same graph whose schedules raise the slices of these plates, and read factors at these variables'
  /// observed states; null where there are none. The exponents of a plate have the axes that they are given under.
  [[nodiscard]] std::shared_ptr<const PlanImpl> serving(const engine::Exponents& exponents,
                                                        const planner::Observations& observations) const;
  /// The plan whose schedules answer a question: one for the weights, lengths and evidence that it names, or null: this
  /// one. Throws UnknownNameError.
  [[nodiscard]] std::shared_ptr<const PlanImpl> serving(const Question& question) const;
  /// The plan of the same graph for other outputs, whose ends of chains it may not name; without further evidence.
  [[nodiscard]] std::shared_ptr<const PlanImpl> asking(const std::vector<std::vector<std::string>>& outputs) const;
  /// Whether a run with these options is of this very plan, at the sizes that its operands have, and of nothing besides
  /// them.
  [[nodiscard]] bool is_plain(const RunOptions& how) const {
    return !fixed_ && !takes_more_operands() && how.sizes.empty() && how.lengths.empty() && how.weights.empty();
  }
  /// Whether evidence or lengths may tell sizes that no operand has.
  [[nodiscard]] bool reads_implied_sizes(const RunOptions& how) const {
    return has_open_sizes_ && (!how.evidence.empty() || !how.lengths.empty());
  }
  /// Whether runs bring along evidence or exponents besides the operands.
  [[nodiscard]] bool takes_more_operands() const { return !observable.empty() || !options.weights.empty(); }

 private:
  using WeightAxes = std::map<DimId, std::vector<DimId>>;
  [[nodiscard]] planner::Schedule schedule(const adjoint::Asked& asked) const;
  [[nodiscard]] std::shared_ptr<const PlanImpl> serving(const WeightAxes& weights,
                                                        const planner::Observations& observations) const;
  /// Another plan of the same graph, made once for each key.
  struct Key {
    planner::Extents extents;  // empty: those of the graph
    WeightAxes weights;
    planner::Observations observations;
    std::vector<std::vector<std::string>> outputs;  // empty: the graph's own
    auto operator<=>(const Key&) const = default;
  };
  template <class Make>
  [[nodiscard]] std::shared_ptr<const PlanImpl> other(const Key& key, Make make) const;

  bool fixed_ = false;           // it is for the graph's sizes alone
  bool has_open_sizes_ = false;  // of plates, chains or batch dims that no factor has
  adjoint::Forward of_outputs_;
  adjoint::Forward of_total_;
  std::array<std::size_t, 3> total_of_;  // [forward]
  engine::Planned<adjoint::Asked, adjoint::AskedHash> planned_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Runnable> own_value_;
  mutable std::atomic<const Runnable*> value_ = nullptr;
  mutable std::map<Key, std::shared_ptr<const PlanImpl>> others_;
};

/// Makes a plan, and plans none of its questions: those that a program never asks are not linked.
[[nodiscard]] Plan make_plan(FactorGraph&& graph, const PlanOptions& options);
/// Plans questions before they are asked.
void prepare(const Plan& plan, const std::vector<Question>& questions);

struct PlanAccess {
  static Plan plan(std::shared_ptr<const PlanImpl> impl) { return Plan(std::move(impl)); }
  static const PlanImpl& impl(const Plan& plan) { return *plan.impl_; }
  /// Throws OptionError for a workspace of another plan.
  static void check(const Workspace& workspace, const Plan& plan);
  static std::vector<std::unique_ptr<Held>>& held(Workspace& workspace, const Plan& plan) {
    check(workspace, plan);
    return workspace.impl_->held;
  }
  /// The same plan of a graph that was written with other sizes.
  static Plan sized(const Plan& plan, FactorGraph graph) {
    Plan other = plan;
    other.sized_ = std::make_shared<const FactorGraph>(std::move(graph));
    return other;
  }
};

}  // namespace api

}  // namespace plated
