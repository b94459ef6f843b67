// The builder: declares dims, factors and outputs one by one.
#include <algorithm>

#include "graph/derived.hpp"
#include "graph/parse_names.hpp"
#include "graph/resolver.hpp"
#include "graph/spell.hpp"
#include "graph/written_dims.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

using graph::quoted;

DimId declared(const FactorGraph& graph, std::string_view name, const std::string& where) {
  if (const auto id = graph.find(name)) return *id;
  throw UnknownNameError("unknown dim " + quoted(name) + " in " + where);
}

/// `id` is what `name` means where the factor lies.
DimId distribution_variable(const FactorGraph& graph, const Factor& factor, DimId id, const std::string& name,
                            const std::string& where) {
  if (graph.dims()[id].kind != DimKind::variable) {
    throw PlateError(where + " cannot be a distribution of " + quoted(name) + ", which is not a variable");
  }
  if (std::find(factor.dims.begin(), factor.dims.end(), id) == factor.dims.end()) {
    throw UnknownNameError(where + " is said to be a distribution of " + quoted(name) + " but does not hold it");
  }
  return id;
}

}  // namespace

DimId FactorGraph::declare(std::string_view name, DimKind kind, std::int64_t size) {
  if (size < 0) throw SizeError("dim " + quoted(name) + " has the negative size " + std::to_string(size));
  const auto id = static_cast<DimId>(dims().size());
  if (!edit(by_name_).emplace(name, id).second) throw DuplicateNameError("dim " + quoted(name) + " is declared twice");
  edit(dims_).push_back({std::string(name), kind, size});
  return id;
}

DimId FactorGraph::plate(std::string_view name, std::int64_t size) {
  graph::check_name(name);
  return declare(name, DimKind::plate, size);
}

DimId FactorGraph::batch(std::string_view name, std::int64_t size) {
  graph::check_name(name);
  if (!outputs_.empty()) {
    throw PlateError("batch dim " + quoted(name) + " is declared after an output: batch dims lead every output, so " +
                     "they are declared before the first");
  }
  return declare(name, DimKind::batch, size);
}

DimId FactorGraph::variable(std::string_view name, std::int64_t domain) {
  graph::check_name(name);
  return declare(name, DimKind::variable, domain);
}

DimId FactorGraph::variable(std::string_view name, std::int64_t domain, const std::vector<std::string>& plates) {
  graph::check_name(name);
  const std::string where = "the plates of variable " + quoted(name);
  std::vector<DimId> stated;
  for (const std::string& plate : plates) {
    const DimId id = declared(*this, plate, where);
    if (!has_slices(dims()[id].kind)) {
      throw PlateError(quoted(plate) + " in " + where + " is not a plate but a " + graph::kind_name(dims()[id].kind));
    }
    stated.push_back(id);
  }
  std::sort(stated.begin(), stated.end());
  const auto twice = std::adjacent_find(stated.begin(), stated.end());
  if (twice != stated.end()) throw DuplicateNameError(quoted(dims()[*twice].name) + " is listed twice in " + where);
  const DimId id = declare(name, DimKind::variable, domain);
  edit(stated_plates_).emplace(id, std::move(stated));
  return id;
}

std::size_t FactorGraph::add(Factor factor) {
  if (!edit(factor_names_).insert(factor.name).second) {
    const auto known = std::find_if(factors().begin(), factors().end(),
                                    [&](const Factor& other) { return other.name == factor.name; });
    throw DuplicateNameError("factors " + std::to_string(known - factors().begin()) + " and " +
                             std::to_string(factors().size()) + " are both named " + quoted(factor.name) +
                             ": give one of them another name");
  }
  edit(factors_).push_back(std::move(factor));
  return factors().size() - 1;
}

std::size_t FactorGraph::factor(std::string_view name, const std::vector<std::string>& dims,
                                const FactorOptions& options) {
  Factor factor;
  factor.name = name;
  for (std::size_t k = factors().size(); factor.name.empty(); ++k) {
    if (!factor_names_->contains(graph::numbered_factor(k))) factor.name = graph::numbered_factor(k);
  }
  factor.trusted = options.trusted;
  const std::string where = "factor " + quoted(factor.name);
  const graph::Resolver resolver(*this, where);
  std::vector<graph::Mention> mentions;
  for (const std::string& dim : dims) mentions.push_back(resolver.read(dim));
  std::vector<DimId> tied;
  for (const std::string& dim : options.tied) tied.push_back(declared(*this, dim, "the tied dims of " + where));
  // The distribution's variable is read like an axis, so that a bare name means the same slice's in both places.
  const std::optional<std::string>& of = options.distribution_of;
  if (of) mentions.push_back(graph::Resolver(*this, where + ", a distribution of it").read(*of));
  factor.dims = resolver.resolve(mentions, tied);
  std::optional<DimId> of_id;
  if (of) {
    of_id = factor.dims.back();
    factor.dims.pop_back();
  }
  factor.tied = graph::tied_plates(*this, factor.dims, tied, where);
  if (of) factor.distribution_of = distribution_variable(*this, factor, *of_id, *of, where);
  return add(std::move(factor));
}

std::size_t FactorGraph::output(const std::vector<std::string>& dims) {
  const std::string where = "output " + std::to_string(outputs_.size());
  const graph::Resolver resolver(*this, where);
  std::vector<graph::Mention> mentions;
  for (const std::string& dim : dims) mentions.push_back(resolver.read(dim));
  const std::vector<DimId> written = resolver.resolve(mentions, {});
  // The first output knows the batch dims: none can be declared after it.
  std::vector<DimId> batch = outputs_.empty() ? graph::batch_dims(*this) : outputs_[0].dims;
  std::erase_if(batch, [&](DimId id) { return (*dims_)[id].kind != DimKind::batch; });
  std::sort(batch.begin(), batch.end());
  edit(outputs_).push_back(graph::complete_output(*this, batch, written, where));
  return outputs_.size() - 1;
}

FactorGraph FactorGraph::asking(const std::vector<std::vector<std::string>>& outputs) const {
  FactorGraph other = *this;
  graph::Derived::state_plates(other, variable_plates());
  other.edit(other.outputs_).clear();
  for (const std::vector<std::string>& dims : outputs) other.output(dims);
  return other;
}

FactorGraph FactorGraph::resized(std::string_view plate, std::int64_t size) const {
  const auto id = find(plate);
  if (!id || !has_slices(dims()[*id].kind)) throw UnknownNameError("there is no plate " + quoted(plate));
  if (size < 0)
    throw SizeError(graph::kind_name(dims()[*id].kind) + " " + quoted(plate) + " cannot have the negative size " +
                    std::to_string(size));
  FactorGraph other = *this;
  other.edit(other.dims_)[*id].size = size;
  return other;
}

FactorGraph FactorGraph::resized(std::span<const std::int64_t> sizes) const {
  FactorGraph other = *this;
  for (DimId d = 0; d < dims().size(); ++d) {
    const bool fits = dims()[d].kind == DimKind::variable ? sizes[d] == dims()[d].size : sizes[d] >= 0;
    if (!fits) {
      throw SizeError(graph::kind_name(dims()[d].kind) + " " + quoted(dims()[d].name) + " cannot have the size " +
                      std::to_string(sizes[d]));
    }
    if (other.dims()[d].size != sizes[d]) other.edit(other.dims_)[d].size = sizes[d];
  }
  return other;
}

std::optional<DimId> FactorGraph::find(std::string_view name) const {
  const auto found = by_name_->find(name);
  if (found == by_name_->end()) return std::nullopt;
  return found->second;
}

}  // namespace plated
