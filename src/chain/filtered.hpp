// Filtered marginals: what a slice's variables are, given the slices up to their own.
#pragma once

#include "chain/piece_gradient.hpp"

namespace plated::chain {

/// Fills a probe's place: the posterior given the piece's slices up to each, and all that lies outside the piece. The
/// mass is that of the piece's result among the results.
void answer_filtered(const Program& program, std::size_t piece, std::span<const Tensor> operands,
                     const std::vector<Tensor>& results, const Tensor& mass, const Probe& probe, const Call& call);

}  // namespace plated::chain
