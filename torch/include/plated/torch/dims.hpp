// The dims of a program, by name: states of variables, slices of plates and of chains.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plated/factor_graph.hpp"

namespace plated::torch {

struct Dim;
/// Two values have the same dim where they point to the same one.
using DimPointer = std::shared_ptr<const Dim>;

/// A named dim of a program.
struct Dim {
  std::string name;
  DimKind kind = DimKind::variable;
  std::int64_t size = 0;
  /// Of a variable: the plates and chains that it lives in.
  std::vector<DimPointer> plates = {};
  /// How the factor graph spells it: a state before or after a chain is an end of one of the chain's variables.
  std::string spelled = {};
  /// Of a state before or after a chain: the chain, and the chain's variable whose first or last one it is.
  DimPointer chain = {};
  DimPointer of = {};
  End end = End::none;
  /// Of a subsampled plate: how many slices each of those that were taken stands for.
  double scale = 1;
};

}  // namespace plated::torch
