// Compares tensors with those that a workspace was bound for.
#include "engine/signature.hpp"

namespace plated::engine {
namespace {

std::int64_t kind_of(const Tensor& tensor) {
  constexpr std::int64_t dtypes = 8;
  return static_cast<std::int64_t>(tensor.rank()) * dtypes + static_cast<std::int64_t>(tensor.dtype());
}

}  // namespace

void Signature::Layouts::assign(std::span<const Tensor> list) {
  tensors = list.size();
  numbers.clear();
  std::size_t count = 0;
  for (const Tensor& tensor : list) count += 1 + 2 * tensor.rank();
  numbers.reserve(count);  // of very many, lists that grow would take twice that
  for (const Tensor& tensor : list) {
    numbers.push_back(kind_of(tensor));
    numbers.insert(numbers.end(), tensor.shape().begin(), tensor.shape().end());
    numbers.insert(numbers.end(), tensor.strides().begin(), tensor.strides().end());
  }
}

bool Signature::Layouts::are_of(std::span<const Tensor> list) const {
  if (list.size() != tensors) return false;
  const std::int64_t* known = numbers.data();
  for (const Tensor& tensor : list) {
    // As long as ranks agree, there is as much to come.
    if (*known++ != kind_of(tensor)) return false;
    const std::size_t rank = tensor.rank();
    const std::int64_t* shape = tensor.shape().data();
    const std::int64_t* strides = tensor.strides().data();
    for (std::size_t axis = 0; axis < rank; ++axis) {
      if (known[axis] != shape[axis] || known[rank + axis] != strides[axis]) return false;
    }
    known += 2 * rank;
  }
  return true;
}

bool Signature::has_operands(std::span<const Tensor> operands) const { return is_set_ && operands_.are_of(operands); }
bool Signature::has_outputs(std::span<const Tensor> outputs) const { return is_set_ && outputs_.are_of(outputs); }

void Signature::assign(const Terms& terms, const planner::Extents& extents, std::span<const Tensor> operands,
                       std::span<const Tensor> outputs) {
  terms_ = terms;
  extents_ = extents;
  operands_.assign(operands);
  outputs_.assign(outputs);
  is_set_ = true;
}

}  // namespace plated::engine
