// Collects and checks the sizes of an equation's dims.
#include "graph/equation_sizes.hpp"

#include "graph/spell.hpp"
#include "plated/error.hpp"

namespace plated::graph {

std::string operand_text(const ParsedEquation& equation, std::size_t operand) {
  return "operand " + std::to_string(operand) + " \"" + std::string(equation.operands[operand].text) + "\"";
}

void EquationSizes::see(std::string_view name, DimId dim, std::int64_t size, std::size_t operand, std::size_t axis) {
  if (size < 0) {
    throw SizeError("dim " + quoted(name) + " has the negative size " + std::to_string(size) + " in " +
                    operand_text(equation_, operand));
  }
  if (dim >= seen_.size()) seen_.resize(dim + 1);
  Seen& first = seen_[dim];
  if (first.size < 0) first = {size, operand, axis};
  if (first.size == size) return;
  std::string message = "dim " + quoted(name) + " has two sizes: " + std::to_string(first.size) + " on axis " +
                        std::to_string(first.axis) + " of " + operand_text(equation_, first.operand) + " and " +
                        std::to_string(size) + " on axis " + std::to_string(axis) + " of " +
                        operand_text(equation_, operand);
  if (first.size == 1 || size == 1) message += "; size 1 does not broadcast";
  throw SizeError(message);
}

std::optional<std::int64_t> EquationSizes::of(const std::string& name, DimId dim) const {
  const Seen seen = dim < seen_.size() ? seen_[dim] : Seen{};
  const auto given = options_.sizes.find(name);
  if (given == options_.sizes.end()) return seen.size < 0 ? std::nullopt : std::optional(seen.size);
  if (given->second < 0) {
    throw SizeError("dim " + quoted(name) + " has the negative size " + std::to_string(given->second) + " in 'sizes'");
  }
  if (seen.size >= 0 && seen.size != given->second) {
    throw SizeError("dim " + quoted(name) + " has two sizes: " + std::to_string(seen.size) + " on axis " +
                    std::to_string(seen.axis) + " of " + operand_text(equation_, seen.operand) + " and " +
                    std::to_string(given->second) + " in 'sizes'");
  }
  return given->second;
}

}  // namespace plated::graph
