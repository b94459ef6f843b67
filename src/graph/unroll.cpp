// Unrolls graphs: replaces plates and chains by copies of their contents ([TVE] Sec. 3).
#include <algorithm>

#include "graph/ends.hpp"
#include "graph/slices.hpp"
#include "graph/spell.hpp"
#include "graph/unrolled_dims.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

using graph::contains;
using graph::copy_name;
using graph::quoted;
using graph::slice_of;

}  // namespace

UnrolledGraph FactorGraph::unroll(std::string_view plate) const {
  const auto found = find(plate);
  if (!found || !has_slices(dims()[*found].kind)) {
    throw UnknownNameError("there is no plate " + quoted(plate) + " to unroll");
  }
  const std::string& plate_name = dims()[*found].name;
  const bool is_chain = dims()[*found].kind == DimKind::chain;
  const std::int64_t size = dims()[*found].size;
  const auto& plates = variable_plates();
  const graph::UnrolledDims copies(*this, *found, plates);

  UnrolledGraph result;
  FactorGraph& copy = result.graph;
  for (DimId d = 0; d < dims().size(); ++d) {
    const Dim& dim = dims()[d];
    const bool inside = copies.inside(d);
    // Factors and outputs that kept P(v) small may vanish with an empty plate, and at the ends of a chain other ones
    // hold a state than in its middle: from now on P(v) has to be stated.
    const bool state = dim.kind == DimKind::variable && dim.end == End::none &&
                       (stated_plates_->contains(d) || size == 0 || (is_chain && inside));
    for (std::int64_t k = 0; k < copies.count(d); ++k) {
      const bool end = dim.end != End::none;
      const DimId of = end ? copies.of(dim.of, k) : 0;
      const std::string name = end      ? graph::with_end(copy.dims()[of].name, dim.end)
                               : inside ? copy_name(dim.name, plate_name, k)
                                        : dim.name;
      const DimId id = copy.declare(name, dim.kind, dim.size);
      Dim& copied = copy.edit(copy.dims_)[id];
      copied.end = dim.end;
      copied.of = of;
      if (state) copy.edit(copy.stated_plates_).emplace(id, copies.of(plates[d], k));
    }
  }
  for (const Chain& chain : chains_) {
    if (chain.dim == *found) continue;
    Chain& copied = copy.edit(copy.chains_).emplace_back(Chain{copies.of(chain.dim, 0), {}});
    for (const Link& link : chain.links) {
      const std::int64_t count = copies.inside(link.source) ? size : 1;
      for (std::int64_t slice = 0; slice < count; ++slice) {
        copy.connect(copied, {copies.of(link.source, slice), copies.of(link.target, slice)});
      }
    }
  }
  for (std::size_t f = 0; f < factors().size(); ++f) {
    const Factor& factor = factors()[f];
    const bool inside = contains(factor.dims, *found) || contains(factor.tied, *found);
    for (std::int64_t slice = 0; slice < (inside ? size : 1); ++slice) {
      Factor sliced = factor;
      if (inside) sliced.name = copy_name(factor.name, plate_name, slice);
      sliced.dims = copies.of(factor.dims, slice);
      sliced.tied = copies.of(factor.tied, slice);
      if (factor.distribution_of) sliced.distribution_of = copies.of(*factor.distribution_of, slice);
      copy.add(std::move(sliced));
      result.factors.push_back(slice_of(f, factor.dims, *found, slice));
    }
  }
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const std::vector<DimId>& dims = outputs_[o].dims;
    for (std::int64_t slice = 0; slice < (contains(dims, *found) ? size : 1); ++slice) {
      copy.edit(copy.outputs_).push_back({copies.of(dims, slice)});
      result.outputs.push_back(slice_of(o, dims, *found, slice));
    }
  }
  return result;
}

UnrolledGraph FactorGraph::unroll() const {
  // Empty plates first: what vanishes with them need not be copied before.
  std::vector<DimId> plates;
  for (DimId d = 0; d < dims().size(); ++d) {
    if (has_slices(dims()[d].kind)) plates.push_back(d);
  }
  graph::check_copies(*this, variable_plates(), plates);
  std::stable_partition(plates.begin(), plates.end(), [&](DimId d) { return dims()[d].size == 0; });

  UnrolledGraph result{*this, graph::whole(factors()), graph::whole(outputs_)};
  for (const DimId plate : plates) {
    UnrolledGraph next = result.graph.unroll(dims()[plate].name);
    next.factors = graph::composed(result.factors, next.factors, factors());
    next.outputs = graph::composed(result.outputs, next.outputs, outputs_);
    result = std::move(next);
  }
  return result;
}

}  // namespace plated
