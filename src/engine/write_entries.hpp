// Writes the entries of an answer, in row-major order, into memory of any strides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/watch.hpp"
#include "plated/tensor.hpp"

namespace plated::engine {

/// Writes value(k), rounded to the tensor's type, at its k-th index.
template <class Value>
void write_entries(const Tensor& to, const Value& value) {
  // Kept between calls: answers to a question that has been asked before must not allocate.
  thread_local std::vector<std::int64_t> index;
  index.assign(to.rank(), 0);
  const bool is_float = to.dtype() == Dtype::float32;
  void* const data = to.mutable_data();
  std::int64_t offset = 0;
  base::Pace pace;
  for (std::int64_t k = 0; k < to.elements(); ++k) {
    if (pace.stops(4)) base::check_wanted();
    if (is_float) {
      static_cast<float*>(data)[offset] = static_cast<float>(value(k));
    } else {
      static_cast<double*>(data)[offset] = value(k);
    }
    for (std::size_t axis = to.rank(); axis-- > 0;) {
      offset += to.strides()[axis];
      if (++index[axis] < to.shape()[axis]) break;
      offset -= to.strides()[axis] * to.shape()[axis];
      index[axis] = 0;
    }
  }
}

/// Copies the entries of a tensor of the same shape.
inline void copy_entries(const Tensor& from, const Tensor& to) {
  Tensor::Iterator entry = from.begin();
  write_entries(to, [&](std::int64_t) { return *entry++; });
}

}  // namespace plated::engine
