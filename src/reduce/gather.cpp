// Gathers entries.
#include "reduce/gather.hpp"

namespace plated::reduce {
namespace {

/// Rows along the last axis are copied in one loop; the axes before it count like an odometer.
template <class T>
void gather_into(T* to, const T* from, const std::vector<std::vector<std::int64_t>>& offsets) {
  if (offsets.empty()) {
    *to = *from;
    return;
  }
  Tensor::Shape outer;
  for (std::size_t a = 0; a + 1 < offsets.size(); ++a) outer.push_back(static_cast<std::int64_t>(offsets[a].size()));
  const std::vector<std::int64_t>& row = offsets.back();
  each_index(outer, [&](std::span<const std::int64_t> index) {
    const T* base = from;
    for (std::size_t a = 0; a < index.size(); ++a) base += offsets[a][static_cast<std::size_t>(index[a])];
    for (const std::int64_t offset : row) *to++ = base[offset];
  });
}

}  // namespace

Tensor gather(const Tensor& source, const std::vector<std::vector<std::int64_t>>& offsets) {
  Tensor::Shape shape;
  for (const auto& axis : offsets) shape.push_back(static_cast<std::int64_t>(axis.size()));
  Tensor result = Tensor::uninitialised(source.dtype(), shape);
  if (result.elements() == 0) return result;
  if (source.dtype() == Dtype::float32) {
    gather_into(static_cast<float*>(result.mutable_data()), static_cast<const float*>(source.data()), offsets);
  } else {
    gather_into(static_cast<double*>(result.mutable_data()), static_cast<const double*>(source.data()), offsets);
  }
  return result;
}

}  // namespace plated::reduce
