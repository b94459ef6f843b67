// Counter-based random numbers: each is a function of a seed and a key, without state.
#pragma once

#include <array>
#include <cstdint>

namespace plated::base {

/// The constants of Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3").
struct Philox {
  static constexpr int rounds = 10;
  static constexpr std::uint32_t multiplier[2] = {0xD2511F53U, 0xCD9E8D57U};
  static constexpr std::uint32_t key_step[2] = {0x9E3779B9U, 0xBB67AE85U};
};

/// 128 random bits for each counter and key: a bijection of the counter, mixed by ten rounds of multiplications.
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                            std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < Philox::rounds; ++round) {
    const std::uint64_t a = std::uint64_t{Philox::multiplier[0]} * counter[0];
    const std::uint64_t b = std::uint64_t{Philox::multiplier[1]} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += Philox::key_step[0];
    key[1] += Philox::key_step[1];
  }
  return counter;
}

/// The counter of four neighbouring samples (4·quad … 4·quad + 3) of a variable in a slice. Different arguments have
/// different counters while quad and slice are below 2^48 and the variable below 2^31.
[[nodiscard]] constexpr std::array<std::uint32_t, 4> draw_counter(std::uint64_t quad, std::uint32_t variable,
                                                                  std::uint64_t slice) {
  return {static_cast<std::uint32_t>(quad), static_cast<std::uint32_t>(slice), variable,
          static_cast<std::uint32_t>(quad >> 32 << 16) ^ static_cast<std::uint32_t>(slice >> 32)};
}

[[nodiscard]] constexpr std::array<std::uint32_t, 2> draw_key(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

/// The first 32 bits of a sample's number, which nearly always decide, and the bits that follow, from a counter of
/// their own.
[[nodiscard]] constexpr std::uint32_t draw_word(std::uint64_t seed, std::uint64_t sample, std::uint32_t variable,
                                                std::uint64_t slice) {
  return philox(draw_counter(sample / 4, variable, slice), draw_key(seed))[sample % 4];
}
inline constexpr std::uint32_t draw_low_bits = 0x80000000U;  // set in the variable

/// 53 bits of two words as a number in [0, 1).
[[nodiscard]] constexpr double unit_interval(std::uint32_t high, std::uint32_t low) {
  return static_cast<double>((std::uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
}

/// The number in [0, 1) that decides on a sample of a variable in a slice.
[[nodiscard]] constexpr double draw_uniform(std::uint64_t seed, std::uint64_t sample, std::uint32_t variable,
                                            std::uint64_t slice) {
  return unit_interval(draw_word(seed, sample, variable, slice),
                       draw_word(seed, sample, variable ^ draw_low_bits, slice));
}

}  // namespace plated::base
