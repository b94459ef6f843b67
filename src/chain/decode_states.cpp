// Finds and moves states.
#include "chain/decode_states.hpp"

#include <algorithm>

#include "engine/runnable.hpp"

namespace plated::chain {

std::vector<std::int64_t> offsets(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides) {
  std::vector<std::int64_t> list{0};
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    std::vector<std::int64_t> longer;
    longer.reserve(list.size() * static_cast<std::size_t>(sizes[k]));
    for (const std::int64_t offset : list) {
      for (std::int64_t i = 0; i < sizes[k]; ++i) longer.push_back(offset + i * strides[k]);
    }
    list = std::move(longer);
  }
  return list;
}

States::States(const FactorGraph& graph, std::vector<Integers>& values, const adjoint::Choice& choice)
    : graph_(graph), values_(values), axes_(graph), samples_(choice.draw ? choice.count : 1) {
  for (DimId v = static_cast<DimId>(values.size()); v < graph.dims().size(); ++v) {
    std::vector<std::int64_t> shape = engine::sizes(graph, axes(v));
    if (choice.draw) shape.insert(shape.begin(), choice.count);
    values.emplace_back(std::move(shape));
  }
}

std::int64_t States::stride(DimId v, DimId dim) const {
  std::int64_t stride = 1;
  const std::vector<DimId> list = axes(v);
  for (std::size_t k = list.size(); k-- > 0;) {
    if (list[k] == dim) return stride;
    stride *= graph_.dims()[list[k]].size;
  }
  return 0;
}

std::int64_t States::per_sample(DimId v) const {
  std::int64_t count = 1;
  for (const DimId d : axes(v)) count *= graph_.dims()[d].size;
  return count;
}

std::vector<std::int64_t> States::places(DimId v, const std::vector<DimId>& dims) const {
  std::vector<std::int64_t> strides;
  for (const DimId d : dims) strides.push_back(stride(v, d));
  return offsets(engine::sizes(graph_, dims), strides);
}

void States::put(DimId v, std::int64_t first, std::int64_t samples, const std::int64_t* from,
                 const std::vector<DimId>& axes, const std::vector<std::int64_t>& sizes, std::int64_t offset) {
  std::vector<std::int64_t> strides;
  for (const DimId d : axes) strides.push_back(stride(v, d));
  const std::vector<std::int64_t> place = offsets(sizes, strides);
  const std::int64_t all = per_sample(v);
  std::int64_t* to = of(v) + first * all + offset;
  for (std::int64_t s = 0; s < samples; ++s, to += all) {
    for (const std::int64_t at : place) to[at] = *from++;
  }
}

void States::erase_beyond(const RaggedChains& lengths) {
  for (DimId v = 0; v < graph_.dims().size(); ++v) {
    if (graph_.dims()[v].kind != DimKind::variable || values_[v].values.empty()) continue;
    for (const DimId chain : axes(v)) {
      const auto ragged = lengths.find(chain);
      if (ragged == lengths.end()) continue;
      const std::vector<DimId> around = without(axes(v), chain);
      const Ragged own = ragged->second.over(around, engine::sizes(graph_, around));
      const std::vector<std::int64_t> place = places(v, around);
      const std::int64_t step = stride(v, chain);
      for (std::int64_t s = 0; s < samples_; ++s) {
        std::int64_t* states = of(v) + s * per_sample(v);
        for (std::size_t k = 0; k < place.size(); ++k) {
          for (std::int64_t t = own.values[k]; t < graph_.dims()[chain].size; ++t) states[place[k] + t * step] = -1;
        }
      }
    }
  }
}

}  // namespace plated::chain
