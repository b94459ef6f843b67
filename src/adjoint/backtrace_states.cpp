// Splits tuples and stores their states.
#include "adjoint/backtrace_states.hpp"

#include <algorithm>

namespace plated::adjoint {
namespace {

/// The state of variable v of a tuple, which is left without it; variables are taken last first.
std::uint32_t take_state(std::uint32_t& tuple, const ChoiceStep& step, std::size_t v) {
  if (v == 0) return tuple;
  const auto extent = static_cast<std::uint32_t>(step.extent[v]);
  const std::uint32_t state = tuple % extent;
  tuple /= extent;
  return state;
}

/// Rows of a sample each, from rows of a slice each: as many slices as two cache lines of the answer hold.
template <int kSlices>
void transpose(const std::uint32_t* from, std::int64_t pitch, std::int64_t samples, std::int64_t* to,
               std::int64_t to_pitch) {
  for (std::int64_t s = 0; s < samples; ++s, to += to_pitch) {
    for (int k = 0; k < kSlices; ++k) to[k] = from[k * pitch + s];
  }
}

}  // namespace

void ChosenStates::answer(DimId v) {
  const std::vector<std::uint32_t>& states = states_[v];
  std::vector<std::int64_t>& values = answer_[v].values;
  const std::int64_t slices = static_cast<std::int64_t>(values.size()) / samples_;
  base::Pace pace;
  for (std::int64_t slice = 0; slice < slices && !pace.stops(samples_); ++slice) {
    for (std::int64_t s = 0; s < samples_; ++s) values[s * slices + slice] = states[slice * samples_ + s];
  }
  base::check_wanted();
}

void ChosenStates::write(const ChoiceStep& step, const std::int64_t* slice, std::int64_t slices, std::int64_t first,
                         std::int64_t count, std::uint32_t* tuple, std::int64_t pitch) {
  const bool adjacent =
      slices > 0 && slice[slices - 1] - slice[0] == slices - 1 && std::is_sorted(slice, slice + slices);
  for (std::size_t v = step.variables.size(); v-- > 0;) {
    const DimId variable = step.variables[v];
    std::vector<std::uint32_t>& states = states_[variable];
    for (std::int64_t k = 0; v > 0 && k < slices; ++k) {
      // Tuples are split in place: what remains of the tuple goes below, where the rest is taken apart.
      std::uint32_t* row = tuple + k * pitch;
      std::uint32_t* digit = tuple + (slices + k) * pitch;
      for (std::int64_t s = 0; s < count; ++s) digit[s] = take_state(row[s], step, v);
    }
    const std::uint32_t* from = v > 0 ? tuple + slices * pitch : tuple;
    if (!states.empty()) {
      for (std::int64_t k = 0; k < slices; ++k) {
        std::copy(from + k * pitch, from + k * pitch + count, states.data() + slice[k] * samples_ + first);
      }
    }
    std::vector<std::int64_t>& values = answer_[variable].values;
    const std::int64_t all_slices = static_cast<std::int64_t>(values.size()) / samples_;
    std::int64_t* to = values.data() + first * all_slices;
    if (adjacent && slices == 16) {
      transpose<16>(from, pitch, count, to + slice[0], all_slices);
      continue;
    }
    for (std::int64_t s = 0; s < count; ++s, to += all_slices) {
      for (std::int64_t k = 0; k < slices; ++k) to[slice[k]] = from[k * pitch + s];
    }
  }
}

void ChosenStates::write_pairs(const ChoiceStep& step, const std::int64_t* slice, const std::int64_t* sample,
                               std::int64_t count, std::uint32_t* tuple) {
  for (std::size_t v = step.variables.size(); v-- > 0;) {
    std::vector<std::uint32_t>& states = states_[step.variables[v]];
    std::vector<std::int64_t>& values = answer_[step.variables[v]].values;
    const std::int64_t all_slices = static_cast<std::int64_t>(values.size()) / samples_;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::uint32_t state = take_state(tuple[k], step, v);
      if (!states.empty()) states[static_cast<std::size_t>(slice[k] * samples_ + sample[k])] = state;
      values[static_cast<std::size_t>(sample[k] * all_slices + slice[k])] = state;
    }
  }
}

}  // namespace plated::adjoint
