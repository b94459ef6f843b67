// Combines hashes of parts to the hash of a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plated::base {

class Hash {
 public:
  template <class Number>
  void add(Number part) noexcept {
    // One round of a multiplicative mix: order counts, and small numbers spread over all bits.
    state_ = (state_ ^ static_cast<std::uint64_t>(part)) * std::uint64_t{0x9E3779B97F4A7C15};
    state_ ^= state_ >> 32;
  }
  template <class Number>
  void add(const std::vector<Number>& list) noexcept {
    add(list.size());
    for (const auto& part : list) add(part);
  }
  [[nodiscard]] std::size_t value() const noexcept { return static_cast<std::size_t>(state_); }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325;
};

}  // namespace plated::base
