// Compiles a chain's posteriors for every SIMD target and picks this machine's at run time.
#include "kernels/chain_posterior_kernels.hpp"

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/chain_posterior_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/chain_posterior_items-inl.hpp"
#include "kernels/chain_posterior_states-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

template <class T>
bool run_posterior_in(const ScanMatrix<T>& matrix, std::int64_t first, std::int64_t last, const PosteriorRun& run,
                      std::byte* scratch) {
  // With one lane there is nothing to gain.
  if constexpr (HWY_MAX_BYTES > sizeof(double)) {
    if (matrix.states() <= posterior_item_states) return PosteriorItems<T>(matrix, run).run(first, last);
  }
  return PosteriorStates<T>(matrix, run, scratch).run(first, last);
}

bool run_posterior_here(const AnyScanMatrix& any, std::int64_t first, std::int64_t last, const PosteriorRun& run,
                        std::byte* scratch) {
  return std::visit([&](const auto& matrix) { return run_posterior_in(matrix, first, last, run, scratch); }, any);
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(run_posterior_here);

bool run_chain_posterior(const AnyScanMatrix& matrix, std::int64_t first, std::int64_t last, const PosteriorRun& run,
                         std::byte* scratch) noexcept {
  return HWY_DYNAMIC_DISPATCH(run_posterior_here)(matrix, first, last, run, scratch);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
