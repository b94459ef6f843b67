// Generates vectors of random numbers, for every SIMD target.
#include <array>
#include <cstring>

#include "base/counter_random.hpp"
#include "kernels/choose.hpp"
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/choose_random.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/baseline-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// Words are kept in the lower halves of 64-bit lanes, where the multiplication wants them; the upper halves are
// rubbish.
using Words = hn::ScalableTag<std::uint64_t>;
using WordsVec = hn::Vec<Words>;

HWY_INLINE WordsVec multiply_words(WordsVec a, std::uint32_t multiplier) {
  const hn::Repartition<std::uint32_t, Words> d32;
  return hn::MulEven(hn::BitCast(d32, a), hn::Set(d32, multiplier));
}

HWY_INLINE void philox_round(WordsVec& c0, WordsVec& c1, WordsVec& c2, WordsVec& c3,
                             const std::array<std::uint32_t, 2>& key) {
  const Words d;
  const WordsVec a = multiply_words(c0, base::Philox::multiplier[0]);
  const WordsVec b = multiply_words(c2, base::Philox::multiplier[1]);
  c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(b), c1), hn::Set(d, std::uint64_t{key[0]}));
  c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(a), c3), hn::Set(d, std::uint64_t{key[1]}));
  c1 = b;
  c3 = a;
}

/// base::unit_interval: integers below 2^52 become doubles by way of 2^52's exponent.
HWY_INLINE hn::Vec<hn::ScalableTag<double>> unit_vector(WordsVec high, WordsVec low) {
  const Words d;
  const hn::ScalableTag<double> d64;
  const auto exponent = hn::Set(d64, 0x1p52);
  const auto word = hn::Set(d, std::uint64_t{0xFFFFFFFF});
  const auto as_double = [&](WordsVec x) HWY_ATTR {
    return hn::Sub(hn::BitCast(d64, hn::Or(x, hn::BitCast(d, exponent))), exponent);
  };
  const auto upper = as_double(hn::And(high, word));
  const auto lower = as_double(hn::ShiftRight<11>(hn::And(low, word)));
  return hn::Add(hn::Mul(upper, hn::Set(d64, 0x1p-32)), hn::Mul(lower, hn::Set(d64, 0x1p-53)));
}
#endif

void words(std::uint64_t seed, std::uint32_t variable, std::int64_t slice, std::int64_t first, std::int64_t count,
           std::uint32_t* word) {
  std::int64_t s = 0;
  const auto one = [&] {
    word[s] = base::draw_word(seed, static_cast<std::uint64_t>(first + s), variable, static_cast<std::uint64_t>(slice));
    ++s;
  };
#if HWY_TARGET != HWY_SCALAR
  const Words d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const auto key = base::draw_key(seed);
  const auto c1_start = hn::Set(d, static_cast<std::uint64_t>(slice));
  const auto c2_start = hn::Set(d, std::uint64_t{variable});
  const auto slice_high = hn::Set(d, static_cast<std::uint64_t>(slice) >> 32);
  const auto store = [&](WordsVec c0, WordsVec c1, WordsVec c2, WordsVec c3, std::uint32_t* to) HWY_ATTR {
    const auto lower = hn::Set(d, std::uint64_t{0xFFFFFFFF});
    HWY_ALIGN std::uint64_t pairs[2 * HWY_MAX_BYTES / sizeof(std::uint64_t)];
    hn::StoreInterleaved2(hn::Or(hn::And(c0, lower), hn::ShiftLeft<32>(c1)),
                          hn::Or(hn::And(c2, lower), hn::ShiftLeft<32>(c3)), d, pairs);
    std::memcpy(to, pairs, static_cast<std::size_t>(2 * width) * sizeof(std::uint64_t));
  };
  while (s < count && (first + s) % 4 != 0) one();
  // Two vectors at a time: the rounds of one fill the waits of the other.
  for (; s + 8 * width <= count; s += 8 * width) {
    auto a0 = hn::Iota(d, static_cast<std::uint64_t>(first + s) / 4);
    auto b0 = hn::Add(a0, hn::Set(d, static_cast<std::uint64_t>(width)));
    auto a1 = c1_start, b1 = c1_start, a2 = c2_start, b2 = c2_start;
    auto a3 = hn::Xor(hn::ShiftLeft<16>(hn::ShiftRight<32>(a0)), slice_high);
    auto b3 = hn::Xor(hn::ShiftLeft<16>(hn::ShiftRight<32>(b0)), slice_high);
    auto round_key = key;
    for (int round = 0; round < base::Philox::rounds; ++round) {
      philox_round(a0, a1, a2, a3, round_key);
      philox_round(b0, b1, b2, b3, round_key);
      round_key[0] += base::Philox::key_step[0];
      round_key[1] += base::Philox::key_step[1];
    }
    store(a0, a1, a2, a3, word + s);
    store(b0, b1, b2, b3, word + s + 4 * width);
  }
#endif
  while (s < count) one();
}

void uniforms(std::uint64_t seed, std::uint32_t variable, const std::int64_t* sample, const std::int64_t* slice,
              std::int64_t count, double* uniform) {
  std::int64_t s = 0;
#if HWY_TARGET != HWY_SCALAR
  const Words d;
  const hn::RebindToSigned<Words> di;
  const hn::ScalableTag<double> d64;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  for (; s + width <= count; s += width) {
    const auto samples = hn::BitCast(d, hn::LoadU(di, sample + s));
    const auto slices = hn::BitCast(d, hn::LoadU(di, slice + s));
    const auto quads = hn::ShiftRight<2>(samples);
    const auto c3_start = hn::Xor(hn::ShiftLeft<16>(hn::ShiftRight<32>(quads)), hn::ShiftRight<32>(slices));
    const auto place = hn::And(samples, hn::Set(d, std::uint64_t{3}));
    const auto word = [&](std::uint32_t tagged) HWY_ATTR {
      auto c0 = quads, c1 = slices, c2 = hn::Set(d, std::uint64_t{tagged}), c3 = c3_start;
      auto key = base::draw_key(seed);
      for (int round = 0; round < base::Philox::rounds; ++round) {
        philox_round(c0, c1, c2, c3, key);
        key[0] += base::Philox::key_step[0];
        key[1] += base::Philox::key_step[1];
      }
      const auto is = [&](std::uint64_t p) HWY_ATTR { return hn::Eq(place, hn::Set(d, p)); };
      return hn::IfThenElse(is(0), c0, hn::IfThenElse(is(1), c1, hn::IfThenElse(is(2), c2, c3)));
    };
    hn::StoreU(unit_vector(word(variable), word(variable ^ base::draw_low_bits)), d64, uniform + s);
  }
#endif
  for (; s < count; ++s) {
    uniform[s] =
        base::draw_uniform(seed, static_cast<std::uint64_t>(sample[s]), variable, static_cast<std::uint64_t>(slice[s]));
  }
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(words);
HWY_EXPORT(uniforms);

void choose_words(std::uint64_t seed, std::uint32_t variable, std::int64_t slice, std::int64_t first,
                  std::int64_t count, std::uint32_t* word) noexcept {
  HWY_DYNAMIC_DISPATCH(words)(seed, variable, slice, first, count, word);
}

void choose_uniforms(std::uint64_t seed, std::uint32_t variable, const std::int64_t* sample, const std::int64_t* slice,
                     std::int64_t count, double* uniform) noexcept {
  HWY_DYNAMIC_DISPATCH(uniforms)(seed, variable, sample, slice, count, uniform);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
