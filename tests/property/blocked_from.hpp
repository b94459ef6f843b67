// Lowers the size from which runs are bound in blocks, so that those of small graphs are.
#pragma once

#include <cstdint>
#include <limits>

#include "engine/blocking.hpp"

namespace plated::test {

/// While it lives, runs with so many bytes of intermediates are bound in blocks.
class BlockedFrom {
 public:
  explicit BlockedFrom(std::int64_t bytes) : before_(engine::least_blocked_bytes.exchange(bytes)) {}
  ~BlockedFrom() { engine::least_blocked_bytes = before_; }
  BlockedFrom(const BlockedFrom&) = delete;
  BlockedFrom& operator=(const BlockedFrom&) = delete;

 private:
  std::int64_t before_;
};
inline constexpr std::int64_t never_blocked = std::numeric_limits<std::int64_t>::max();

}  // namespace plated::test
