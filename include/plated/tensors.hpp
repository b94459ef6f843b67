// Lists of tensors as arguments: what a caller has, or writes in braces.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>

#include "plated/tensor.hpp"

namespace plated {

/// The tensors that a verb is given: a vector, an array, a span, or a list in braces. It copies nothing, and lives no
/// longer than the call. A std::span<const Tensor> can be made of it.
///
///   plan.run({prior, likelihood});
///   plan.run_into({total}, operands);
class Tensors {
 public:
  Tensors() = default;
  Tensors(std::initializer_list<Tensor> list)  // NOLINT(google-explicit-constructor)
      : list_(list.begin(), list.size()) {}
  template <class Range>
  // NOLINTNEXTLINE(google-explicit-constructor)
  requires std::convertible_to<const Range&, std::span<const Tensor>> Tensors(const Range& range) : list_(range) {}

  [[nodiscard]] auto begin() const { return list_.begin(); }
  [[nodiscard]] auto end() const { return list_.end(); }
  [[nodiscard]] const Tensor* data() const { return list_.data(); }
  [[nodiscard]] std::size_t size() const { return list_.size(); }
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] const Tensor& operator[](std::size_t k) const { return list_[k]; }

 private:
  std::span<const Tensor> list_;
};

}  // namespace plated
