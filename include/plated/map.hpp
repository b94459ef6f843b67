// Finds the jointly most probable assignment.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plated/einsum.hpp"
#include "plated/integers.hpp"
#include "plated/plan.hpp"
#include "plated/tensor.hpp"

namespace plated {

struct MapResult {
  Tensor score;                                ///< the total of einsum in that semiring, one for each batch
  std::map<std::string, Integers> assignment;  ///< by variable; axes: batch dims, then its plates in declaration order
};

/// The jointly best assignment of every variable in every plate slice, in max_plus (log is read as max_plus),
/// max_product (real likewise) and min_plus. Among equal ones, each step takes the lowest tuple in declaration order;
/// neither threads nor the run change which. Throws ImpossibleError where no assignment has a weight, and ValueError
/// where the score is not a finite number.
///
///   auto [score, assignment] = map("x,iy,ijxy->", {f, g, h}, {.plates = "ij"});
[[nodiscard]] MapResult map(std::string_view equation, Tensors operands, const EinsumOptions& options = {});
[[nodiscard]] MapResult map(const Plan& plan, Tensors operands, const RunOptions& options = {});
/// The same into the caller's memory; see marginals_into. Assignments are written over.
void map_into(MapResult& answer, const Plan& plan, Tensors operands, Workspace& workspace,
              const RunOptions& options = {});

}  // namespace plated
