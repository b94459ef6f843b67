// Operands of factors that are one in all slices but the first or the last, and what is collected from them.
#include <algorithm>

#include "chain/piece_gradient.hpp"
#include "chain/point_ends.hpp"
#include "engine/bound_schedule.hpp"
#include "engine/run.hpp"
#include "engine/runnable.hpp"
#include "plated/error.hpp"
#include "semiring/dispatch.hpp"

namespace plated::chain {
namespace {

/// The lengths of a chain by the index of some axes.
class LengthOf {
 public:
  LengthOf(const Ragged& ragged, const std::vector<DimId>& axes) : ragged_(ragged), stride_(axes.size(), 0) {
    std::int64_t stride = 1;
    for (std::size_t k = ragged.dims.size(); k-- > 0;) {
      const auto found = std::find(axes.begin(), axes.end(), ragged.dims[k]);
      if (found != axes.end()) {
        stride_[found - axes.begin()] = stride;
      } else if (ragged.sizes[k] != 1) {
        all_ = false;
      }
      stride *= ragged.sizes[k];
    }
  }
  /// Whether the axes tell the length.
  [[nodiscard]] bool is_known() const { return all_; }
  [[nodiscard]] std::int64_t operator()(const std::vector<std::int64_t>& at) const {
    std::int64_t index = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) index += at[axis] * stride_[axis];
    return ragged_.values[static_cast<std::size_t>(index)];
  }

 private:
  const Ragged& ragged_;
  std::vector<std::int64_t> stride_;
  bool all_ = true;
};

/// Calls `visit` with each index of a shape, in row-major order.
template <class Visit>
void for_each_index(const std::vector<std::int64_t>& shape, Visit visit) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  std::vector<std::int64_t> at(shape.size(), 0);
  for (std::int64_t k = 0; k < count; ++k) {
    visit(at);
    for (std::size_t axis = shape.size(); axis-- > 0 && ++at[axis] == shape[axis];) at[axis] = 0;
  }
}

/// Whether all slices of ragged chains among the axes exist.
class Existing {
 public:
  Existing(const RaggedChains& lengths, const std::vector<DimId>& axes, DimId but) {
    for (const auto& [chain, ragged] : lengths) {
      const auto found = std::find(axes.begin(), axes.end(), chain);
      if (chain == but || found == axes.end()) continue;
      const LengthOf length(ragged, axes);
      if (length.is_known()) known_.emplace_back(found - axes.begin(), length);
    }
  }
  [[nodiscard]] bool operator()(const std::vector<std::int64_t>& at) const {
    return std::all_of(known_.begin(), known_.end(),
                       [&](const auto& each) { return at[each.first] < each.second(at); });
  }

 private:
  std::vector<std::pair<std::size_t, LengthOf>> known_;
};

template <class T>
Tensor with_slices(const std::vector<double>& values, const std::vector<std::int64_t>& slots, Tensor::Shape shape,
                   double elsewhere) {
  Tensor to = Tensor::uninitialised(sizeof(T) == 4 ? Dtype::float32 : Dtype::float64, std::move(shape));
  auto* entries = static_cast<T*>(to.mutable_data());
  std::fill_n(entries, to.elements(), static_cast<T>(elsewhere));
  const auto slice = static_cast<std::int64_t>(slots.size());
  for (std::int64_t k = 0; k < slice; ++k) {
    if (slots[k] < 0) continue;
    entries[slots[k] * slice + k] = static_cast<T>(values[static_cast<std::size_t>(k) % values.size()]);
  }
  return to;
}

}  // namespace

Tensor::Shape PointEnds::expanded_shape(std::size_t factor) const {
  return engine::sizes(graph_, graph_.factors()[factor].dims);
}

double PointEnds::bytes(Dtype dtype) const {
  double sum = 0;
  for (const Point& point : points_) {
    double count = static_cast<double>(size_of(dtype));
    for (const std::int64_t size : engine::sizes(graph_, axes(point))) count *= static_cast<double>(size);
    sum += count;
  }
  return sum;
}

/// For each index of all axes but the chain, the slice in which the operand counts; −1: in none.
std::vector<std::int64_t> PointEnds::slots(const Point& point, const RaggedChains* lengths) const {
  const std::vector<DimId> inner(axes(point).begin() + 1, axes(point).end());
  const std::int64_t slices = graph_.dims()[point.chain].size;
  const std::vector<std::int64_t> shape = engine::sizes(graph_, inner);
  std::vector<std::int64_t> list;
  const Ragged* ragged = nullptr;
  if (lengths != nullptr) {
    const auto found = lengths->find(point.chain);
    if (found != lengths->end()) ragged = &found->second;
  }
  if (ragged != nullptr) check_exist(point, *lengths);
  const std::int64_t usual = slices == 0 ? -1 : point.end == End::first ? 0 : slices - 1;
  if (lengths == nullptr || point.end == End::first) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    list.assign(static_cast<std::size_t>(count), usual);
    return list;
  }
  const Existing exists(*lengths, inner, point.chain);
  std::optional<LengthOf> length;
  if (ragged != nullptr) length.emplace(*ragged, inner);
  if (length && !length->is_known()) length.reset();
  for_each_index(shape, [&](const std::vector<std::int64_t>& at) {
    list.push_back(!exists(at) ? -1 : length ? (*length)(at)-1 : usual);
  });
  return list;
}

