// The graph of an equation: the parsed terms given kinds and sizes.
#include <algorithm>
#include <unordered_map>

#include "graph/parse_equation.hpp"
#include "graph/spell.hpp"
#include "graph/written_dims.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

using graph::ParsedEquation;
using graph::quoted;
using graph::Term;
using Shapes = std::span<const std::vector<std::int64_t>>;
using Kinds = std::unordered_map<std::string_view, DimKind>;

std::string operand_text(const ParsedEquation& equation, std::size_t operand) {
  return "operand " + std::to_string(operand) + " \"" + std::string(equation.operands[operand].text) + "\"";
}

/// The dims that the options make plates and batch dims, in the order they are listed.
std::vector<std::pair<std::string_view, DimKind>> listed_kinds(const EquationOptions& options, bool spaced) {
  std::vector<std::pair<std::string_view, DimKind>> kinds;
  for (const auto name : graph::parse_names(options.plates, spaced, "plates")) kinds.emplace_back(name, DimKind::plate);
  for (const auto name : graph::parse_names(options.batch, spaced, "batch")) kinds.emplace_back(name, DimKind::batch);
  return kinds;
}

Kinds by_name(const std::vector<std::pair<std::string_view, DimKind>>& listed) {
  Kinds kinds;
  for (const auto& [name, kind] : listed) {
    const auto [entry, is_new] = kinds.emplace(name, kind);
    if (is_new) continue;
    throw DuplicateNameError(entry->second != kind ? "dim " + quoted(name) + " is in both 'plates' and 'batch'"
                                                   : "dim " + quoted(name) + " is listed twice in " +
                                                         quoted(kind == DimKind::plate ? "plates" : "batch"));
  }
  return kinds;
}

/// How names are read, for errors about names that nothing has: the other reading may have been meant.
std::string spelling_hint(const ParsedEquation& equation) {
  return equation.spaced ? " (read as spaced: names separated by blanks)" : " (read as compact: one letter a dim)";
}

void check_ranks(const ParsedEquation& equation, Shapes shapes) {
  if (equation.operands.size() != shapes.size()) {
    throw OperandCountError("the equation has " + std::to_string(equation.operands.size()) + " operands, but " +
                            std::to_string(shapes.size()) + " were given");
  }
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const auto& dims = equation.operands[k].dims;
    const auto axes = static_cast<std::size_t>(
        std::count_if(dims.begin(), dims.end(), [](const graph::WrittenDim& dim) { return !dim.tied; }));
    if (axes != shapes[k].size()) {
      throw RankError(operand_text(equation, k) + " has " + std::to_string(axes) + " dims, but its shape " +
                      graph::as_shape(shapes[k]) + " has " + std::to_string(shapes[k].size()) + " axes");
    }
  }
}

/// The size of each dim, and where it was first seen.
class Sizes {
 public:
  Sizes(const ParsedEquation& equation, const EquationOptions& options) : equation_(equation), options_(options) {}

  void see(std::string_view name, DimId dim, std::int64_t size, std::size_t operand, std::size_t axis) {
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

  /// The size from the operands or the options, agreed between them; none where neither gives it.
  [[nodiscard]] std::optional<std::int64_t> of(const std::string& name, DimId dim) const {
    const Seen seen = dim < seen_.size() ? seen_[dim] : Seen{};
    const auto given = options_.sizes.find(name);
    if (given == options_.sizes.end()) return seen.size < 0 ? std::nullopt : std::optional(seen.size);
    if (given->second < 0) {
      throw SizeError("dim " + quoted(name) + " has the negative size " + std::to_string(given->second) +
                      " in 'sizes'");
    }
    if (seen.size >= 0 && seen.size != given->second) {
      throw SizeError("dim " + quoted(name) + " has two sizes: " + std::to_string(seen.size) + " on axis " +
                      std::to_string(seen.axis) + " of " + operand_text(equation_, seen.operand) + " and " +
                      std::to_string(given->second) + " in 'sizes'");
    }
    return given->second;
  }

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

}  // namespace

FactorGraph FactorGraph::from_equation(std::string_view text, Shapes shapes, const EquationOptions& options) {
  ParsedEquation equation = graph::parse_equation(text, options.spaced);
  // "->" is one scalar operand or none at all: the shapes say which.
  if (shapes.empty() && equation.operands.size() == 1 && equation.operands[0].text.empty()) equation.operands.clear();
  check_ranks(equation, shapes);
  const auto listed = listed_kinds(options, equation.spaced);
  const Kinds kinds = by_name(listed);

  FactorGraph result;
  const auto intern = [&](std::string_view name) {
    if (const auto known = result.find(name)) return *known;
    const auto kind = kinds.find(name);
    return result.declare(name, kind == kinds.end() ? DimKind::variable : kind->second, 0);
  };

  Sizes sizes(equation, options);
  for (std::size_t k = 0; k < equation.operands.size(); ++k) {
    Factor factor;
    factor.name = graph::numbered_factor(k);
    std::vector<DimId> tied;
    for (const auto& [name, is_tied] : equation.operands[k].dims) {
      const DimId dim = intern(name);
      if (is_tied) {
        tied.push_back(dim);
      } else {
        sizes.see(name, dim, shapes[k][factor.dims.size()], k, factor.dims.size());
        factor.dims.push_back(dim);
      }
    }
    factor.tied = graph::tied_plates(result, factor.dims, tied, operand_text(equation, k));
    result.factors_.push_back(std::move(factor));
  }
  const std::size_t in_operands = result.dims_.size();

  std::vector<std::vector<DimId>> outputs;
  for (const Term& term : equation.outputs) {
    std::vector<DimId>& dims = outputs.emplace_back();
    for (const auto& written : term.dims) dims.push_back(intern(written.name));
  }
  const std::size_t in_equation = result.dims_.size();
  for (const auto& entry : listed) intern(entry.first);

  for (DimId d = 0; d < result.dims_.size(); ++d) {
    Dim& dim = result.dims_[d];
    if (const auto size = sizes.of(dim.name, d)) {
      dim.size = *size;
    } else if (d < in_operands) {
      throw SizeError("dim " + quoted(dim.name) + " is only tied, so no operand tells its size: give it in 'sizes'");
    } else if (d < in_equation) {
      throw UnknownNameError("dim " + quoted(dim.name) + " of an output is in no operand" + spelling_hint(equation) +
                             "; a dim that no operand holds needs its size in 'sizes'");
    } else {
      throw UnknownNameError(quoted(dim.name) + " in " + quoted(dim.kind == DimKind::plate ? "plates" : "batch") +
                             " is not in the equation" + spelling_hint(equation) +
                             "; a dim that nothing holds needs its size in 'sizes'");
    }
  }
  for (const auto& entry : options.sizes) {
    if (!result.find(entry.first)) {
      throw UnknownNameError(quoted(entry.first) + " in 'sizes' is not in the equation" + spelling_hint(equation));
    }
  }

  const std::vector<DimId> batch = graph::batch_dims(result);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const std::string where = "output " + std::to_string(k) + " \"" + std::string(equation.outputs[k].text) + "\"";
    result.outputs_.push_back(graph::complete_output(result, batch, outputs[k], where));
  }
  (void)result.variable_plates();
  return result;
}

}  // namespace plated
