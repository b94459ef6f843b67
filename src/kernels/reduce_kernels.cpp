// Compiles the reduce strategy's inner loops for every SIMD target and picks this machine's at run time.
#include "kernels/reduce_kernels.hpp"

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/baseline-inl.hpp"
#include "kernels/pack-inl.hpp"
#include "kernels/products-inl.hpp"
#include "kernels/sums-inl.hpp"
#include "semiring/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

template <class Ring, class T>
constexpr ReduceKernels kernels_of = {&absorb<Ring, T>,     &absorb_tile<Ring, T>, &pack<Ring, T>,
                                      &fold<Ring, T>,       &magnitude<Ring, T>,   &value<Ring, T>,
                                      &accumulate<Ring, T>, &settle<Ring, T>};

const ReduceKernels* find_reduce_kernels(Semiring which, Dtype compute) {
  return semiring::dispatch(which, [compute](auto ring) {
    using Ring = decltype(ring);
    return compute == Dtype::float32 ? &kernels_of<Ring, float> : &kernels_of<Ring, double>;
  });
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(find_reduce_kernels);

const ReduceKernels& reduce_kernels(Semiring semiring, Dtype compute) noexcept {
  return *HWY_DYNAMIC_DISPATCH(find_reduce_kernels)(semiring, compute);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
