// Computes small and constant contractions in scalar double arithmetic over tables of offsets.
#include "kernels/reduce_small.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/watch.hpp"
#include "kernels/write_output.hpp"
#include "semiring/dispatch.hpp"

namespace plated::kernels {
namespace {

constexpr double small_elements = 128;

/// Offsets of every index of the loops that `selected` admits, the last loop of the shape fastest.
template <class Selected, class Stride>
std::vector<std::int64_t> offsets(const LoopNest& nest, Selected selected, Stride stride, std::int64_t base) {
  std::vector<std::int64_t> table = {base};
  for (const Loop& loop : nest.loops) {
    if (!selected(loop)) continue;
    const std::size_t inside = table.size();
    for (std::int64_t k = 1; k < loop.extent; ++k) {
      for (std::size_t j = 0; j < inside; ++j) table.push_back(table[j] + k * stride(loop));
    }
  }
  return table;
}

/// ⊕ of `count` terms.
template <class Ring>
double add_all(Ring, const double* term, std::int64_t count) {
  double total = Ring::zero();
  for (std::int64_t s = 0; s < count; ++s) total = Ring::add(total, term[s]);
  return total;
}
double add_all(semiring::Log, const double* term, std::int64_t count) {
  if (count == 1) return term[0];
  double high = semiring::Log::zero();
  for (std::int64_t s = 0; s < count; ++s) high = std::max(high, term[s]);
  // Added up, so that NaN is not taken for zero: it is larger than nothing.
  if (high == semiring::Log::zero()) return std::accumulate(term, term + count, 0.0);
  double total = 0.0;
  for (std::int64_t s = 0; s < count; ++s) total += std::exp(term[s] - high);
  return high + std::log(total);
}

class SmallReduce final : public Strategy {
 public:
  SmallReduce(const ContractionShape& shape, const LoopNest& nest)
      : semiring_(shape.semiring),
        dtype_(shape.output_dtype),
        power_(nest.power),
        kept_(nest.kept),
        product_(nest.product),
        sum_(nest.sum),
        input_dtype_(shape.input_dtype) {
    const auto role_is = [](Role role) { return [role](const Loop& loop) { return loop.role == role; }; };
    output_offset_ = offsets(
        nest, role_is(Role::kept), [](const Loop& loop) { return loop.output; }, nest.output_base);
    for (std::size_t i = 0; i < nest.base.size(); ++i) {
      const auto stride = [i](const Loop& loop) { return loop.input[i]; };
      const auto kept = offsets(nest, role_is(Role::kept), stride, nest.base[i]);
      const auto product = offsets(nest, role_is(Role::product), stride, 0);
      const auto sum = offsets(nest, role_is(Role::sum), stride, 0);
      auto& table = offset_.emplace_back();
      for (const std::int64_t k : kept) {
        for (const std::int64_t p : product) {
          for (const std::int64_t s : sum) table.push_back(k + p + s);
        }
      }
    }
  }

  const char* name() const override { return "small"; }
  std::int64_t tasks() const override { return 1; }
  std::size_t task_scratch_bytes() const override { return static_cast<std::size_t>(sum_ + kept_) * sizeof(double); }
  std::size_t shared_scratch_bytes() const override { return 0; }

  double run_task(std::int64_t, std::span<const void* const> inputs, void* output, std::byte* task_scratch,
                  std::byte*) const noexcept override {
    auto* term = reinterpret_cast<double*>(task_scratch);
    double* result = term + sum_;
    semiring::dispatch(semiring_, [&](auto ring) { run(ring, inputs, term, result); });
    write_output(semiring_, power_, result, kept_, output, dtype_, 0, output_offset_.data());
    return 0;
  }
  void finish(void*, std::byte*) const noexcept override {}

 private:
  template <class Ring>
  void run(Ring ring, std::span<const void* const> inputs, double* term, double* result) const noexcept {
    if constexpr (!std::is_same_v<Ring, semiring::Log>) {
      if (offset_.size() == 1) {
        return input_dtype_[0] == Dtype::float32 ? run_alone(ring, static_cast<const float*>(inputs[0]), result)
                                                 : run_alone(ring, static_cast<const double*>(inputs[0]), result);
      }
    }
    std::int64_t element = 0;
    for (std::int64_t k = 0; k < kept_; ++k) {
      double product = Ring::one();
      for (std::int64_t p = 0; p < product_; ++p) {
        for (std::size_t i = 0; i < offset_.size(); ++i) {
          const std::int64_t* offset = offset_[i].data() + element;
          if (input_dtype_[i] == Dtype::float32) {
            multiply(ring, static_cast<const float*>(inputs[i]), offset, i == 0, term);
          } else {
            multiply(ring, static_cast<const double*>(inputs[i]), offset, i == 0, term);
          }
        }
        element += sum_;
        product = Ring::multiply(product, add_all(ring, term, sum_));
      }
      result[k] = product;
    }
  }

