// Plans: compiled schedules that can be printed, costed, and run on any data of the right shapes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "plated/cost.hpp"
#include "plated/evidence.hpp"
#include "plated/factor_graph.hpp"
#include "plated/question.hpp"
#include "plated/semiring.hpp"
#include "plated/tensor.hpp"
#include "plated/tensors.hpp"

namespace plated {

namespace api {
class PlanImpl;
struct PlanAccess;
}  // namespace api

/// How the contraction order inside a component is searched for.
enum class Search : std::uint8_t {
  automatic,   ///< optimal for small components, else the best of all strategies within the budget
  optimal,     ///< dynamic programming; greedy for components too large for it
  greedy,      ///< one greedy pass
  min_fill,    ///< one min-fill elimination
  randomised,  ///< randomised restarts and local improvement, within the budget
};

/// What compile() may do.
struct PlanOptions {
  Search search = Search::automatic;
  /// The budget of a randomised search, in trials; the same trials and seed give the same plan on any machine.
  int trials = 128;
  std::uint64_t seed = 0;
  /// A cap on the search by the clock, in seconds; 0 is none. If the search reaches it, the plan depends on the
  /// machine.
  double seconds = 0;
  /// The expected number of runs: the search stops when it has cost as much as they would. 0: very many.
  double runs = 0;
  /// Bytes that runs will have: where the cheapest order would need more even in a single slice of plates and batch
  /// dims, one that needs less is looked for. It steers the order alone and refuses nothing; 0: any.
  std::int64_t memory_limit = 0;
  /// The plan will run in the real and log semirings only, and without gradients of conditional factors:
  /// variables that only their own conditional factor holds are dropped (barren nodes).
  bool sums_only = false;
  /// Variables that runs may observe (RunOptions::evidence) without a new plan.
  std::vector<std::string> observable = {};
  /// What to plan at once. Other questions are planned when they are first asked, of graphs with chains all of them.
  std::vector<Question> questions = {};
  /// Optional passes to leave out, by name; Plan::passes() lists them.
  std::set<std::string> without = {};
  /// Asked now and then on the caller's thread; true stops compile() with CancelledError.
  std::function<bool()> cancelled = {};
};

/// Whether numbers are looked at besides being computed with.
enum class Check : std::uint8_t {
  all,   ///< operands are searched for entries that the semiring does not admit, outputs for overflow
  none,  ///< NaN, bad infinities and overflow go through sums and products as IEEE arithmetic takes them, and what
         ///< posteriors lose to operands of large magnitude stays lost
};

/// How a plan is run.
struct RunOptions {
  Semiring semiring = Semiring::log;
  /// Threads to use; 0 is all the machine has. The bits of the result do not depend on it.
  int threads = 0;
  Check check = Check::all;
  /// Bytes the run may take for intermediates, scratch and the outputs it allocates; 0 is no limit. What would take
  /// more is cut over plates and batch dims, with the bits of an uncut run; what cannot be cut enough is refused before
  /// anything is allocated. An evaluation keeps its values: it is refused where they do not fit, its questions are cut,
  /// and what it holds counts.
  std::int64_t memory_limit = 0;
  /// Observed values of variables that the plan was compiled to observe.
  IntegersByName evidence = {};
  /// The sizes of plates, batch dims and chains that no operand has; otherwise those that were compiled. Where an
  /// operand has the dim, they must agree.
  std::map<std::string, std::int64_t> sizes = {};
  /// For a chain or a plate, how many of its slices exist, shaped by the batch dims and plates around it; entries
  /// beyond are never read. Those that are not named have all their slices.
  IntegersByName lengths = {};
  /// For a plate, what its slices are raised to: each stands for that many copies. Not with chains.
  Weights weights = {};
  /// Asked between steps and every few milliseconds of long ones, on the caller's thread; true stops the run with
  /// CancelledError, within a tenth of a second or so. What it had begun to write is then undefined.
  std::function<bool()> cancelled = {};
  /// Told the share of the run that is done, about: between steps and during long ones, on the caller's thread. Shares
  /// rise, and end at 1.
  std::function<void(double)> progress = {};
};

class Evaluation;
class Plan;

/// Memory that runs and questions of one plan reuse: what was allocated for a call serves the next of its kind on
/// operands of the same strides. Must not be used by two calls at once; make one per thread.
class Workspace {
 public:
  explicit Workspace(const Plan& plan);
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;
  ~Workspace();

