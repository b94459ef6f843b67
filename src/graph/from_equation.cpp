// Builds the graph of an equation: gives the parsed terms kinds, sizes and links, and resolves their names.
#include <algorithm>
#include <unordered_map>

#include "base/disjoint_sets.hpp"
#include "graph/ends.hpp"
#include "graph/equation_sizes.hpp"
#include "graph/parse_equation.hpp"
#include "graph/parse_names.hpp"
#include "graph/resolver.hpp"
#include "graph/spell.hpp"
#include "graph/written_dims.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

using graph::operand_text;
using graph::ParsedEquation;
using graph::quoted;
using Shapes = std::span<const std::vector<std::int64_t>>;
using Kinds = std::unordered_map<std::string_view, DimKind>;

/// How names are read, for errors about names that nothing has: the other reading may have been meant.
std::string spelling_hint(bool spaced) {
  return spaced ? " (read as spaced: names separated by blanks)" : " (read as compact: one letter per dim)";
}

/// The dims that the options make plates, batch dims and chains, in the order they are listed.
std::vector<std::pair<std::string_view, DimKind>> listed_kinds(const EquationOptions& options, bool spaced) {
  std::vector<std::pair<std::string_view, DimKind>> kinds;
  for (const auto name : graph::parse_names(options.plates, spaced, "plates")) kinds.emplace_back(name, DimKind::plate);
  for (const auto name : graph::parse_names(options.batch, spaced, "batch")) kinds.emplace_back(name, DimKind::batch);
  for (const auto& entry : options.chains) {
    const auto names = graph::parse_names(entry.first, spaced, "chains");
    if (names.size() != 1) {
      throw ParseError(quoted(entry.first) + " in 'chains' is not one name" + spelling_hint(spaced));
    }
    kinds.emplace_back(names.front(), DimKind::chain);
  }
  return kinds;
}

std::string list_of(DimKind kind) {
  return quoted(kind == DimKind::plate ? "plates" : kind == DimKind::batch ? "batch" : "chains");
}

Kinds by_name(const std::vector<std::pair<std::string_view, DimKind>>& listed) {
  Kinds kinds;
  for (const auto& [name, kind] : listed) {
    const auto [entry, is_new] = kinds.emplace(name, kind);
    if (is_new) continue;
    throw DuplicateNameError("dim " + quoted(name) +
                             (entry->second != kind ? " is in both " + list_of(entry->second) + " and " + list_of(kind)
                                                    : " is listed twice in " + list_of(kind)));
  }
  return kinds;
}

struct WrittenLink {
  std::string_view chain, source, target;
};

/// The links of the options, every name of which the equation has.
std::vector<WrittenLink> listed_links(const FactorGraph& graph, const EquationOptions& options, bool spaced) {
  std::vector<WrittenLink> links;
  for (const auto& [chain, texts] : options.chains) {
    for (const std::string& text : texts) {
      const auto [source, target] = graph::parse_link(text, spaced);
      for (const std::string_view name : {source, target}) {
        if (graph.find(name)) continue;
        throw UnknownNameError(quoted(name) + " in link " + quoted(text) + " of chain " + quoted(chain) +
                               " is not in the equation" + spelling_hint(spaced));
      }
      links.push_back({graph::parse_names(chain, spaced, "chains").front(), source, target});
    }
  }
  return links;
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

/// Linked variables whose size is not given otherwise have the size of their partners.
void share_sizes(const FactorGraph& graph, const std::vector<WrittenLink>& links,
                 std::vector<std::optional<std::int64_t>>& sizes) {
  base::DisjointSets partners(sizes.size());
  for (const WrittenLink& link : links) partners.join(*graph.find(link.source), *graph.find(link.target));
  std::vector<std::optional<std::int64_t>> shared(sizes.size());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    auto& known = shared[partners.root(d)];
    if (!known) known = sizes[d];
  }
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (!sizes[d]) sizes[d] = shared[partners.root(d)];
  }
}

/// A factor or output as it is written: its dims are known, but not yet which slice's variables it means.
struct Mentions {
  std::vector<graph::Mention> dims;
  std::vector<DimId> tied;
};

}  // namespace

