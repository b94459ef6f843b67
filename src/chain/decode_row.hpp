// One row of weights: of the states that may be chosen in a slice, given all that is known.
#pragma once

#include <cstdint>
#include <vector>

#include "chain/decode_weights.hpp"

namespace plated::chain {

/// Weighs and chooses; each worker has its own. As in kernels/choose.hpp, what is chosen is a state whatever the
/// weights are.
class RowChooser {
 public:
  RowChooser(const SliceChoice& choice, const SliceWeights& weights, Semiring semiring);

  [[nodiscard]] std::int64_t states() const { return states_; }

  /// The weights of all states where each input begins at an offset; good until the next call.
  [[nodiscard]] double* weigh(const std::int64_t* offset);

  /// The best one, the lowest among equals; NaN only where there is nothing else.
  [[nodiscard]] std::uint32_t best(const double* weight) const;

  /// Turns log weights into the running sums of weights.
  void accumulate(double* weight);
  /// The state in whose stretch of the running sums a number in [0, 1) falls; its weight is not 0, where the last sum
  /// is positive. It is a state whatever the sums are.
  [[nodiscard]] std::uint32_t draw(const double* sums, double uniform) const;

 private:
  struct Input {
    const std::byte* data = nullptr;
    Dtype dtype = Dtype::float64;
    std::vector<std::int64_t> outer;  // offsets of all chosen variables but the last
    std::int64_t stride = 0;          // of the last
  };
  template <class T>
  void combine(const Input& input, std::int64_t offset, bool first);

  const SliceWeights& weights_;
  Semiring semiring_;
  std::int64_t states_ = 1;
  std::int64_t last_ = 1;  // states of the last chosen variable
  std::vector<Input> inputs_;
  std::vector<double> row_;
  engine::Workspace workspace_;  // of the table
  std::vector<const void*> operands_;
};

}  // namespace plated::chain
