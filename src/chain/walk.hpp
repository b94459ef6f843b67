// A walk through the slices of all pieces in log space, each with the posterior weight of its row and outer state.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/watch.hpp"
#include "chain/sweep.hpp"

namespace plated::chain {

class Walk {
 public:
  /// Runs the pieces' messages and asks the rest for the masses of their results.
  Walk(const Program& program, std::span<const Tensor> operands, const Call& call);

  [[nodiscard]] const Tensor& log_partition() const { return log_partition_; }
  [[nodiscard]] const std::vector<Tensor>& rest_operands() const { return rest_operands_; }
  /// The mass of each entry of a piece's result.
  [[nodiscard]] const std::vector<double>& mass(std::size_t piece) const { return masses_[piece]; }
  [[nodiscard]] const Sweep& sweep(std::size_t piece) const { return *sweeps_[piece]; }
  [[nodiscard]] const std::vector<Tensor>& results() const { return results_; }

  /// Shows a piece's blocks with the weight of each of its rows, and a call for questions about the block.
  void visit(std::size_t piece, const std::function<void(const Block&, const std::vector<double>&, const Call&)>& show);
  /// The same from a context of one's own, without weights.
  void visit(std::size_t piece, const Tensor& context, const std::function<void(const Block&, const Call&)>& show);

 private:
  const Call& call_;
  base::Phases phases_;  // of the progress: the messages, the rest, and each piece's blocks
  std::vector<std::unique_ptr<Sweep>> sweeps_;
  std::vector<Tensor> results_;
  std::vector<Tensor> rest_operands_;
  std::vector<std::vector<double>> masses_;
  Tensor log_partition_;
};

/// An answer with one number for each batch of a graph, in the order of the given batch dims.
[[nodiscard]] std::vector<double> in_order(const Tensor& answer, const FactorGraph& graph,
                                           const std::vector<DimId>& batch);

}  // namespace plated::chain
