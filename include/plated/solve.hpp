// Answers questions about a model together with its evidence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plated/cost.hpp"
#include "plated/integers.hpp"
#include "plated/map.hpp"
#include "plated/model.hpp"
#include "plated/plan.hpp"
#include "plated/sample.hpp"
#include "plated/tensor.hpp"

namespace plated {

/// Plans that verbs on models have made, kept for the next call that leaves the same graph: SolveOptions::plans. Those
/// that were used last are kept, 32 of them. Any number of threads may share one, and copies share what is kept.
class KeptPlans {
 public:
  KeptPlans();

  /// The plan of a graph: the one that is kept, or a new one.
  [[nodiscard]] Plan of(const FactorGraph& graph, const PlanOptions& options);
  /// How many plans it holds.
  [[nodiscard]] std::size_t size() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// How a model is solved: in log space, in the widest dtype of its factors.
struct SolveOptions {
  /// Threads to use; 0 is all the machine has. The bits of the answers do not depend on it.
  int threads = 0;
  /// Bytes that a run may take; 0 is no limit. Orders that need less are looked for, runs are cut over plates, and a
  /// model that needs more all the same is refused before anything is allocated.
  std::int64_t memory_limit = 0;
  /// What is observed in this call besides the model's own evidence, by the names of the graph or the file; what it
  /// says of a variable counts alone. observe() says what it throws.
  Evidence evidence = {};
  /// Lengths of chains and plates, likewise.
  Lengths lengths = {};
  /// Where plans are kept between calls, if anywhere: a second call that observes the same variables need not plan.
  KeptPlans* plans = nullptr;
  /// As in RunOptions; the share is of the whole answer, however many sweeps it takes.
  std::function<bool()> cancelled = {};
  std::function<void(double)> progress = {};
};

// Before anything is planned, evidence is absorbed (observed variables leave the tables; where that would make large
// ones of them, runs read them at the observed states), states that no assignment can have are left out, and, where
// only sums are asked for, variables that nobody asks for and that hold nothing but their own distribution are dropped.
// Every function throws IntractableError, MemoryLimitError, CancelledError, ValueError (also for logarithms whose sums
// are beyond a float) and what compile() throws; all but log_partition throw ImpossibleError where the evidence
// contradicts the model.

/// ln Z, one for each batch: of a normalised model the logarithm of the probability of the evidence; −inf where the
/// evidence contradicts the model.
///
///   Model model = read_model("asia.bif");
///   observe(model, "smoke=yes");
///   double ln_p = log_partition(model).item();
[[nodiscard]] Tensor log_partition(const Model& model, const SolveOptions& options = {});

/// The posterior of every variable, observed ones too, over all its states. Axes: batch dims, plates, states.
[[nodiscard]] std::map<std::string, Tensor> marginals(const Model& model, const SolveOptions& options = {});

/// The posteriors of some variables, alone or jointly: one tensor for each entry of the query. Axes: batch dims, the
/// plates and then the chains that one of the entry's variables is in, the states of each variable in the entry's
/// order. What nobody asks for and is barren is left out, so that a few variables cost less than all. Throws
/// UnknownNameError, DuplicateNameError and OptionError for a query that makes no sense.
///
///   marginals(model, {{"lung"}, {"tub", "bronc"}}, {.evidence = {{"dysp", 0}}});
[[nodiscard]] std::vector<Tensor> marginals(const Model& model, const std::vector<std::vector<std::string>>& query,
                                            const SolveOptions& options = {});

/// The jointly most probable assignment of every variable, observed ones too, and the natural logarithm of its weight.
[[nodiscard]] MapResult map(const Model& model, const SolveOptions& options = {});

/// For every variable, observed ones too, slice and state the natural logarithm of the weight of the best assignment
/// that has it; −inf for states that are impossible. Axes: batch dims, plates, states.
[[nodiscard]] std::map<std::string, Tensor> max_marginals(const Model& model, const SolveOptions& options = {});

/// Exact joint samples of every variable given the evidence. Axes: the samples, batch dims, plates.
[[nodiscard]] std::map<std::string, Integers> sample(const Model& model, const SampleOptions& draws,
                                                     const SolveOptions& options = {});

/// The entropy of the joint posterior, in nats, one for each batch.
[[nodiscard]] Tensor entropy(const Model& model, const SolveOptions& options = {});

/// For each slice of a plate, ln Z − ln Z without that slice, its factors, variables and evidence: of a normalised
/// model ln p(what is observed in the slice | all other slices). Of a chain the named factors of a slice are left out,
/// and one must be named. Axes: batch dims, the plate; of a chain its other plates in front. leave_one_out of a plan
/// says more. Throws UnknownNameError, which lists the names there are, OptionError for factors of a plate and for a
/// chain without them, and ImpossibleError where the other slices are impossible by themselves.
///
///   leave_one_out(model, "patient");
///   leave_one_out(model, "t", {}, {"emission"});
[[nodiscard]] Tensor leave_one_out(const Model& model, std::string_view plate, const SolveOptions& options = {},
                                   const std::vector<std::string>& factors = {});

/// What solving a model would do, without running anything.
struct Explanation {
  std::int64_t absorbed = 0;         ///< variables that evidence removes
  std::int64_t determined = 0;       ///< variables with a single state left after evidence and zeros
  std::int64_t impossible = 0;       ///< states of other variables that are left out
  std::vector<std::string> dropped;  ///< barren variables of ln Z
  Question question;                 ///< what is asked of the plans
  std::vector<Plan> plans;           ///< on the reduced model: one, or for marginals one for each sweep
  std::vector<Question> questions;   ///< the same for each plan, with the variables that runs read factors at
  Cost cost;                         ///< of all of them, in log space and float64
  std::int64_t sweeps = 0;           ///< forwards and back, for the marginals of all variables
  double sweep_flops = 0;            ///< a quick estimate for their forward halves
};
/// Of ln Z, marginals, MAP, samples or the entropy. Throws OptionError for another kind of question, and
/// UnknownNameError for a variable that the model does not have.
///
/// `observed` are variables whose states are not known yet, but will be in all slices, whichever they are: as if there
/// were evidence of them.
[[nodiscard]] Explanation explain(const Model& model, Question::Kind kind = Question::Kind::value,
                                  const SolveOptions& options = {}, const std::vector<std::string>& observed = {});

}  // namespace plated