  /// The memory it holds now.
  [[nodiscard]] std::int64_t bytes() const;

 private:
  friend class Plan;
  friend struct api::PlanAccess;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A graph and the schedules of the questions asked of it. Immutable and cheap to copy; many threads may run one plan
/// at once.
///
/// Operands tell how many slices plates, batch dims and chains have: one plan runs on 100 slices, then on 37, then on
/// none, without planning. The domains of variables are those that were compiled. (A graph that is tractable only
/// because some plates have size 0 or 1 is planned once for each set of sizes, and throws IntractableError where larger
/// plates make it intractable.)
class Plan {
 public:
  /// The outputs, freshly allocated, in the operands' widest dtype. Throws OperandCountError, NullDataError,
  /// ShapeError, ValueError, MemoryLimitError and CancelledError.
  [[nodiscard]] std::vector<Tensor> run(Tensors operands, const RunOptions& options = {}) const;

  /// The same into the caller's tensors, of any strides and dtype. Allocates nothing once the workspace has seen a
  /// run with operands of the same strides. Throws OptionError for a workspace of another plan.
  void run_into(Tensors outputs, Tensors operands, Workspace& workspace, const RunOptions& options = {}) const;
  /// The same with a workspace from the plan's own pool, as in run().
  void run_into(Tensors outputs, Tensors operands, const RunOptions& options = {}) const;

  /// Runs forward once and keeps what was computed, for any number of questions about the same operands. Their memory
  /// is referenced, and must not change but for what Evaluation::update is told.
  [[nodiscard]] Evaluation evaluate(Tensors operands, const RunOptions& options = {}) const;

  /// The graph with the sizes that were compiled.
  [[nodiscard]] const FactorGraph& graph() const;
  /// What a question costs at the compiled sizes, but for those that are given. Throws UnknownNameError for a plate
  /// that is not there, and OptionError for weights and lengths of a model with chains.
  [[nodiscard]] Cost cost(const Question& question = {}, const std::map<std::string, std::int64_t>& sizes = {},
                          Dtype dtype = Dtype::float32) const;
  /// The schedule of a question in the words of [TVE] Alg. 1: leaves, components, SumProduct, Product; then the steps
  /// of its sweep.
  [[nodiscard]] std::string print(const Question& question = {}) const;
  /// The same with the loops that a run on contiguous operands of the compiled sizes is cut into under a memory limit.
  [[nodiscard]] std::string print(const Question& question, std::int64_t memory_limit,
                                  Dtype dtype = Dtype::float32) const;
  /// The variables in the order in which they are summed.
  [[nodiscard]] std::vector<std::string> elimination_order() const;
  /// Variables that were dropped as barren.
  [[nodiscard]] std::vector<std::string> dropped() const;
  [[nodiscard]] std::size_t steps() const;

  /// The optional passes, by the names that PlanOptions::without takes.
  [[nodiscard]] static std::vector<std::string> passes();

 private:
  friend class Workspace;
  friend struct api::PlanAccess;
  explicit Plan(std::shared_ptr<const api::PlanImpl> impl);
  void run_into(Tensors outputs, Tensors operands, Workspace* workspace, const RunOptions& options) const;
  std::shared_ptr<const api::PlanImpl> impl_;
  std::shared_ptr<const FactorGraph> sized_;  // null: the plan's own graph
};

/// Plans a graph's outputs; where it has none, its total, one number for each batch. Throws IntractableError, with its
/// certificate, where the cost would be exponential in a plate's size, and whatever FactorGraph::validate throws.
///
///   Plan plan = compile(graph);
///   std::vector<Tensor> results = plan.run({prior, likelihood});
[[nodiscard]] Plan compile(const FactorGraph& graph, const PlanOptions& options = {});
/// The same of a graph that the caller gives away: it is not copied.
[[nodiscard]] Plan compile(FactorGraph&& graph, const PlanOptions& options = {});

}  // namespace plated
