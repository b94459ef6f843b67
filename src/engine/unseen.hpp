// Operands that nobody has searched for NaN and infinities yet: a run looks at them as it reads them.
#pragma once

#include <cstddef>
#include <limits>

namespace plated::engine {

class Unseen {
 public:
  static constexpr double searched = std::numeric_limits<double>::infinity();

  virtual ~Unseen() = default;
  /// The magnitude up to which an operand is as it should be; `searched` where it need not be looked at.
  [[nodiscard]] virtual double most(std::size_t operand) const = 0;
  /// Called where a run does not look at such an operand, or has seen more than that, perhaps in a sum that overflowed.
  /// The run goes on unless this throws.
  virtual void search(std::size_t operand) const = 0;
};

}  // namespace plated::engine
