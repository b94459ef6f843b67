// Leave-one-out products as prefix times suffix, exact for zeros and large magnitudes.
#include "kernels/leave_one_out.hpp"

#include <algorithm>
#include <cstddef>

#include "base/watch.hpp"
#include "semiring/dispatch.hpp"

namespace plated::kernels {
namespace {

/// Walks the product loops of one kept index forwards and then backwards, with a running product. Recursion over the
/// loops takes the place of an index array: nothing is allocated.
template <class Ring>
class Sweep {
 public:
  Sweep(const LeaveOneOutShape& shape, base::Pace& pace)
      : shape_(shape), loops_(shape.product_extent.size()), pace_(pace) {}

  void run(const double* in, double* out) {
    running_ = Ring::one();
    forward(0, in, out);
    running_ = Ring::one();
    backward(0, in, out);
  }

 private:
  void forward(std::size_t loop, const double* in, double* out) {
    if (loop == loops_) {
      *out = running_;
      running_ = Ring::multiply(running_, *in);
      return;
    }
    for (std::int64_t i = 0; i < shape_.product_extent[loop]; ++i) {
      if (i % left_out_at_once == 0 && pace_.stops(left_out_at_once)) return;
      forward(loop + 1, in + i * shape_.product_input_stride[loop], out + i * shape_.product_output_stride[loop]);
    }
  }

  void backward(std::size_t loop, const double* in, double* out) {
    if (loop == loops_) {
      const double others = Ring::multiply(*out, running_);
      *out = shape_.repeats == 1 ? others
                                 : Ring::multiply(Ring::power(others, shape_.repeats),
                                                  Ring::power(*in, std::max<std::int64_t>(0, shape_.repeats - 1)));
      running_ = Ring::multiply(running_, *in);
      return;
    }
    for (std::int64_t i = shape_.product_extent[loop]; i-- > 0;) {
      if (i % left_out_at_once == 0 && pace_.stops(left_out_at_once)) return;
      backward(loop + 1, in + i * shape_.product_input_stride[loop], out + i * shape_.product_output_stride[loop]);
    }
  }

  const LeaveOneOutShape& shape_;
  std::size_t loops_;
  base::Pace& pace_;
  double running_ = Ring::one();
};

}  // namespace

LeaveOneOutOffsets kept_offsets(const LeaveOneOutShape& shape, std::int64_t kept) noexcept {
  LeaveOneOutOffsets at;
  for (std::size_t l = shape.kept_extent.size(); l-- > 0;) {
    const std::int64_t index = kept % shape.kept_extent[l];
    kept /= shape.kept_extent[l];
    at.input += index * shape.kept_input_stride[l];
    at.output += index * shape.kept_output_stride[l];
  }
  return at;
}

void leave_one_out(const LeaveOneOutShape& shape, const double* input, double* output, std::int64_t first,
                   std::int64_t last) noexcept {
  semiring::dispatch(shape.semiring, [&](auto ring) {
    base::Pace pace;
    Sweep<decltype(ring)> sweep(shape, pace);
    for (std::int64_t k = first; k < last; ++k) {
      const LeaveOneOutOffsets at = kept_offsets(shape, k);
      sweep.run(input + at.input, output + at.output);
    }
  });
}

}  // namespace plated::kernels
