// Marginals of a graph with chains: of the rest's variables from its own sweep, of a chain's from its slices.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "chain/program.hpp"

namespace plated::chain {

struct PosteriorQuestion {
  std::vector<DimId> variables;  // of the program's graph, ends not among them
  std::size_t factors = 0;       // the joint posteriors of this many factors, the first ones
  Dtype dtype = Dtype::float64;  // of the answers
  /// Is shown log Z before anything is divided by it.
  std::function<void(const Tensor&)> check;
};

struct Posterior {
  Tensor log_partition;
  std::map<DimId, Tensor> variables;  // axes as graph::AnswerAxes; zeros beyond a chain's length
  std::vector<Tensor> factors;        // means over the slices that an operand has no axis for
};

[[nodiscard]] Posterior posterior(const Program& program, const PosteriorQuestion& question,
                                  std::span<const Tensor> operands, const Call& call);

}  // namespace plated::chain
