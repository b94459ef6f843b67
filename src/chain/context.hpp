// What lies outside a piece, as a message over the end where its own messages come out.
#pragma once

#include "chain/program.hpp"

namespace plated::chain {

/// What the rest makes of a piece's result, without that result itself: for each entry, total over result.
[[nodiscard]] Tensor context_of(const Tensor& total, const Tensor& result, Semiring semiring);

/// For each entry of a piece's result, the logarithm of what the rest makes of it without the result's own row, up to a
/// number for each row. Exact where the result is zero, too: nothing is undone by division there. The mass is that of
/// the result.
[[nodiscard]] Tensor log_context(const Program& program, std::size_t piece, std::span<const Tensor> operands,
                                 const std::vector<Tensor>& results, const std::vector<double>& mass, const Call& call);

}  // namespace plated::chain
