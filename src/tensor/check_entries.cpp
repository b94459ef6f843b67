// Finds entries out of range, and says where they are.
#include "tensor/check_entries.hpp"

#include <algorithm>

#include "plated/error.hpp"

namespace plated::tensor {
namespace {

/// " at index (2, 0)" of the entry that comes `flat` entries behind the first; nothing where there are no axes.
std::string place(const std::vector<std::int64_t>& shape, std::int64_t flat) {
  std::string index;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index.insert(0, std::to_string(flat % shape[axis]) + (index.empty() ? "" : ", "));
    flat /= shape[axis];
  }
  return index.empty() ? "" : " at index (" + index + ")";
}

}  // namespace

void check_entries(const IntegerView& integers, std::int64_t least, std::int64_t most, const std::string& what,
                   const std::string& expected) {
  for (std::size_t k = 0; k < integers.size(); ++k) {
    const std::int64_t value = integers[k];
    if (value >= least && value <= most) continue;
    std::string message = what + " " + std::to_string(value);
    message += place(integers.shape(), static_cast<std::int64_t>(k));
    throw ValueError(message.append(", ").append(expected));
  }
}

void check_states(const IntegerView& observed, const std::string& variable, std::int64_t states) {
  const auto is_state = [states](std::int64_t value) { return value >= -1 && value < states; };
  if (std::all_of(observed.begin(), observed.end(), is_state)) return;
  check_entries(observed, -1, states - 1, "the evidence for '" + variable + "' has the value",
                "and its states are 0 … " + std::to_string(states - 1) + " (−1: not observed)");
}

}  // namespace plated::tensor
