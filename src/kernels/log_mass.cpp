// Computes logarithms of masses, a vector at a time.
#include "kernels/log_mass.hpp"

#include <algorithm>

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/log_mass.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/baseline-inl.hpp"
#include "kernels/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace {

/// One row of masses and normalisers, each with its own stride.
template <class N, class T>
void log_mass_row(const double* mass, std::int64_t mass_stride, const N* normaliser, std::int64_t normaliser_stride,
                  T* output, std::int64_t output_stride, std::int64_t count) noexcept {
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
      output[(k + l) * output_stride] = static_cast<T>(h[l] - n);
    }
  }
}

/// Elements first … last − 1 of the loops from `loop` on, `elements` in all.
template <class N, class T>
void log_mass_loops(const LogMassShape& shape, std::size_t loop, std::int64_t elements, const double* mass,
                    const N* normaliser, T* output, std::int64_t first, std::int64_t last) noexcept {
  const std::size_t loops = shape.extent.size();
  if (first >= last) return;
  if (loops == 0) return log_mass_row(mass, 0, normaliser, 0, output, 0, 1);
  const std::int64_t mass_stride = shape.mass_stride[loop], normaliser_stride = shape.normaliser_stride[loop];
  const std::int64_t output_stride = shape.output_stride[loop];
  const auto normaliser_at = [&](std::int64_t k) {
    return normaliser == nullptr ? nullptr : normaliser + k * normaliser_stride;
  };
  if (loop + 1 == loops) {
    return log_mass_row(mass + first * mass_stride, mass_stride, normaliser_at(first), normaliser_stride,
                        output + first * output_stride, output_stride, last - first);
  }
  const std::int64_t inside = elements / shape.extent[loop];
  for (std::int64_t k = first / inside; k * inside < last; ++k) {
    log_mass_loops(shape, loop + 1, inside, mass + k * mass_stride, normaliser_at(k), output + k * output_stride,
                   std::max<std::int64_t>(0, first - k * inside), std::min(inside, last - k * inside));
  }
}

}  // namespace

void log_mass_any(const LogMassShape& shape, const double* mass, const void* normaliser, void* output,
                  std::int64_t first, std::int64_t last) {
  const auto with_output = [&](const auto* n) {
    if (shape.output_dtype == Dtype::float32) {
      log_mass_loops(shape, 0, shape.elements(), mass, n, static_cast<float*>(output), first, last);
    } else {
      log_mass_loops(shape, 0, shape.elements(), mass, n, static_cast<double*>(output), first, last);
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

LogMassShape in_long_rows(const LogMassShape& shape) {
  if (shape.elements() == 0) return shape;
  LogMassShape rows = shape;
  rows.extent.clear();
  rows.mass_stride.clear();
  rows.normaliser_stride.clear();
  rows.output_stride.clear();
  for (std::size_t l = 0; l < shape.extent.size(); ++l) {
    const std::int64_t extent = shape.extent[l];
    const std::int64_t mass = shape.mass_stride[l], normaliser = shape.normaliser_stride[l];
    const std::int64_t output = shape.output_stride[l];
    if (extent == 1) continue;
    if (!rows.extent.empty() && rows.mass_stride.back() == mass * extent &&
        rows.normaliser_stride.back() == normaliser * extent && rows.output_stride.back() == output * extent) {
      rows.extent.back() *= extent;
      rows.mass_stride.back() = mass;
      rows.normaliser_stride.back() = normaliser;
      rows.output_stride.back() = output;
      continue;
    }
    rows.extent.push_back(extent);
    rows.mass_stride.push_back(mass);
    rows.normaliser_stride.push_back(normaliser);
    rows.output_stride.push_back(output);
  }
  constexpr std::int64_t long_enough = 16;
  if (rows.extent.empty() || rows.extent.back() >= long_enough) return rows;
  const auto longest = std::max_element(rows.extent.rbegin(), rows.extent.rend());
  const auto from_last = longest - rows.extent.rbegin();
  for (auto* numbers : {&rows.extent, &rows.mass_stride, &rows.normaliser_stride, &rows.output_stride}) {
    std::rotate(numbers->rbegin(), numbers->rbegin() + from_last, numbers->rbegin() + from_last + 1);
  }
  return rows;
}

void log_mass(const LogMassShape& shape, const double* mass, const void* normaliser, void* output, std::int64_t first,
              std::int64_t last) noexcept {
  HWY_DYNAMIC_DISPATCH(log_mass_any)(shape, mass, normaliser, output, first, last);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
