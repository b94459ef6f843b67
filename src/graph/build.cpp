// The builder: dims, factors and outputs declared one after the other.
#include <algorithm>

#include "graph/parse_equation.hpp"
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

DimId distribution_variable(const FactorGraph& graph, const Factor& factor, const std::string& name,
                            const std::string& where) {
  const DimId id = declared(graph, name, where + ", a distribution of it");
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
  const auto id = static_cast<DimId>(dims_.size());
  if (!by_name_.emplace(name, id).second) throw DuplicateNameError("dim " + quoted(name) + " is declared twice");
  dims_.push_back({std::string(name), kind, size});
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
    if (dims_[id].kind != DimKind::plate) {
      throw PlateError(quoted(plate) + " in " + where + " is not a plate but a " +
                       (dims_[id].kind == DimKind::batch ? "batch dim" : "variable"));
    }
    stated.push_back(id);
  }
  std::sort(stated.begin(), stated.end());
  const auto twice = std::adjacent_find(stated.begin(), stated.end());
  if (twice != stated.end()) throw DuplicateNameError(quoted(dims_[*twice].name) + " is listed twice in " + where);
  const DimId id = declare(name, DimKind::variable, domain);
  stated_plates_.emplace(id, std::move(stated));
  return id;
}

std::size_t FactorGraph::factor(std::string_view name, const std::vector<std::string>& dims,
                                const FactorOptions& options) {
  Factor factor;
  factor.name = name.empty() ? graph::numbered_factor(factors_.size()) : std::string(name);
  factor.trusted = options.trusted;
  const std::string where = "factor " + quoted(factor.name);
  for (const std::string& dim : dims) factor.dims.push_back(declared(*this, dim, where));
  std::vector<DimId> tied;
  for (const std::string& dim : options.tied) tied.push_back(declared(*this, dim, "the tied dims of " + where));
  factor.tied = graph::tied_plates(*this, factor.dims, tied, where);
  if (options.distribution_of) {
    factor.distribution_of = distribution_variable(*this, factor, *options.distribution_of, where);
  }
  factors_.push_back(std::move(factor));
  return factors_.size() - 1;
}

std::size_t FactorGraph::output(const std::vector<std::string>& dims) {
  const std::string where = "output " + std::to_string(outputs_.size());
  std::vector<DimId> written;
  for (const std::string& dim : dims) written.push_back(declared(*this, dim, where));
  // The first output knows the batch dims: none can be declared after it.
  std::vector<DimId> batch = outputs_.empty() ? graph::batch_dims(*this) : outputs_[0].dims;
  std::erase_if(batch, [&](DimId id) { return dims_[id].kind != DimKind::batch; });
  std::sort(batch.begin(), batch.end());
  outputs_.push_back(graph::complete_output(*this, batch, written, where));
  return outputs_.size() - 1;
}

FactorGraph FactorGraph::asking(const std::vector<std::vector<std::string>>& outputs) const {
  const std::vector<std::vector<DimId>> plates = variable_plates();
  FactorGraph other = *this;
  for (DimId v = 0; v < dims_.size(); ++v) {
    if (dims_[v].kind == DimKind::variable) other.stated_plates_[v] = plates[v];
  }
  other.outputs_.clear();
  for (const std::vector<std::string>& dims : outputs) other.output(dims);
  return other;
}

FactorGraph FactorGraph::resized(std::string_view plate, std::int64_t size) const {
  const auto id = find(plate);
  if (!id || dims_[*id].kind != DimKind::plate) throw UnknownNameError("there is no plate " + quoted(plate));
  if (size < 0) throw SizeError("plate " + quoted(plate) + " cannot have the negative size " + std::to_string(size));
  FactorGraph other = *this;
  other.dims_[*id].size = size;
  return other;
}

std::optional<DimId> FactorGraph::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

}  // namespace plated