FactorGraph FactorGraph::from_equation(std::string_view text, Shapes shapes, const EquationOptions& options) {
  ParsedEquation equation = graph::parse_equation(text, options.spaced);
  // "->" is one scalar operand or none at all: the shapes say which.
  if (shapes.empty() && equation.operands.size() == 1 && equation.operands[0].text.empty()) equation.operands.clear();
  check_ranks(equation, shapes);
  const auto listed = listed_kinds(options, equation.spaced);
  const Kinds kinds = by_name(listed);
  const std::string hint = spelling_hint(equation.spaced);

  FactorGraph result;
  const auto intern = [&](std::string_view name) {
    if (const auto known = result.find(name)) return *known;
    const auto kind = kinds.find(name);
    const DimId id = result.declare(name, kind == kinds.end() ? DimKind::variable : kind->second, 0);
    if (result.dims()[id].kind == DimKind::chain) result.edit(result.chains_).push_back({id, {}});
    return id;
  };
  const auto mention = [&](std::string_view name) {
    const graph::SplitName split = graph::split_end(name);
    return graph::Mention{intern(split.variable), split.end};
  };

  // Ends count as their variables at first: what a name means depends on links, and those on sizes.
  graph::EquationSizes seen(equation, options);
  std::vector<Mentions> operands(equation.operands.size()), outputs(equation.outputs.size());
  for (std::size_t k = 0; k < operands.size(); ++k) {
    std::vector<DimId> axes, tied;
    for (const auto& [name, is_tied] : equation.operands[k].dims) {
      const graph::Mention dim = mention(name);
      if (is_tied) {
        tied.push_back(dim.dim);
        continue;
      }
      seen.see(result.dims()[dim.dim].name, dim.dim, shapes[k][axes.size()], k, axes.size());
      axes.push_back(dim.dim);
      operands[k].dims.push_back(dim);
    }
    operands[k].tied = graph::tied_plates(result, axes, tied, operand_text(equation, k));
  }
  const std::size_t in_operands = result.dims().size();
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    for (const auto& written : equation.outputs[k].dims) outputs[k].dims.push_back(mention(written.name));
  }
  const std::size_t in_equation = result.dims().size();
  for (const auto& entry : listed) intern(entry.first);

  const std::vector<WrittenLink> links = listed_links(result, options, equation.spaced);
  std::vector<std::optional<std::int64_t>> sizes;
  for (DimId d = 0; d < result.dims().size(); ++d) sizes.push_back(seen.of(result.dims()[d].name, d));
  share_sizes(result, links, sizes);
  for (DimId d = 0; d < result.dims().size(); ++d) {
    Dim& dim = result.edit(result.dims_)[d];
    if (sizes[d]) {
      dim.size = *sizes[d];
    } else if (d < in_operands) {
      throw SizeError("dim " + quoted(dim.name) + " is only tied, so no operand has its size: give it in 'sizes'");
    } else if (d < in_equation) {
      throw UnknownNameError("dim " + quoted(dim.name) + " of an output is in no operand" + hint +
                             "; a dim that no operand holds needs its size in 'sizes'");
    } else {
      throw UnknownNameError(quoted(dim.name) + " in " + list_of(dim.kind) + " is not in the equation" + hint +
                             "; a dim that nothing holds needs its size in 'sizes'");
    }
  }
  for (const auto& entry : options.sizes) {
    if (result.find(entry.first)) continue;
    throw UnknownNameError(quoted(entry.first) + " in 'sizes' is not in the equation" + hint);
  }
  for (const WrittenLink& link : links) result.link(link.chain, link.source, link.target);

  for (std::size_t k = 0; k < operands.size(); ++k) {
    Factor factor;
    factor.name = graph::numbered_factor(k);
    factor.tied = std::move(operands[k].tied);
    factor.dims = graph::Resolver(result, operand_text(equation, k)).resolve(operands[k].dims, factor.tied);
    result.add(std::move(factor));
  }
  const std::vector<DimId> batch = graph::batch_dims(result);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const std::string where = "output " + std::to_string(k) + " \"" + std::string(equation.outputs[k].text) + "\"";
    const std::vector<DimId> written = graph::Resolver(result, where).resolve(outputs[k].dims, {});
    result.edit(result.outputs_).push_back(graph::complete_output(result, batch, written, where));
  }
  result.validate();
  return result;
}

}  // namespace plated