  /// One input, whose entries are added up as they are read.
  template <class Ring, class T>
  void run_alone(Ring, const T* input, double* result) const noexcept {
    const std::int64_t* offset = offset_[0].data();
    for (std::int64_t k = 0; k < kept_; ++k) {
      double product = Ring::one();
      for (std::int64_t p = 0; p < product_; ++p) {
        double total = Ring::zero();
        for (const std::int64_t* const end = offset + sum_; offset != end; ++offset) {
          total = Ring::add(total, Ring::multiply(Ring::one(), static_cast<double>(input[*offset])));
        }
        product = Ring::multiply(product, total);
      }
      result[k] = product;
    }
  }

  /// Terms times the entries of one input, the first to begin with.
  template <class Ring, class T>
  void multiply(Ring, const T* input, const std::int64_t* offset, bool first, double* term) const noexcept {
    for (std::int64_t s = 0; s < sum_; ++s) {
      term[s] = Ring::multiply(first ? Ring::one() : term[s], static_cast<double>(input[offset[s]]));
    }
  }

  Semiring semiring_;
  Dtype dtype_;
  std::int64_t power_;
  std::int64_t kept_;
  std::int64_t product_;
  std::int64_t sum_;
  std::vector<Dtype> input_dtype_;
  std::vector<std::int64_t> output_offset_;
  std::vector<std::vector<std::int64_t>> offset_;  // [input][kept, product, sum]
};

/// One value everywhere: an empty sum, an empty product, or no inputs.
class Constant final : public Strategy {
 public:
  Constant(const ContractionShape& shape, const LoopNest& nest) : dtype_(shape.output_dtype), kept_(nest.kept) {
    value_ = semiring::dispatch(shape.semiring, [&nest](auto ring) {
      using Ring = decltype(ring);
      // n times one: what is not idempotent counts.
      double sum = nest.sum == 0 ? Ring::zero() : Ring::one();
      if constexpr (std::is_same_v<Ring, semiring::Real>) sum = static_cast<double>(nest.sum);
      if constexpr (std::is_same_v<Ring, semiring::Log>) sum = std::log(static_cast<double>(nest.sum));
      return ring.power(ring.power(sum, nest.product), nest.power);
    });
    for (const Loop& loop : nest.loops) {
      if (loop.role == Role::kept && loop.extent > 1) loops_.push_back(loop);
    }
    base_ = nest.output_base;
  }

  const char* name() const override { return "constant"; }
  std::int64_t tasks() const override { return 1; }
  std::size_t task_scratch_bytes() const override { return loops_.size() * sizeof(std::int64_t); }
  std::size_t shared_scratch_bytes() const override { return 0; }
  void finish(void*, std::byte*) const noexcept override {}

  double run_task(std::int64_t, std::span<const void* const>, void* output, std::byte* task_scratch,
                  std::byte*) const noexcept override {
    auto* index = reinterpret_cast<std::int64_t*>(task_scratch);
    std::fill(index, index + loops_.size(), 0);
    std::int64_t offset = base_;
    base::Pace pace(static_cast<double>(kept_));
    for (std::int64_t k = 0; k < kept_; ++k) {
      if (pace.stops(1)) break;
      if (dtype_ == Dtype::float32) {
        static_cast<float*>(output)[offset] = static_cast<float>(value_);
      } else {
        static_cast<double*>(output)[offset] = value_;
      }
      for (std::size_t l = 0; l < loops_.size(); ++l) {
        offset += loops_[l].output;
        if (++index[l] < loops_[l].extent) break;
        offset -= loops_[l].extent * loops_[l].output;
        index[l] = 0;
      }
    }
    return 0;
  }

 private:
  Dtype dtype_;
  std::int64_t kept_;
  std::int64_t base_ = 0;
  double value_ = 0.0;
  std::vector<Loop> loops_;
};

}  // namespace

std::unique_ptr<Strategy> make_small(const ContractionShape& shape, const LoopNest& nest) {
  if (nest.kept == 0 || nest.product == 0 || nest.sum == 0 || nest.base.empty()) {
    return std::make_unique<Constant>(shape, nest);
  }
  const double elements =
      static_cast<double>(nest.kept) * static_cast<double>(nest.product) * static_cast<double>(nest.sum);
  if (elements > small_elements) return nullptr;
  return std::make_unique<SmallReduce>(shape, nest);
}

}  // namespace plated::kernels
