// Compiles exponentials for every SIMD target, of which this machine's best is picked at run time.
#include "kernels/exponentials.hpp"

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/exponentials.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/math-inl.hpp"
#include "kernels/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

void write_exponentials_here(Dtype dtype, const void* from, std::int64_t count, void* to) {
  const auto write = [&]<class T>(T zero) {
    const auto exp = [&](std::int64_t at) HWY_ATTR {
      return Exp(GemmTag<T>(), load_of_row(static_cast<const T*>(from), count, at, zero));
    };
    store_row(static_cast<T*>(to), count, exp);
  };
  dtype == Dtype::float32 ? write(0.0F) : write(0.0);
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(write_exponentials_here);

void write_exponentials(Dtype dtype, const void* from, std::int64_t count, void* to) noexcept {
  HWY_DYNAMIC_DISPATCH(write_exponentials_here)(dtype, from, count, to);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
