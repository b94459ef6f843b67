// Vectors of uniform random numbers, for every SIMD target.
#include <algorithm>
#include <array>

#include "base/counter_random.hpp"
#include "kernels/choose.hpp"
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/choose_random.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// Words are kept in the lower halves of 64-bit lanes, where the multiplication wants them; the upper halves are rubbish.
using Words = hn::ScalableTag<std::uint64_t>;
using WordsVec = hn::Vec<Words>;

HWY_INLINE WordsVec multiply_words(WordsVec a, std::uint32_t multiplier) {
  const hn::Repartition<std::uint32_t, Words> d32;
  return hn::MulEven(hn::BitCast(d32, a), hn::Set(d32, multiplier));
}

HWY_INLINE void philox_vector(WordsVec& c0, WordsVec& c1, WordsVec& c2, WordsVec& c3,
                              std::array<std::uint32_t, 2> key) {
  const Words d;
  for (int round = 0; round < base::Philox::rounds; ++round) {
    const WordsVec a = multiply_words(c0, base::Philox::multiplier[0]);
    const WordsVec b = multiply_words(c2, base::Philox::multiplier[1]);
    c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(b), c1), hn::Set(d, std::uint64_t{key[0]}));
    c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(a), c3), hn::Set(d, std::uint64_t{key[1]}));
    c1 = b;
    c3 = a;
    key[0] += base::Philox::key_step[0];
    key[1] += base::Philox::key_step[1];
  }
}

/// base::unit_interval: integers below 2^52 become doubles by way of 2^52's exponent.
HWY_INLINE hn::Vec<hn::ScalableTag<double>> unit_vector(WordsVec high, WordsVec low) {
  const Words d;
  const hn::ScalableTag<double> d64;
  const auto exponent = hn::Set(d64, 0x1p52);
  const auto word = hn::Set(d, std::uint64_t{0xFFFFFFFF});
  const auto as_double = [&](WordsVec x)
                             HWY_ATTR { return hn::Sub(hn::BitCast(d64, hn::Or(x, hn::BitCast(d, exponent))), exponent); };
  const auto upper = as_double(hn::And(high, word));
  const auto lower = as_double(hn::ShiftRight<11>(hn::And(low, word)));
  return hn::Add(hn::Mul(upper, hn::Set(d64, 0x1p-32)), hn::Mul(lower, hn::Set(d64, 0x1p-53)));
}
#endif

void uniforms(std::uint64_t seed, std::uint32_t variable, std::int64_t slice, std::int64_t first, std::int64_t count,
              double* uniform) {
  std::int64_t s = 0;
  const auto one = [&] {
    uniform[s] = base::draw_uniform(seed, static_cast<std::uint64_t>(first + s), variable,
                                    static_cast<std::uint64_t>(slice));
    ++s;
  };
#if HWY_TARGET != HWY_SCALAR
  const Words d;
  const hn::ScalableTag<double> d64;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  if (first % 2 != 0 && count > 0) one();
  const auto key = base::draw_key(seed);
  for (; s + 2 * width <= count; s += 2 * width) {
    const auto pair = static_cast<std::uint64_t>(first + s) / 2;
    const auto pairs = hn::Iota(d, pair);
    const auto counter = base::draw_counter(pair, variable, static_cast<std::uint64_t>(slice));
    auto c0 = pairs;
    auto c1 = hn::Set(d, std::uint64_t{counter[1]});
    auto c2 = hn::Set(d, std::uint64_t{counter[2]});
    auto c3 = hn::Xor(hn::ShiftLeft<16>(hn::ShiftRight<32>(pairs)),
                      hn::Set(d, static_cast<std::uint64_t>(slice) >> 32));
    philox_vector(c0, c1, c2, c3, key);
    hn::StoreInterleaved2(unit_vector(c0, c1), unit_vector(c2, c3), d64, uniform + s);
  }
#endif
  while (s < count) one();
}

void uniforms_of_pairs(std::uint64_t seed, std::uint32_t variable, const std::int64_t* sample,
                       const std::int64_t* slice, std::int64_t count, double* uniform) {
  std::int64_t s = 0;
#if HWY_TARGET != HWY_SCALAR
  const Words d;
  const hn::RebindToSigned<Words> di;
  const hn::ScalableTag<double> d64;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const auto key = base::draw_key(seed);
  for (; s + width <= count; s += width) {
    const auto samples = hn::BitCast(d, hn::LoadU(di, sample + s));
    const auto slices = hn::BitCast(d, hn::LoadU(di, slice + s));
    auto c0 = hn::ShiftRight<1>(samples);
    auto c1 = slices;
    auto c2 = hn::Set(d, std::uint64_t{variable});
    auto c3 = hn::Xor(hn::ShiftLeft<16>(hn::ShiftRight<32>(c0)), hn::ShiftRight<32>(slices));
    philox_vector(c0, c1, c2, c3, key);
    const auto even = hn::Eq(hn::And(samples, hn::Set(d, std::uint64_t{1})), hn::Zero(d));
    const auto high = hn::IfThenElse(even, c0, c2);
    const auto low = hn::IfThenElse(even, c1, c3);
    hn::StoreU(unit_vector(high, low), d64, uniform + s);
  }
#endif
  for (; s < count; ++s) {
    uniform[s] = base::draw_uniform(seed, static_cast<std::uint64_t>(sample[s]), variable,
                                    static_cast<std::uint64_t>(slice[s]));
  }
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(uniforms);
HWY_EXPORT(uniforms_of_pairs);

void choose_uniforms(std::uint64_t seed, std::uint32_t variable, std::int64_t slice, std::int64_t first,
                     std::int64_t count, double* uniform) noexcept {
  HWY_DYNAMIC_DISPATCH(uniforms)(seed, variable, slice, first, count, uniform);
}

void choose_uniforms_of_pairs(std::uint64_t seed, std::uint32_t variable, const std::int64_t* sample,
                              const std::int64_t* slice, std::int64_t count, double* uniform) noexcept {
  HWY_DYNAMIC_DISPATCH(uniforms_of_pairs)(seed, variable, sample, slice, count, uniform);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
