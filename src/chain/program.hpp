// A graph with chains, ready to be asked: its pieces, the rest, and the plans of what both need.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "adjoint/questions.hpp"
#include "chain/body.hpp"
#include "chain/piece.hpp"
#include "chain/point_ends.hpp"
#include "chain/step_pool.hpp"
#include "chain/views.hpp"
#include "engine/planned.hpp"
#include "engine/recursion.hpp"
#include "planner/planner.hpp"

namespace plated::chain {

/// How a question is run.
struct Call {
  engine::Settings settings;
  const RaggedChains* lengths = nullptr;  // null: all chains have all their slices

  [[nodiscard]] const Ragged* ragged(DimId chain) const {
    if (lengths == nullptr) return nullptr;
    const auto found = lengths->find(chain);
    return found == lengths->end() ? nullptr : &found->second;
  }
};

/// A call for a question that answers a part of another, in memory that the other has counted.
class InnerCall {
 public:
  InnerCall(const Call& outer, Semiring semiring);
  /// About a stretch of slices of a chain.
  InnerCall(const Call& outer, Semiring semiring, DimId chain, std::int64_t first, std::int64_t count);
  InnerCall(const InnerCall&) = delete;
  InnerCall& operator=(const InnerCall&) = delete;
  ~InnerCall() = default;

  operator const Call&() const { return call_; }  // NOLINT(google-explicit-constructor): it is one

 private:
  RaggedChains lengths_;
  Call call_;
};

/// A graph that may have chains, and the plans of questions that were asked of it. Immutable; any thread may ask.
class Program {
 public:
  Program(FactorGraph graph, planner::Options options, TakeOut how = {});

  [[nodiscard]] const FactorGraph& graph() const { return graph_; }
  [[nodiscard]] const planner::Options& options() const { return options_; }
  [[nodiscard]] bool has_chains() const { return pieces_ || sliced_; }

  /// Set where something holds a slice's variables from outside. Questions are then put to `sliced()`, the program of
  /// the rewritten graph: all that follows is about that one.
  [[nodiscard]] const PointEnds* point_ends() const { return point_ends_ ? &*point_ends_ : nullptr; }
  [[nodiscard]] const Program& sliced() const { return sliced_ ? *sliced_ : *this; }
  /// What such a question is asked with.
  struct SlicedInputs {
    std::vector<Tensor> operands;
    Call call;
  };
  [[nodiscard]] SlicedInputs sliced_inputs(std::span<const Tensor> operands, Semiring semiring, const Call& call) const;

  /// The program for a call: the lengths of some chains change how they are taken out. Is this one, where none do.
  [[nodiscard]] const Program& for_lengths(const Call& call) const;
  /// The program that takes chains out as a question wants it. The graph must hold no slice's variables from outside.
  [[nodiscard]] const Program& taking_out(const TakeOut& how) const;
  [[nodiscard]] const TakeOut& how() const { return how_; }

  [[nodiscard]] const Pieces& pieces() const { return *sliced().pieces_; }
  [[nodiscard]] const Body& body(std::size_t piece) const { return bodies_[piece]; }

  /// A runnable for a question about the graph, which has no chains.
  [[nodiscard]] std::shared_ptr<const engine::Runnable> question(const std::string& question,
                                                                 const std::function<planner::Schedule()>& plan) const {
    return questions_(question, plan);
  }
  /// A program for a graph that is made from this one; `key` spells everything it depends on.
  [[nodiscard]] std::shared_ptr<const Program> part(const std::string& key,
                                                    const std::function<FactorGraph()>& make) const;
  /// The rest, asked for what needs no slice of a piece.
  [[nodiscard]] std::shared_ptr<const Program> rest() const {
    return part("rest", [&] { return pieces_->rest; });
  }
  [[nodiscard]] std::shared_ptr<const Program> rest_total() const;
  /// One step of a piece's messages.
  [[nodiscard]] std::shared_ptr<const engine::Runnable> step(std::size_t piece, bool forward) const;

  [[nodiscard]] StepPool& step_pool() const { return step_pool_; }

  /// The operands of the rest, of which the pieces' results are the last.
  [[nodiscard]] std::vector<Tensor> rest_operands(std::span<const Tensor> operands,
                                                  const std::vector<Tensor>& results) const;

 private:
  FactorGraph graph_;
  planner::Options options_;
  TakeOut how_;
  std::optional<PointEnds> point_ends_;
  std::unique_ptr<const Program> sliced_;
  std::optional<Pieces> pieces_;
  std::vector<Body> bodies_;
  engine::Planned<std::string> questions_;
  mutable StepPool step_pool_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const Program>> parts_;
  mutable std::map<TakeOut, std::unique_ptr<const Program>> others_;
};

/// The graph's outputs, in tensors that are allocated where they have no data.
std::vector<Tensor> outputs(const Program& program, std::vector<Tensor> places, std::span<const Tensor> operands,
                            const Call& call);

/// The outputs, then the gradient of each wanted operand, as adjoint::gradient_schedule gives them. `operands` are
/// followed by a cotangent for each output.
std::vector<Tensor> gradient(const Program& program, const adjoint::GradientQuestion& question,
                             std::vector<Tensor> places, std::span<const Tensor> operands, const Call& call);

/// The entropy of the posterior, and the expectation of statistics for those factors that have some, for each batch.
/// In log space.
[[nodiscard]] Tensor entropy(const Program& program, std::span<const Tensor> operands, const Call& call);
[[nodiscard]] Tensor expectation(const Program& program, std::span<const Tensor> operands,
                                 const std::vector<Tensor>& statistics, const Call& call);

}  // namespace plated::chain
