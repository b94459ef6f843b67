// Matrix products computed in float32, for every SIMD target.
#include "kernels/gemm_call.hpp"
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm_float32.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/baseline-inl.hpp"
#include "kernels/gemm_task-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

template MicroKernel<float> micro_kernel_for<SumOfProducts<float>, float>(std::int64_t, std::int64_t);
template MicroKernel<float> micro_kernel_for<MaxOfSums<float>, float>(std::int64_t, std::int64_t);

void run_gemm_float32(const GemmCall& call) {
  semiring::dispatch(call.layout.semiring, [&call](auto ring) { GemmTask<decltype(ring), float>(call).run(); });
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(run_gemm_float32);

void run_gemm_float32(const GemmCall& call) noexcept { HWY_DYNAMIC_DISPATCH(run_gemm_float32)(call); }

}  // namespace plated::kernels
#endif
