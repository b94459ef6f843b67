// Compiles the inner loops of gathers and scatters for every SIMD target and picks this machine's at run time.
#include "kernels/indexed_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "kernels/targets.hpp"
#include "tensor/visit_integers.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/indexed_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/baseline-inl.hpp"
#include "kernels/vector_ring-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
template <class D, class State>
HWY_INLINE hn::Vec<D> load_states(D d, const State* states) {
  const hn::Rebind<std::int32_t, D> d32;
  if constexpr (sizeof(State) == 4) {
    return hn::PromoteTo(d, hn::LoadU(d32, states));
  } else {
    return hn::PromoteTo(d, hn::PromoteTo(d32, hn::LoadU(hn::Rebind<State, D>(), states)));
  }
}
#endif

template <class State>
void move_offsets(const State* states, std::int64_t stride, std::int64_t step, std::int64_t count,
                  std::int64_t* offsets) {
  std::int64_t q = 0;
#if HWY_TARGET != HWY_SCALAR
  // States and steps of 31 bits have products of 64.
  if constexpr (std::numeric_limits<State>::digits < 32) {
    const hn::ScalableTag<std::int64_t> d;
    const hn::Repartition<std::int32_t, decltype(d)> halves;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    if (stride == 1 && step >= 0 && step <= std::numeric_limits<std::int32_t>::max()) {
      const auto steps = hn::BitCast(halves, hn::Set(d, step));
      const auto nowhere = hn::Set(d, not_observed);
      for (; q + lanes <= count; q += lanes) {
        const auto state = load_states(d, states + q);
        const auto old = hn::LoadU(d, offsets + q);
        const auto moved = hn::Add(old, hn::MulEven(hn::BitCast(halves, state), steps));
        const auto absent = hn::Or(hn::Lt(state, hn::Zero(d)), hn::Eq(old, nowhere));
        hn::StoreU(hn::IfThenElse(absent, nowhere, moved), d, offsets + q);
      }
    }
  }
#endif
  for (; q < count; ++q) {
    const auto state = static_cast<std::int64_t>(states[q * stride]);
    const std::int64_t old = offsets[q];
    offsets[q] = state < 0 || old == not_observed ? not_observed : old + state * step;
  }
}

void add_to_offsets_here(const StatesOfRun& run, std::int64_t count, std::int64_t* offsets) {
  const auto move = [&](const auto* states)
                        HWY_ATTR { move_offsets(states + run.first, run.stride, run.step, count, offsets); };
  tensor::visit_integers(run.states, tensor::integer_type_of_dtype(run.dtype), move);
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

/// Adds the part of one or two vectors of all rows, the second of `width` lanes, where most entries go to the row of
/// the one before them: it stays in registers, so that no sum waits for memory.
template <bool two>
void add_part_of_runs(const std::int64_t* offsets, std::int64_t count, const double* HWY_RESTRICT mass,
                      std::int64_t along, std::size_t width, double* HWY_RESTRICT out) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t last = two ? lanes : 0;
  const auto in_last = hn::FirstN(d, width);
  auto a = hn::Zero(d);
  auto b = hn::Zero(d);
  double* row = nullptr;
  const auto put = [&]() HWY_ATTR {
    if constexpr (two) hn::StoreU(a, d, row);
    hn::BlendedStore(b, in_last, d, row + last);
  };
  for (std::int64_t q = 0; q < count; ++q, mass += along) {
    if (offsets[q] == not_observed) continue;
    if (out + offsets[q] != row) {
      if (row != nullptr) put();
      row = out + offsets[q];
      if constexpr (two) a = hn::LoadU(d, row);
      b = load_some(d, row + last, width, 0.0);
    }
    if constexpr (two) a = hn::Add(a, hn::LoadU(d, mass));
    b = hn::Add(b, load_some(d, mass + last, width, 0.0));
  }
  if (row != nullptr) put();
}

void add_runs(const std::int64_t* offsets, std::int64_t count, const double* HWY_RESTRICT mass, std::int64_t along,
              std::int64_t width, double* HWY_RESTRICT out) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<double>()));
  for (std::int64_t at = 0; at < width; at += 2 * lanes) {
    const std::int64_t left = std::min(width - at, 2 * lanes);
    if (left > lanes) {
      add_part_of_runs<true>(offsets, count, mass + at, along, static_cast<std::size_t>(left - lanes), out + at);
    } else {
      add_part_of_runs<false>(offsets, count, mass + at, along, static_cast<std::size_t>(left), out + at);
    }
  }
}

/// Whether most entries go to the row of the one before them: notes that are silent, answers that are rare.
bool has_long_runs(const std::int64_t* offsets, std::int64_t count) {
  std::int64_t alike = 0;
  for (std::int64_t q = 1; q < count; ++q) alike += offsets[q] == offsets[q - 1] ? 1 : 0;
  return 2 * alike > count;
}

void add_rows_here(const std::int64_t* offsets, std::int64_t count, const double* HWY_RESTRICT mass, std::int64_t along,
                   std::int64_t width, double* HWY_RESTRICT out) {
  if (has_long_runs(offsets, count)) return add_runs(offsets, count, mass, along, width, out);
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

HWY_EXPORT(add_to_offsets_here);
HWY_EXPORT(multiply_rows_here);
HWY_EXPORT(add_rows_here);

void add_to_offsets(const StatesOfRun& run, std::int64_t count, std::int64_t* offsets) noexcept {
  HWY_DYNAMIC_DISPATCH(add_to_offsets_here)(run, count, offsets);
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
