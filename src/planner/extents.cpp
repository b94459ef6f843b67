// Evaluates sizes.
#include "planner/extents.hpp"

#include <algorithm>
#include <utility>

#include "base/checked_size.hpp"

namespace plated::planner {

Extents extents_of(const FactorGraph& graph) {
  Extents extents;
  extents.reserve(graph.dims().size());
  for (const Dim& dim : graph.dims()) extents.push_back(dim.size);
  return extents;
}

std::vector<std::int64_t> sizes(const Extents& extents, const std::vector<DimId>& dims) {
  std::vector<std::int64_t> list;
  list.reserve(dims.size());
  for (const DimId d : dims) list.push_back(extents[d]);
  return list;
}

std::int64_t elements(const Extents& extents, const std::vector<DimId>& dims) {
  std::int64_t product = 1;
  for (const DimId d : dims) {
    // An empty dim makes the whole empty, however large the others are.
    if (extents[d] == 0) return 0;
  }
  for (const DimId d : dims) product = base::checked_product(product, extents[d]);
  return product;
}

Scale operator*(const Scale& a, const Scale& b) {
  Scale result{a.number * b.number, a.times, a.over};
  result.times.insert(result.times.end(), b.times.begin(), b.times.end());
  result.over.insert(result.over.end(), b.over.begin(), b.over.end());
  return result;
}

Scale inverse(Scale scale) {
  scale.number = 1 / scale.number;
  std::swap(scale.times, scale.over);
  return scale;
}

double value_of(const Scale& scale, const Extents& extents) {
  double times = 1;
  double over = 1;
  for (const DimId d : scale.times) times *= static_cast<double>(extents[d]);
  for (const DimId d : scale.over) over *= static_cast<double>(std::max<std::int64_t>(1, extents[d]));
  return scale.number * times / over;
}

std::int64_t value_of(const Power& power, const Extents& extents) {
  std::int64_t product = 1;
  for (const DimId d : power.plates) product = base::checked_product(product, extents[d]);
  return product;
}

}  // namespace plated::planner