/// An empty chain has states, but no slice whose variables could be held.
void PointEnds::check_exist(const Point& point, const RaggedChains& lengths) const {
  const Ragged& ragged = lengths.at(point.chain);
  const Existing exists(lengths, ragged.dims, point.chain);
  std::size_t k = 0;
  for_each_index(ragged.sizes, [&](const std::vector<std::int64_t>& at) {
    if (ragged.values[k++] > 0 || !exists(at)) return;
    std::string where;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      where += (axis == 0 ? " at " : ", ") + graph_.dims()[ragged.dims[axis]].name + " = " + std::to_string(at[axis]);
    }
    throw ValueError(point.holder + ", but chain '" + graph_.dims()[point.chain].name + "' has the length 0" + where +
                     ", and so no such variable");
  });
}

Tensor PointEnds::expanded(std::size_t factor, const Tensor& operand, double elsewhere,
                           const RaggedChains* lengths) const {
  const std::vector<std::int64_t> at = slots(*point(factor), lengths);
  const std::vector<double> values = operand.values();
  Tensor::Shape shape = expanded_shape(factor);
  return operand.dtype() == Dtype::float32 ? with_slices<float>(values, at, std::move(shape), elsewhere)
                                           : with_slices<double>(values, at, std::move(shape), elsewhere);
}

void PointEnds::collect(std::size_t factor, const Tensor& sliced, const Tensor& place, Share share,
                        const RaggedChains* lengths) const {
  const std::vector<std::int64_t> at = slots(*point(factor), lengths);
  const std::vector<double> values = sliced.values();
  std::vector<double> sum(static_cast<std::size_t>(place.elements()), 0.0);
  std::vector<double> count(sum.size(), 0.0);
  for (std::size_t k = 0; k < at.size(); ++k) {
    if (at[k] < 0) continue;
    sum[k % sum.size()] += values[static_cast<std::size_t>(at[k]) * at.size() + k];
    count[k % sum.size()] += 1;
  }
  if (share == Share::mean) {
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] = count[k] > 0 ? sum[k] / count[k] : 0.0;
  }
  add_to(place, Tensor::of(place.shape(), sum), 1);
}

std::vector<Tensor> PointEnds::operands(std::span<const Tensor> given, Semiring semiring,
                                        const RaggedChains* lengths) const {
  const auto [zero, one] = semiring::dispatch(
      semiring, [](auto ring) { return std::pair<double, double>(decltype(ring)::zero(), decltype(ring)::one()); });
  std::vector<Tensor> list(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(factors_));
  const Dtype dtype = engine::element_dtype(given.first(factors_));
  for (const Point& point : points_) {
    if (point.is_output) continue;
    if (!point.equates) {
      list[point.factor] = expanded(point.factor, given[point.factor], one, lengths);
      continue;
    }
    const std::int64_t states = graph_.dims()[graph_.factors()[point.factor].dims.back()].size;
    std::vector<double> values(static_cast<std::size_t>(states * states), zero);
    for (std::int64_t s = 0; s < states; ++s) values[static_cast<std::size_t>(s * states + s)] = one;
    const Tensor equal = dtype == Dtype::float64
                             ? Tensor::of({states, states}, values)
                             : Tensor::of({states, states}, std::vector<float>(values.begin(), values.end()));
    list.push_back(expanded(point.factor, equal, one, lengths));
  }
  const Tensor single = dtype == Dtype::float64 ? Tensor::scalar(one) : Tensor::scalar(static_cast<float>(one));
  for (const DimId v : ones_) list.push_back(single.broadcast({graph_.dims()[v].size}));
  list.insert(list.end(), given.begin() + static_cast<std::ptrdiff_t>(factors_), given.end());
  return list;
}

std::vector<Tensor> PointEnds::output_places(const std::vector<Tensor>& places) const {
  std::vector<Tensor> list = places;
  for (const Point& point : points_) {
    if (!point.is_output) continue;
    list[point.factor] = engine::shape_only(places[point.factor].dtype(), engine::sizes(graph_, axes(point)));
  }
  return list;
}

void PointEnds::take_outputs(const std::vector<Tensor>& sliced, std::vector<Tensor>& places,
                             const RaggedChains* lengths) const {
  for (std::size_t o = 0; o < graph_.outputs().size(); ++o) {
    const auto found = std::find_if(points_.begin(), points_.end(),
                                    [&](const Point& each) { return each.factor == o && each.is_output; });
    Tensor& place = places[o];
    if (found == points_.end()) {
      place = sliced[o];
      continue;
    }
    if (place.data() == nullptr) place = Tensor(place.dtype(), place.shape());
    engine::clear(place);
    const std::vector<std::int64_t> at = slots(*found, lengths);
    const std::vector<double> values = sliced[o].values();
    std::vector<double> taken(at.size());
    for (std::size_t k = 0; k < at.size(); ++k) {
      // Of a row that does not exist no slice does: all are the semiring's zero.
      taken[k] = values[static_cast<std::size_t>(std::max<std::int64_t>(0, at[k])) * at.size() + k];
    }
    add_to(place, Tensor::of(place.shape(), taken), 1);
  }
}

std::vector<Tensor> PointEnds::cotangents(std::span<const Tensor> given, const RaggedChains* lengths) const {
  std::vector<Tensor> list(given.begin(), given.end());
  for (const Point& point : points_) {
    if (!point.is_output) continue;
    list[point.factor] = with_slices<double>(given[point.factor].values(), slots(point, lengths),
                                             engine::sizes(graph_, axes(point)), 0.0);
  }
  return list;
}

}  // namespace plated::chain
