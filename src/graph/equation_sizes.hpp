// The sizes of an equation's dims, given by operands and options, which must agree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/parse_equation.hpp"
#include "plated/factor_graph.hpp"

namespace plated::graph {

/// operand 0 "a b"
[[nodiscard]] std::string operand_text(const ParsedEquation& equation, std::size_t operand);

/// The size of each dim, and where it was first seen.
class EquationSizes {
 public:
  EquationSizes(const ParsedEquation& equation, const EquationOptions& options)
      : equation_(equation), options_(options) {}

  /// Throws SizeError for a negative size and for a second one.
  void see(std::string_view name, DimId dim, std::int64_t size, std::size_t operand, std::size_t axis);
  /// The size from the operands or the options; none where neither gives it. Throws SizeError where they disagree.
  [[nodiscard]] std::optional<std::int64_t> of(const std::string& name, DimId dim) const;

 private:
  struct Seen {
    std::int64_t size = -1;
    std::size_t operand = 0;
    std::size_t axis = 0;
  };
  const ParsedEquation& equation_;
  const EquationOptions& options_;
  std::vector<Seen> seen_;
};

}  // namespace plated::graph
