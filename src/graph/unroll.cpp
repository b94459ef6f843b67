// Unrolling: plates replaced by copies of what is inside them ([TVE] Sec. 3).
#include <algorithm>

#include "graph/spell.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

using graph::quoted;

bool contains(const std::vector<DimId>& dims, DimId dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

/// `y` becomes `y[i=0]`, and `y[i=0]` becomes `y[i=0,j=2]`.
std::string copy_name(const std::string& name, const std::string& plate, std::int64_t slice) {
  const std::string index = plate + "=" + std::to_string(slice) + "]";
  return name.ends_with(']') ? name.substr(0, name.size() - 1) + "," + index : name + "[" + index;
}

/// Refuses more than 2^31 copies of variables, factors and outputs over the given plates, before any is made.
void check_copies(const FactorGraph& graph, const std::vector<std::vector<DimId>>& variable_plates,
                  const std::vector<DimId>& unrolled) {
  double count = 0;  // exact far beyond the limit; capped, since an infinity times an empty plate would be NaN
  const auto add = [&](const std::vector<DimId>& dims) {
    double copies = 1;
    for (const DimId plate : unrolled) {
      if (contains(dims, plate)) copies = std::min(copies * static_cast<double>(graph.dims()[plate].size), 1e30);
    }
    count += copies;
  };
  for (const auto& plates : variable_plates) add(plates);
  for (std::size_t f = 0; f < graph.factors().size(); ++f) add(graph.factor_plates(f));
  for (const Output& output : graph.outputs()) add(output.dims);
  if (count <= 2147483648.0) return;
  throw SizeOverflowError("unrolling " + graph::as_set(graph, unrolled) + " makes more than 2^31 copies");
}

/// Which dim of the graph without a plate stands for a dim of the graph with it, in each slice.
class Copies {
 public:
  Copies(const FactorGraph& graph, DimId unrolled, const std::vector<std::vector<DimId>>& variable_plates)
      : unrolled_(unrolled) {
    check_copies(graph, variable_plates, {unrolled});
    DimId next = 0;
    for (DimId d = 0; d < graph.dims().size(); ++d) {
      first_.push_back(next);
      inside_.push_back(contains(variable_plates[d], unrolled));
      if (d != unrolled) next += inside_[d] ? static_cast<DimId>(graph.dims()[unrolled].size) : 1;
    }
  }
  [[nodiscard]] DimId of(DimId dim, std::int64_t slice) const {
    return first_[dim] + (inside_[dim] ? static_cast<DimId>(slice) : 0);
  }
  [[nodiscard]] std::vector<DimId> of(const std::vector<DimId>& dims, std::int64_t slice) const {
    std::vector<DimId> result;
    for (const DimId dim : dims) {
      if (dim != unrolled_) result.push_back(of(dim, slice));
    }
    return result;
  }

 private:
  DimId unrolled_;
  std::vector<DimId> first_;
  std::vector<bool> inside_;
};

Slice slice_of(std::size_t original, const std::vector<DimId>& dims, DimId plate, std::int64_t slice) {
  Slice result{original, {}};
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == plate) result.index.emplace_back(axis, slice);
  }
  return result;
}

/// The slice of an original that a slice of a slice is; `rank` is the original's.
Slice composed(const Slice& outer, const Slice& inner, std::size_t rank) {
  std::vector<std::size_t> free;
  auto fixed = outer.index.begin();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (fixed != outer.index.end() && fixed->first == axis) {
      ++fixed;
    } else {
      free.push_back(axis);
    }
  }
  Slice result = outer;
  for (const auto& [axis, at] : inner.index) result.index.emplace_back(free[axis], at);
  std::sort(result.index.begin(), result.index.end());
  return result;
}

template <class Item>
std::vector<Slice> whole(const std::vector<Item>& items) {
  std::vector<Slice> slices(items.size());
  for (std::size_t k = 0; k < items.size(); ++k) slices[k].original = k;
  return slices;
}

template <class Item>
std::vector<Slice> composed(const std::vector<Slice>& outer, const std::vector<Slice>& inner,
                            const std::vector<Item>& originals) {
  std::vector<Slice> result;
  result.reserve(inner.size());
  for (const Slice& slice : inner) {
    const Slice& from = outer[slice.original];
    result.push_back(composed(from, slice, originals[from.original].dims.size()));
  }
  return result;
}

}  // namespace

UnrolledGraph FactorGraph::unroll(std::string_view plate) const {
  const auto found = find(plate);
  if (!found || dims_[*found].kind != DimKind::plate) {
    throw UnknownNameError("there is no plate " + quoted(plate) + " to unroll");
  }
  const std::string& plate_name = dims_[*found].name;
  const std::int64_t size = dims_[*found].size;
  const auto plates = variable_plates();
  const Copies copies(*this, *found, plates);

  UnrolledGraph result;
  FactorGraph& copy = result.graph;
  for (DimId d = 0; d < dims_.size(); ++d) {
    if (d == *found) continue;
    // In an empty plate, factors and outputs vanish that kept P(v) small: from now on it has to be stated.
    const bool state = stated_plates_.contains(d) || (size == 0 && dims_[d].kind == DimKind::variable);
    const bool inside = contains(plates[d], *found);
    for (std::int64_t slice = 0; slice < (inside ? size : 1); ++slice) {
      const DimId id = copy.declare(inside ? copy_name(dims_[d].name, plate_name, slice) : dims_[d].name, dims_[d].kind,
                                    dims_[d].size);
      if (state) copy.stated_plates_.emplace_hint(copy.stated_plates_.end(), id, copies.of(plates[d], slice));
    }
  }
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    const Factor& factor = factors_[f];
    const bool inside = contains(factor.dims, *found) || contains(factor.tied, *found);
    for (std::int64_t slice = 0; slice < (inside ? size : 1); ++slice) {
      Factor& sliced = copy.factors_.emplace_back(factor);
      if (inside) sliced.name = copy_name(factor.name, plate_name, slice);
      sliced.dims = copies.of(factor.dims, slice);
      sliced.tied = copies.of(factor.tied, slice);
      if (factor.distribution_of) sliced.distribution_of = copies.of(*factor.distribution_of, slice);
      result.factors.push_back(slice_of(f, factor.dims, *found, slice));
    }
  }
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const std::vector<DimId>& dims = outputs_[o].dims;
    for (std::int64_t slice = 0; slice < (contains(dims, *found) ? size : 1); ++slice) {
      copy.outputs_.push_back({copies.of(dims, slice)});
      result.outputs.push_back(slice_of(o, dims, *found, slice));
    }
  }
  return result;
}

UnrolledGraph FactorGraph::unroll() const {
  // Empty plates first: what vanishes with them need not be copied before.
  std::vector<DimId> plates;
  for (DimId d = 0; d < dims_.size(); ++d) {
    if (dims_[d].kind == DimKind::plate) plates.push_back(d);
  }
  check_copies(*this, variable_plates(), plates);
  std::stable_partition(plates.begin(), plates.end(), [&](DimId d) { return dims_[d].size == 0; });

  UnrolledGraph result{*this, whole(factors_), whole(outputs_)};
  for (const DimId plate : plates) {
    UnrolledGraph next = result.graph.unroll(dims_[plate].name);
    next.factors = composed(result.factors, next.factors, factors_);
    next.outputs = composed(result.outputs, next.outputs, outputs_);
    result = std::move(next);
  }
  return result;
}

}  // namespace plated
