// Derivatives of leave-one-out products: the same prefixes and suffixes, of numbers with derivatives.
#include <cstddef>

#include "base/watch.hpp"
#include "kernels/leave_one_out.hpp"
#include "semiring/real.hpp"

namespace plated::kernels {
namespace {

/// value + a ε + b η + ab εη with ε² = η² = 0.
struct Jet {
  double value = 1;
  double a = 0;
  double b = 0;
  double ab = 0;
};

/// Zero times anything is zero, an overflow included: the real semiring's own rule.
double times(double x, double y) { return semiring::Real::multiply(x, y); }

Jet operator*(const Jet& x, const Jet& y) {
  return {times(x.value, y.value), times(x.value, y.a) + times(x.a, y.value), times(x.value, y.b) + times(x.b, y.value),
          times(x.value, y.ab) + times(x.a, y.b) + times(x.b, y.a) + times(x.ab, y.value)};
}

Jet power(Jet base, std::int64_t exponent) {
  Jet result;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = result * base;
    base = base * base;
  }
  return result;
}

class DerivativeSweep {
 public:
  DerivativeSweep(const LeaveOneOutShape& shape, const double* input, const double* along, const double* further,
                  double* output, double* scratch)
      : shape_(shape), input_(input), along_(along), further_(further), output_(output), prefix_(scratch) {}

  void run(std::int64_t kept) {
    const LeaveOneOutOffsets at = kept_offsets(shape_, kept);
    slice_ = 0;
    running_ = {};
    forward(0, at.input);
    running_ = {};
    backward(0, at.input, at.output);
  }

 private:
  [[nodiscard]] Jet slice(std::int64_t in) const {
    return {input_[in], along_[in], further_ == nullptr ? 0.0 : further_[in], 0.0};
  }

  void forward(std::size_t loop, std::int64_t in) {
    if (loop == shape_.product_extent.size()) {
      double* to = prefix_ + 4 * slice_++;
      to[0] = running_.value, to[1] = running_.a, to[2] = running_.b, to[3] = running_.ab;
      running_ = running_ * slice(in);
      return;
    }
    for (std::int64_t i = 0; i < shape_.product_extent[loop]; ++i) {
      if (i % left_out_at_once == 0 && pace_.stops(left_out_at_once)) return;
      forward(loop + 1, in + i * shape_.product_input_stride[loop]);
    }
  }

  void backward(std::size_t loop, std::int64_t in, std::int64_t out) {
    if (loop == shape_.product_extent.size()) {
      const double* before = prefix_ + 4 * --slice_;
      const Jet own = slice(in);
      const Jet others = Jet{before[0], before[1], before[2], before[3]} * running_;
      const Jet product = power(others, shape_.repeats) * power(own, shape_.repeats - 1);
      output_[out] = further_ == nullptr ? product.a : product.ab;
      running_ = running_ * own;
      return;
    }
    for (std::int64_t i = shape_.product_extent[loop]; i-- > 0;) {
      if (i % left_out_at_once == 0 && pace_.stops(left_out_at_once)) return;
      backward(loop + 1, in + i * shape_.product_input_stride[loop], out + i * shape_.product_output_stride[loop]);
    }
  }

  const LeaveOneOutShape& shape_;
  const double* input_;
  const double* along_;
  const double* further_;
  double* output_;
  double* prefix_;
  std::int64_t slice_ = 0;
  Jet running_;
  base::Pace pace_;
};

}  // namespace

void leave_one_out_derivative(const LeaveOneOutShape& shape, const double* input, const double* along,
                              const double* further, double* output, double* scratch, std::int64_t first,
                              std::int64_t last) noexcept {
  DerivativeSweep sweep(shape, input, along, further, output, scratch);
  for (std::int64_t k = first; k < last; ++k) sweep.run(k);
}

}  // namespace plated::kernels
