// Spells dims and shapes in errors and tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "plated/factor_graph.hpp"

namespace plated::graph {

/// Whether a list of dims, in any order, has one.
[[nodiscard]] bool contains(std::span<const DimId> dims, DimId dim);
/// 'x'
[[nodiscard]] std::string quoted(std::string_view name);
/// The dims' names separated by blanks.
[[nodiscard]] std::string spaced(const FactorGraph& graph, std::span<const DimId> dims);
/// The dims as an equation would write them: `"xiz"` where every name is one letter, `"x i z"` otherwise.
[[nodiscard]] std::string as_term(const FactorGraph& graph, std::span<const DimId> dims);
/// A factor's dims separated by blanks, tied ones first and in parentheses.
[[nodiscard]] std::string spaced(const FactorGraph& graph, const Factor& factor);
/// {'i', 'j'}
[[nodiscard]] std::string as_set(const FactorGraph& graph, std::span<const DimId> dims);
/// "variable", "plate", "batch dim", "chain"
[[nodiscard]] std::string kind_name(DimKind kind);
/// The name of a factor that was given none: f0, f1, …
[[nodiscard]] std::string numbered_factor(std::size_t index);
/// (2, 3)
[[nodiscard]] std::string as_shape(std::span<const std::int64_t> shape);

}  // namespace plated::graph
