// Matrix products computed in float64, for every SIMD target.
#include "kernels/gemm_call.hpp"
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm_float64.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/baseline-inl.hpp"
#include "kernels/gemm_task-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

template MicroKernel<double> micro_kernel_for<SumOfProducts<double>, double>(std::int64_t, std::int64_t);
template MicroKernel<double> micro_kernel_for<MaxOfSums<double>, double>(std::int64_t, std::int64_t);

void run_gemm_float64(const GemmCall& call) {
  semiring::dispatch(call.layout.semiring, [&call](auto ring) { GemmTask<decltype(ring), double>(call).run(); });
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(run_gemm_float64);

void run_gemm_float64(const GemmCall& call) noexcept { HWY_DYNAMIC_DISPATCH(run_gemm_float64)(call); }

}  // namespace plated::kernels
#endif
