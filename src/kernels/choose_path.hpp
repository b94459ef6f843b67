// Choosing in one slice after another: what is known in a slice follows from what was chosen in the last one.
//
// Rows are read and weighed as the tiles of choose.hpp are, and the same states are found.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/choose.hpp"

namespace plated::kernels {

/// A path through slices. In each, its row is what the inputs hold for the states, given the number that is known.
struct ChoosePath {
  struct Input {
    const void* data = nullptr;  // of the first slice
    Dtype dtype = Dtype::float32;
    std::int64_t step = 0;                       // from slice to slice, in elements like all offsets
    std::int64_t stride = 0;                     // from state to state
    const std::int64_t* state_offset = nullptr;  // the same, if not even
    const std::int64_t* known_offset = nullptr;  // [known]
  };
  const Input* inputs = nullptr;
  std::size_t count = 0;  // of inputs
  Dtype dtype = Dtype::float32;
  ChooseCombine combine = ChooseCombine::add;
  bool largest = true;
  std::int64_t states = 0;
  /// Known next: from_state[state] + from_known[known]; the state where there are no tables.
  const std::uint32_t* from_state = nullptr;
  const std::uint32_t* from_known = nullptr;
  double* scratch = nullptr;  // choose_path_scratch(states) of them
};

[[nodiscard]] constexpr std::int64_t choose_path_scratch(std::int64_t states) {
  return 3 * ((states + choose_pitch - 1) / choose_pitch * choose_pitch);
}

/// Chooses in `steps` slices: the best states, or by a number in [0, 1) each. Writes what is chosen in each slice and
/// what was known there; returns what is known in the next one.
std::uint32_t choose_path(const ChoosePath& path, std::uint32_t known, std::int64_t steps, const double* uniform,
                          std::uint32_t* chosen, std::uint32_t* known_there) noexcept;

}  // namespace plated::kernels
