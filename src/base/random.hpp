// The random generator of randomised searches: small, and the same numbers on every platform.
#pragma once

#include <cmath>
#include <cstdint>

namespace plated::base {

/// SplitMix64: a Weyl sequence through a mixing function, so that any two seeds give unrelated streams.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  /// Uniform in [0, bound), up to a bias of bound / 2^32.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((bits() >> 32) * static_cast<std::uint64_t>(bound)) >> 32);
  }
  /// Uniform in [low, high].
  int between(int low, int high) { return low + static_cast<int>(below(static_cast<std::uint32_t>(high - low + 1))); }

  /// Gumbel noise: the largest of scores with it added is a draw from their softmax.
  double gumbel() { return -std::log(-std::log(uniform() + 0x1p-60)); }

 private:
  std::uint64_t state_;
};

}  // namespace plated::base
