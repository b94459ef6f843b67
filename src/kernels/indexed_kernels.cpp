// Compiles the inner loops of gathers and scatters for every SIMD target and picks this machine's at run time.
#include "kernels/indexed_kernels.hpp"

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/indexed_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/baseline-inl.hpp"
#include "kernels/vector_ring-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class State>
void add_states_of(const State* HWY_RESTRICT states, std::int64_t stride, std::int64_t step, std::int64_t count,
                   std::int64_t* HWY_RESTRICT offsets) {
  const auto moved = [step](std::int64_t offset, std::int64_t state) {
    return state < 0 || offset == not_observed ? not_observed : offset + state * step;
  };
  if (stride == 1) {
    for (std::int64_t q = 0; q < count; ++q) offsets[q] = moved(offsets[q], states[q]);
  } else {
    for (std::int64_t q = 0; q < count; ++q) offsets[q] = moved(offsets[q], states[q * stride]);
  }
}

void add_states_here(Dtype dtype, const void* states, std::int64_t first, std::int64_t stride, std::int64_t step,
                     std::int64_t count, std::int64_t* offsets) {
  switch (dtype) {
    case Dtype::int8:
      return add_states_of(static_cast<const std::int8_t*>(states) + first, stride, step, count, offsets);
    case Dtype::int16:
      return add_states_of(static_cast<const std::int16_t*>(states) + first, stride, step, count, offsets);
    case Dtype::int32:
      return add_states_of(static_cast<const std::int32_t*>(states) + first, stride, step, count, offsets);
    default:
      return add_states_of(static_cast<const std::int64_t*>(states) + first, stride, step, count, offsets);
  }
}

/// Multiplies the part of `width` lanes, at most a vector's, of all rows.
template <class R>
HWY_INLINE bool multiply_part(const std::int64_t* offsets, std::int64_t count, const double* table, std::size_t width,
                              double* product) {
  const hn::ScalableTag<double> d;
  const auto lanes = hn::FirstN(d, width);
  auto a = load_some(d, product, width, 0.0);
  for (std::int64_t q = 0; q < count; ++q) {
    if (offsets[q] == not_observed) continue;
    a = R::multiply(a, load_some(d, table + offsets[q], width, 0.0));
  }
  hn::BlendedStore(a, lanes, d, product);
  return hn::AllTrue(d, hn::Eq(a, a));
}

template <class R>
bool multiply_rows_in(const std::int64_t* offsets, std::int64_t count, const double* table, std::int64_t width,
                      double* product) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  bool numbers = true;
  std::int64_t at = 0;
  // Two or four vectors do not wait for each other.
  for (; at + 4 * lanes <= width; at += 4 * lanes) {
    double* const out = product + at;
    auto a = hn::LoadU(d, out), b = hn::LoadU(d, out + lanes);
    auto c = hn::LoadU(d, out + 2 * lanes), e = hn::LoadU(d, out + 3 * lanes);
    for (std::int64_t q = 0; q < count; ++q) {
      if (offsets[q] == not_observed) continue;
      const double* const row = table + offsets[q] + at;
      a = R::multiply(a, hn::LoadU(d, row));
      b = R::multiply(b, hn::LoadU(d, row + lanes));
      c = R::multiply(c, hn::LoadU(d, row + 2 * lanes));
      e = R::multiply(e, hn::LoadU(d, row + 3 * lanes));
    }
    hn::StoreU(a, d, out);
    hn::StoreU(b, d, out + lanes);
    hn::StoreU(c, d, out + 2 * lanes);
    hn::StoreU(e, d, out + 3 * lanes);
    numbers =
        numbers && hn::AllTrue(d, hn::And(hn::And(hn::Eq(a, a), hn::Eq(b, b)), hn::And(hn::Eq(c, c), hn::Eq(e, e))));
  }
  for (; at + 2 * lanes <= width; at += 2 * lanes) {
    double* const out = product + at;
    auto a = hn::LoadU(d, out), b = hn::LoadU(d, out + lanes);
    for (std::int64_t q = 0; q < count; ++q) {
      if (offsets[q] == not_observed) continue;
      const double* const row = table + offsets[q] + at;
      a = R::multiply(a, hn::LoadU(d, row));
      b = R::multiply(b, hn::LoadU(d, row + lanes));
    }
    hn::StoreU(a, d, out);
    hn::StoreU(b, d, out + lanes);
    numbers = numbers && hn::AllTrue(d, hn::And(hn::Eq(a, a), hn::Eq(b, b)));
  }
  for (; at < width; at += lanes) {
    const auto some = static_cast<std::size_t>(width - at < lanes ? width - at : lanes);
    numbers = multiply_part<R>(offsets, count, table + at, some, product + at) && numbers;
  }
  return numbers;
}

bool multiply_rows_here(Semiring semiring, const std::int64_t* offsets, std::int64_t count, const double* table,
                        std::int64_t width, double* product) {
  if (semiring == Semiring::real || semiring == Semiring::max_product) {
    return multiply_rows_in<MultiplicativeRing>(offsets, count, table, width, product);
  }
  return multiply_rows_in<AdditiveRing>(offsets, count, table, width, product);
}

void add_rows_here(const std::int64_t* offsets, std::int64_t count, const double* HWY_RESTRICT mass, std::int64_t along,
                   std::int64_t width, double* HWY_RESTRICT out) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t whole = width / lanes * lanes;
  const auto rest = static_cast<std::size_t>(width - whole);
  const auto in_rest = hn::FirstN(d, rest);
  for (std::int64_t q = 0; q < count; ++q, mass += along) {
    if (offsets[q] == not_observed) continue;
    double* const row = out + offsets[q];
    for (std::int64_t at = 0; at < whole; at += lanes) {
      hn::StoreU(hn::Add(hn::LoadU(d, row + at), hn::LoadU(d, mass + at)), d, row + at);
    }
    if (rest > 0) {
      const auto sum = hn::Add(load_some(d, row + whole, rest, 0.0), load_some(d, mass + whole, rest, 0.0));
      hn::BlendedStore(sum, in_rest, d, row + whole);
    }
  }
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(add_states_here);
HWY_EXPORT(multiply_rows_here);
HWY_EXPORT(add_rows_here);

void add_states(Dtype dtype, const void* states, std::int64_t first, std::int64_t stride, std::int64_t step,
                std::int64_t count, std::int64_t* offsets) noexcept {
  HWY_DYNAMIC_DISPATCH(add_states_here)(dtype, states, first, stride, step, count, offsets);
}

bool multiply_rows(Semiring semiring, const std::int64_t* offsets, std::int64_t count, const double* table,
                   std::int64_t width, double* product) noexcept {
  return HWY_DYNAMIC_DISPATCH(multiply_rows_here)(semiring, offsets, count, table, width, product);
}

void add_rows(const std::int64_t* offsets, std::int64_t count, const double* mass, std::int64_t along,
              std::int64_t width, double* out) noexcept {
  HWY_DYNAMIC_DISPATCH(add_rows_here)(offsets, count, mass, along, width, out);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
