// Leave-one-out predictive densities along a chain.
#pragma once

#include <functional>
#include <vector>

#include "chain/program.hpp"

namespace plated::chain {

/// log Z − log Z without the given factors in slice t, for each row and slice of the piece that holds them; axes: the
/// piece's rows, then the chain; 0 where there is no slice, +∞ where nothing would be left without them. `check` is
/// shown log Z before anything is divided by it.
[[nodiscard]] Tensor leave_one_out(const Program& program, std::size_t piece, const std::vector<std::size_t>& masked,
                                   std::span<const Tensor> operands, const Call& call,
                                   const std::function<void(const Tensor&)>& check);

}  // namespace plated::chain
