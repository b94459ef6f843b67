// Range checks of arrays of integers: observed states, and lengths of chains.
#pragma once

#include <cstdint>
#include <string>

#include "plated/integer_view.hpp"

namespace plated::tensor {

/// The least and the largest of some integers.
struct Range {
  std::int64_t least = 0, most = 0;
};
/// That of all entries, in the order in which they lie in memory; 0 and 0 where there are none.
[[nodiscard]] Range range_of(const IntegerView& integers);

/// How many entries are not negative.
[[nodiscard]] std::int64_t count_observed(const IntegerView& states);

/// Throws ValueError for the first entry outside of least … most: "the evidence for 'x' has the value 7 at index
/// (2, 0), and its states are 0 … 1", where the text before the number is `what` and the text behind the index
/// `expected`.
void check_entries(const IntegerView& integers, std::int64_t least, std::int64_t most, const std::string& what,
                   const std::string& expected);

/// The same of a variable's evidence: states, or −1 for what is not observed.
void check_states(const IntegerView& observed, const std::string& variable, std::int64_t states);

}  // namespace plated::tensor
