// What a workspace is bound for: a semiring, sizes, limits, and how the tensors lie.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/extents.hpp"
#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::engine {

class Signature {
 public:
  struct Terms {
    Semiring semiring = Semiring::log;
    bool kept = false;
    bool recalls = false;
    std::int64_t limit = 0;
    int threads = 0;  // where there is a limit
    bool operator==(const Terms&) const = default;
  };

  /// Whether a binding on operands and outputs of the same layouts would come out the same.
  [[nodiscard]] bool has_terms(const Terms& terms, const planner::Extents& extents) const {
    return is_set_ && terms_ == terms && extents_ == extents;
  }
  /// Whether these tensors have the types, shapes and strides of the bound ones. They allocate nothing.
  [[nodiscard]] bool has_operands(std::span<const Tensor> operands) const;
  [[nodiscard]] bool has_outputs(std::span<const Tensor> outputs) const;

  void assign(const Terms& terms, const planner::Extents& extents, std::span<const Tensor> operands,
              std::span<const Tensor> outputs);
  /// Nothing fits any more.
  void clear() { is_set_ = false; }

 private:
  bool is_set_ = false;
  Terms terms_;
  planner::Extents extents_;
  /// Of several tensors: type and rank, shape, strides.
  struct Layouts {
    std::size_t tensors = 0;
    std::vector<std::int64_t> numbers;

    void assign(std::span<const Tensor> list);
    [[nodiscard]] bool are_of(std::span<const Tensor> list) const;
  };
  Layouts operands_;
  Layouts outputs_;
};

}  // namespace plated::engine
