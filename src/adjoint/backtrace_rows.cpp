// Rows of states, a tile at a time.
#include "adjoint/backtrace_rows.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/watch.hpp"

namespace plated::adjoint {
namespace {

// A tile of short rows stays in the first-level cache, one of long rows in the second.
constexpr std::int64_t short_row = 128;
constexpr std::int64_t most_states = 4096;

std::int64_t pitch_of(const ChoiceStep& step, std::int64_t rows) {
  return step.states <= short_row && rows > kernels::choose_pitch ? kernels::choose_lanes : kernels::choose_pitch;
}

std::int64_t piece_of(const ChoiceStep& step) { return std::min(step.states, most_states); }

}  // namespace

RowChooser::RowChooser(const ChoiceStep& step, std::int64_t rows)
    : step_(step),
      pitch_(pitch_of(step, rows)),
      piece_(piece_of(step)),
      lane_offset_(step.inputs.size() * static_cast<std::size_t>(kernels::choose_lanes)),
      state_offset_(step.inputs.size() * static_cast<std::size_t>(piece_)),
      tile_(static_cast<std::size_t>(piece_ * pitch_)) {}

std::int64_t RowChooser::bytes(const ChoiceStep& step, std::int64_t rows) {
  const auto inputs = static_cast<std::int64_t>(step.inputs.size());
  const std::int64_t piece = piece_of(step);
  return 8 * (inputs * (kernels::choose_lanes + piece) + piece * pitch_of(step, rows));
}

bool RowChooser::in_one_piece(const ChoiceStep& step) { return step.states <= piece_of(step); }

void RowChooser::find_state_offsets(std::int64_t first, std::int64_t count) {
  if (offsets_of_ == first) return;
  offsets_of_ = first;
  for (std::size_t i = 0; i < step_.inputs.size(); ++i) {
    const std::vector<std::int64_t>& stride = step_.inputs[i].state_stride;
    std::int64_t* offset = state_offset_.data() + static_cast<std::int64_t>(i) * piece_;
    for (std::int64_t s = 0; s < count; ++s) {
      std::int64_t rest = first + s;
      offset[s] = 0;
      for (std::size_t v = stride.size(); v-- > 0;) {
        offset[s] += rest % step_.extent[v] * stride[v];
        rest /= step_.extent[v];
      }
    }
  }
}

kernels::ChooseTile RowChooser::gather(std::int64_t first, std::int64_t lanes) {
  const std::int64_t count = std::min(piece_, step_.states - first);
  find_state_offsets(first, count);
  const kernels::ChooseTile tile{tile_.data(), step_.compute, pitch_, count, lanes};
  for (std::size_t i = 0; i < step_.inputs.size(); ++i) {
    const ChoiceStep::Input& input = step_.inputs[i];
    kernels::choose_gather(
        tile, {input.data, input.dtype, lane_offset(i), state_offset_.data() + static_cast<std::int64_t>(i) * piece_},
        i == 0 ? kernels::ChooseCombine::store : step_.combine);
  }
  return tile;
}

void RowChooser::best(std::int64_t lanes, std::uint32_t* state) {
  base::Pace pace;
  for (std::int64_t first = 0; first < step_.states; first += piece_) {
    kernels::choose_best(gather(first, lanes), step_.largest, first, top_.data(), state);
    if (pace.stops(2 * piece_ * lanes)) return;
  }
}

kernels::ChooseTile RowChooser::weigh(std::int64_t lanes, double* total) {
  PLATED_ASSERT(in_one_piece(step_));
  const kernels::ChooseTile tile = gather(0, lanes);
  total_.fill(0);
  kernels::choose_top(tile, true, top_.data());
  kernels::choose_weigh(tile, top_.data(), total_.data());
  std::copy(total_.begin(), total_.begin() + lanes, total);
  return tile;
}

void RowChooser::draw(std::int64_t lanes, const double* uniform, std::uint32_t* state) {
  std::fill(state, state + lanes, 0U);
  const auto last = static_cast<std::uint32_t>(step_.states - 1);
  Running target{};
  passed_.fill(0);
  if (in_one_piece(step_)) {
    const kernels::ChooseTile tile = weigh(lanes, target.data());
    for (std::int64_t l = 0; l < lanes; ++l) target[l] *= uniform[l];
    kernels::choose_pass(tile, target.data(), last, passed_.data(), state);
    return;
  }
  base::Pace pace;
  // Weights are computed again rather than kept: a row may be larger than all other memory of the run.
  total_.fill(0);
  for (std::int64_t first = 0; first < step_.states; first += piece_) {
    kernels::choose_top(gather(first, lanes), first == 0, top_.data());
    if (pace.stops(2 * piece_ * lanes)) return;
  }
  for (std::int64_t first = 0; first < step_.states; first += piece_) {
    kernels::choose_weigh(gather(first, lanes), top_.data(), total_.data());
    if (pace.stops(4 * piece_ * lanes)) return;
  }
  for (std::int64_t l = 0; l < lanes; ++l) target[l] = total_[l] * uniform[l];
  Running again{};
  for (std::int64_t first = 0; first < step_.states; first += piece_) {
    const kernels::ChooseTile tile = gather(first, lanes);
    kernels::choose_weigh(tile, top_.data(), again.data());
    kernels::choose_pass(tile, target.data(), last, passed_.data(), state);
    if (pace.stops(6 * piece_ * lanes)) return;
  }
}

}  // namespace plated::adjoint
