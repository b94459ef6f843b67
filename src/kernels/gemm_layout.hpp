// A contraction read as a batch of matrix products: which loops are rows, columns, inner, batch and product indices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/contraction.hpp"

namespace plated::kernels {

/// Where an index leads in the left operand, the right operand and the output, in elements.
struct GemmOffset {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t out = 0;
};

/// Several loops that act as one index, the last one running fastest. Any strides: rows of a matrix may be a
/// permuted, reversed or broadcast set of tensor dims (block-scatter layout).
class IndexGroup {
 public:
  struct Loop {
    std::int64_t extent;
    GemmOffset stride;
  };

  void add(const Loop& loop) { loops_.push_back(loop); }
  /// Orders the loops so that the key stride shrinks, and fuses neighbours that step like a single loop everywhere.
  void normalise(std::int64_t GemmOffset::*key);

  [[nodiscard]] const std::vector<Loop>& loops() const { return loops_; }
  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] GemmOffset at(std::int64_t index) const;
  /// At most one loop: index i is i strides away.
  [[nodiscard]] bool is_uniform() const { return loops_.size() <= 1; }
  /// The stride of the fastest loop.
  [[nodiscard]] GemmOffset stride() const { return loops_.empty() ? GemmOffset{} : loops_.back().stride; }

  /// to[i] = the offset of index first + i in one operand or the output, for i < count.
  void offsets(std::int64_t first, std::int64_t count, std::int64_t GemmOffset::*which, std::int64_t* to) const;

  /// Calls visit(i, offset) for indices first + i, i < count.
  template <class Visit>
  void walk(std::int64_t first, std::int64_t count, const Visit& visit) const {
    const std::int64_t inner = loops_.empty() ? 1 : loops_.back().extent;
    const GemmOffset step = stride();
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t position = (first + done) % inner;
      const std::int64_t run = std::min(count - done, inner - position);
      GemmOffset offset = at(first + done);
      for (std::int64_t i = 0; i < run; ++i) {
        visit(done + i, offset);
        offset = {offset.a + step.a, offset.b + step.b, offset.out + step.out};
      }
      done += run;
    }
  }

 private:
  std::vector<Loop> loops_;
};

/// out[batch, m, n] = (∏_product ⊕_k a[batch, product, m, k] ⊗ b[batch, product, k, n])^power.
struct GemmLayout {
  Semiring semiring;
  Dtype a_dtype, b_dtype, out_dtype, compute_dtype;
  bool swapped = false;  // the left operand is input 1
  IndexGroup batch, product, m, n, k;
  std::int64_t power = 1;
  bool has_product = false;  // also true of a single slice where power ≠ 1: the result passes through doubles
};

/// The matrix product that a shape is; empty where it is none: other than two inputs, sums over an index that one
/// input lacks, or an empty extent.
[[nodiscard]] std::optional<GemmLayout> gemm_layout(const ContractionShape& shape);

}  // namespace plated::kernels
