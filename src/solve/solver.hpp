// A model with the evidence of a call, reduced and in log space: what every verb on models begins with.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/watch.hpp"
#include "graph/answer_axes.hpp"
#include "plated/marginals.hpp"
#include "plated/solve.hpp"
#include "reduce/queries.hpp"
#include "reduce/reduction.hpp"

namespace plated::solve {

class Solver {
 public:
  /// Throws what reduce() throws. The model and the options outlive it.
  Solver(const Model& model, const SolveOptions& options, reduce::Reading reading = reduce::Reading::absorbed,
         bool states_known = true);

  [[nodiscard]] const reduce::Reduction& reduction() const { return reduction_; }
  [[nodiscard]] const FactorGraph& graph() const { return reduction_.model.graph; }
  [[nodiscard]] const std::vector<Tensor>& factors() const { return reduction_.model.factors; }
  /// Variables of the reduced model that have evidence which no table could absorb.
  [[nodiscard]] const std::vector<DimId>& observed() const { return observed_; }

  /// Throws ImpossibleError where the reduction has found that nothing is possible.
  void check_possible() const;

  /// A plan of the reduced model, made for a single run, or one that is kept.
  [[nodiscard]] Plan plan(bool sums_only) const { return plan(graph(), observed_, sums_only); }
  /// The same of a part of it.
  [[nodiscard]] Plan plan(const reduce::Query& part) const;
  /// What a run of such a plan is asked, besides its kind: which variables it has evidence for.
  void name_observed(Question& question, const std::vector<DimId>& observed) const;
  void name_observed(Question& question, const reduce::Query& part) const {
    name_observed(question, observed_in(part));
  }
  /// Options of a run; it is watched already.
  [[nodiscard]] RunOptions run_options() const;
  /// The posteriors of a part of the reduced model.
  [[nodiscard]] Marginals ask(const reduce::Query& part, const MarginalOptions& wanted) const;

  /// Expands a posterior of the reduced model to all states. Its state axes are those of the variables in declaration
  /// order, and become those of `variables` in their order. States that were left out have the entry `absent`.
  [[nodiscard]] Tensor expanded(const std::vector<DimId>& variables, Tensor posterior, double absent = 0) const;
  /// Reads the factors of variables that stayed evidence at their states, of those that may be, and puts what this says
  /// of other variables in their places; those that are observed in all slices are known then, and no answer needs the
  /// others. Without a run, there are places alone: see messages().
  void take_messages(const std::function<bool(DimId)>& may, bool run = true);
  /// What such runs would be asked.
  struct Message {
    Plan plan;
    Question question;
  };
  [[nodiscard]] const std::vector<Message>& messages() const { return messages_; }
  /// Whether all slices of a variable are observed.
  [[nodiscard]] bool is_known(DimId v) const;

  /// Variables that are observed in rows have no answers by slice.
  template <class Answers>
  void leave_out_listed(Answers& by_name) const {
    for (const DimId v : reduction_.listed) by_name.erase(graph().dims()[v].name);
  }
  /// Assignments of the reduced model in the model's own states.
  void expand(std::map<std::string, Integers>& assignment) const;

 private:
  [[nodiscard]] Plan plan(const FactorGraph& graph, const std::vector<DimId>& observed, bool sums_only) const;
  [[nodiscard]] std::vector<DimId> observed_in(const reduce::Query& part) const;
  [[nodiscard]] bool is_whole(const reduce::Query& part) const { return part.factors.size() == factors().size(); }
  [[nodiscard]] bool is_reduced(DimId v) const { return reduction_.kept.contains(v) || reduction_.known.contains(v); }
  /// The states of a known variable, one for each slice in the order of answers: chains come behind plates there.
  [[nodiscard]] std::vector<std::int64_t> known_states(DimId v) const;

  const base::Watch watch_;
  const Model& model_;
  const SolveOptions& options_;
  reduce::Reduction reduction_;
  std::vector<DimId> observed_;
  std::vector<Message> messages_;
  graph::AnswerAxes axes_;  // of the reduced model
};

}  // namespace plated::solve
