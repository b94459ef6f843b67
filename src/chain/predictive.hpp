// Leave-one-out predictive densities along a chain.
#pragma once

#include <vector>

#include "chain/program.hpp"

namespace plated::chain {

/// log Z − log Z without the given factors in slice t, for each row and slice of the piece that holds them, 0 where
/// there is no slice. Throws ImpossibleError where nothing is possible without them.
struct FactorsLeftOut {
  std::vector<DimId> axes;  // the piece's rows, then the chain
  Tensor values;
};
[[nodiscard]] FactorsLeftOut leave_one_out(const Program& program, std::size_t piece,
                                           const std::vector<std::size_t>& masked, std::span<const Tensor> operands,
                                           const Call& call);

/// log Z, and log Z without each slice of a plate that lies around the chains it meets; axes: batch dims, the plate.
/// Throws OptionError for a plate inside a chain.
struct SlicesLeftOut {
  Tensor total;
  Tensor without;
};
[[nodiscard]] SlicesLeftOut leave_out_slices(const Program& program, DimId plate, std::span<const Tensor> operands,
                                             const Call& call);

}  // namespace plated::chain
