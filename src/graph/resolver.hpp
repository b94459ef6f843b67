// Resolves names to variables: inside a chain the slice's own, outside of it the first or the last slice's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plated/factor_graph.hpp"

namespace plated::graph {

/// A dim as a factor or output writes it: bare, or as one of its ends.
struct Mention {
  DimId dim = 0;
  End end = End::none;
};

/// Finds the dims that a factor's or output's names mean, and declares the ends of variables when they are first used.
class Resolver {
 public:
  /// `where` names the factor or output in errors.
  Resolver(FactorGraph& graph, std::string where) : graph_(graph), where_(std::move(where)) {}

  /// Throws UnknownNameError, and ParseError for `^v$`.
  [[nodiscard]] Mention read(std::string_view name) const;
  /// The dims that mentions mean in a factor or output tied in `tied`. Throws PlateError.
  [[nodiscard]] std::vector<DimId> resolve(const std::vector<Mention>& mentions, const std::vector<DimId>& tied) const;

 private:
  [[nodiscard]] DimId meant(const Mention& mention, const std::vector<DimId>& chains) const;
  [[nodiscard]] DimId end_of(DimId variable, End end) const;

  FactorGraph& graph_;
  std::string where_;
};

}  // namespace plated::graph
