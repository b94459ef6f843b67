// The states of a piece's variables that no link leads through: given the path, each slice has its own.
#pragma once

#include <span>

#include "chain/decode_states.hpp"
#include "chain/program.hpp"

namespace plated::chain {

/// Fixes the variables of a piece's slices that it does not link. Those that it links, and the outer ones, are known.
void decode_inside(const Program& program, std::size_t piece, std::span<const Tensor> operands,
                   const adjoint::Choice& choice, const Call& call, States& states);

}  // namespace plated::chain
