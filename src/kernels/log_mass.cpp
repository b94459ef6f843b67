// Computes logarithms of masses, a vector at a time.
#include "kernels/log_mass.hpp"

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/log_mass.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace {

/// One row of masses and normalisers, each with its own stride.
template <class N, class T>
void log_mass_row(const double* mass, std::int64_t mass_stride, const N* normaliser, std::int64_t normaliser_stride,
                  T* output, std::int64_t count) noexcept {
  const hn::ScalableTag<double> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  HWY_ALIGN double m[HWY_MAX_BYTES / sizeof(double)];
  HWY_ALIGN double h[HWY_MAX_BYTES / sizeof(double)];
  for (std::int64_t k = 0; k < count; k += lanes) {
    const std::int64_t part = count - k < lanes ? count - k : lanes;
    for (std::int64_t l = 0; l < lanes; ++l) m[l] = l < part ? mass[(k + l) * mass_stride] : 0.0;
    hn::Store(Log(d, hn::Load(d, m)), d, h);
    for (std::int64_t l = 0; l < part; ++l) {
      const bool subtracts = normaliser != nullptr && m[l] > 0;
      const double n = subtracts ? static_cast<double>(normaliser[(k + l) * normaliser_stride]) : 0.0;
      output[k + l] = static_cast<T>(h[l] - n);
    }
  }
}

template <class N, class T>
void log_mass_loops(const LogMassShape& shape, std::size_t loop, const double* mass, const N* normaliser, T*& output) {
  const std::size_t loops = shape.extent.size();
  if (loops == 0) return log_mass_row(mass, 0, normaliser, 0, output, 1);
  if (loop + 1 == loops) {
    log_mass_row(mass, shape.mass_stride[loop], normaliser, shape.normaliser_stride[loop], output, shape.extent[loop]);
    output += shape.extent[loop];
    return;
  }
  for (std::int64_t k = 0; k < shape.extent[loop]; ++k) {
    log_mass_loops(shape, loop + 1, mass + k * shape.mass_stride[loop],
                   normaliser == nullptr ? nullptr : normaliser + k * shape.normaliser_stride[loop], output);
  }
}

}  // namespace

void log_mass_any(const LogMassShape& shape, const double* mass, const void* normaliser, void* output) {
  const auto with_output = [&](const auto* n) {
    if (shape.output_dtype == Dtype::float32) {
      auto* out = static_cast<float*>(output);
      log_mass_loops(shape, 0, mass, n, out);
    } else {
      auto* out = static_cast<double*>(output);
      log_mass_loops(shape, 0, mass, n, out);
    }
  };
  if (shape.normaliser_dtype == Dtype::float32) {
    with_output(static_cast<const float*>(normaliser));
  } else {
    with_output(static_cast<const double*>(normaliser));
  }
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(log_mass_any);

void log_mass(const LogMassShape& shape, const double* mass, const void* normaliser, void* output) noexcept {
  HWY_DYNAMIC_DISPATCH(log_mass_any)(shape, mass, normaliser, output);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
