// Compiles the inner loops of weighted sums for every SIMD target and picks this machine's at run time.
#include "kernels/weighted_sum_kernels.hpp"

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/weighted_sum_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/baseline-inl.hpp"
#include "kernels/weighted_sum-inl.hpp"
#include "kernels/weighted_sum_gather-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

// A double needs no halves: its sums are formed in double anyway.
template <class T, LogForm kLog>
constexpr LogForm log_form_of = sizeof(T) == 8 && kLog != LogForm::none ? LogForm::doubles : kLog;

#define PLATED_WEIGH(log)                                                                                   \
  {                                                                                                         \
    &weigh<T, log_form_of<T, log>, WeightForm::none>, &weigh<T, log_form_of<T, log>, WeightForm::rows>,     \
        &weigh<T, log_form_of<T, log>, WeightForm::lanes>, &weigh<T, log_form_of<T, log>, WeightForm::both> \
  }

template <class T>
constexpr WeightedSumKernels weighted_sum_kernels_of = {{PLATED_WEIGH(LogForm::none), PLATED_WEIGH(LogForm::lanes),
                                                         PLATED_WEIGH(LogForm::rows), PLATED_WEIGH(LogForm::doubles)},
                                                        &gather,
                                                        &split,
                                                        &round_to<T>,
                                                        &drain<T>,
                                                        &fold_lanes<T>};

#undef PLATED_WEIGH

const WeightedSumKernels* find_weighted_sum_kernels(Dtype compute) {
  return compute == Dtype::float32 ? &weighted_sum_kernels_of<float> : &weighted_sum_kernels_of<double>;
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(find_weighted_sum_kernels);

const WeightedSumKernels& weighted_sum_kernels(Dtype compute) noexcept {
  return *HWY_DYNAMIC_DISPATCH(find_weighted_sum_kernels)(compute);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
