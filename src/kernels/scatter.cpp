// Adds rows that share their indices, slice after slice.
#include "kernels/scatter.hpp"

#include <algorithm>
#include <utility>

#include "base/watch.hpp"

namespace plated::kernels {

Scatter::Scatter(ScatterShape shape) : shape_(std::move(shape)), arrays_(2 + shape_.indices.size()) {
  std::vector<IndexedLoop> outer, sum, rows, states;
  for (std::size_t l = 0; l < shape_.extent.size(); ++l) {
    IndexedLoop loop{.extent = shape_.extent[l], .stride = {shape_.mass_stride[l], shape_.output_stride[l]}};
    for (const IndexArray& index : shape_.indices) loop.stride.push_back(index.stride[l]);
    (l >= shape_.kept ? sum : has_one_index(shape_.indices, l) ? rows : outer).push_back(std::move(loop));
  }
  for (const IndexArray& index : shape_.indices) {
    if (shape_.of_rest) break;
    IndexedLoop loop{.extent = index.states, .stride = std::vector<std::int64_t>(arrays_, 0)};
    loop.stride[1] = index.step;
    states.push_back(std::move(loop));
  }
  row_ = take_row(rows, 0, arrays_);
  outer_ = joined(std::move(outer));
  sum_ = joined(std::move(sum));
  rows_ = joined(std::move(rows));
  states_ = joined(std::move(states));
  if (rows_.count * row_.extent == 0) outer_.count = 0;
  // Indices are read in the order of memory.
  const auto step = [&](const IndexedLoops& loops) {
    const std::int64_t stride = loops.loops.empty() || shape_.indices.empty() ? 0 : loops.loops.back().stride[2];
    return stride < 0 ? -stride : stride;
  };
  keeps_run_ = !outer_.loops.empty() && outer_.count > 0 && (sum_.loops.empty() || step(outer_) < step(sum_));
  const std::int64_t each = sum_.count * rows_.count * row_.extent;
  run_ = take_last(keeps_run_ ? outer_ : sum_, arrays_);
  piece_ = keeps_run_ ? std::clamp<std::int64_t>(run_.extent, 1, entries_at_once) : run_.extent;
  pieces_ = keeps_run_ ? (run_.extent + piece_ - 1) / piece_ : 1;
  grain_ = grain_of(each * (keeps_run_ ? piece_ : 1));
}

std::size_t Scatter::task_scratch_bytes() const {
  return (IndexedCursor::words(outer_, arrays_) + IndexedCursor::words(sum_, arrays_) +
          IndexedCursor::words(rows_, arrays_) + IndexedCursor::words(states_, arrays_)) *
         sizeof(std::int64_t);
}

void Scatter::run_task(std::int64_t task, std::span<const void* const> inputs, double* output,
                       std::byte* task_scratch) const noexcept {
  auto* words = reinterpret_cast<std::int64_t*>(task_scratch);
  IndexedCursor outer(outer_, arrays_, words);
  words += IndexedCursor::words(outer_, arrays_);
  IndexedCursor sum(sum_, arrays_, words);
  words += IndexedCursor::words(sum_, arrays_);
  IndexedCursor rows(rows_, arrays_, words);
  words += IndexedCursor::words(rows_, arrays_);
  IndexedCursor states(states_, arrays_, words);
  base::Pace pace;
  std::int64_t offsets[entries_at_once];
  const auto clear = [&](std::int64_t from) {
    states.begin();
    for (std::int64_t s = 0; s < states_.count; ++s, states.advance()) {
      rows.begin();
      for (std::int64_t r = 0; r < rows_.count; ++r, rows.advance()) {
        double* const row = output + outer[1] + from * run_.stride[1] + states[1] + rows[1];
        for (std::int64_t c = 0; c < row_.extent; ++c) row[c * row_.stride[1]] = 0;
      }
    }
  };
  const bool dense = row_.stride[0] == 1 && row_.stride[1] == 1;
  const auto add_row = [&](const auto* mass, double* out) {
    if (dense) {
      for (std::int64_t c = 0; c < row_.extent; ++c) out[c] += static_cast<double>(mass[c]);
      return;
    }
    for (std::int64_t c = 0; c < row_.extent; ++c) {
      out[c * row_.stride[1]] += static_cast<double>(mass[c * row_.stride[0]]);
    }
  };
  // Adds entries of the run from `from` on to where their states are, which are next to each other if it is kept.
  const auto add_entries = [&](const auto* mass, std::int64_t from, std::int64_t count) {
    const auto at = [&](std::size_t array) { return outer[array] + sum[array] + from * run_.stride[array]; };
    find_entries(
        shape_.indices, inputs.subspan(1), [&](std::size_t i) { return at(2 + i); }, run_, 2, at(1), run_.stride[1],
        count, offsets);
    rows.begin();
    for (std::int64_t r = 0; r < rows_.count; ++r, rows.advance()) {
      const auto* added = mass + at(0) + rows[0];
      for (std::int64_t q = 0; q < count; ++q, added += run_.stride[0]) {
        const bool observed = offsets[q] != not_observed;
        if (observed == shape_.of_rest) continue;
        add_row(added, output + (observed ? offsets[q] : at(1) + q * run_.stride[1]) + rows[1]);
      }
    }
    return !pace.stops(count * row_.extent * rows_.count);
  };
  const std::int64_t last = std::min(outer_.count * pieces_, (task + 1) * grain_);
  visit_type(shape_.mass_dtype, inputs[0], [&](const auto* mass) {
    for (std::int64_t k = task * grain_; k < last; ++k) {
      outer.seek(k / pieces_);
      const std::int64_t begin = k % pieces_ * piece_;
      const std::int64_t end = std::min(run_.extent, begin + piece_);
      for (std::int64_t q = begin; q < (keeps_run_ ? end : begin + 1); ++q) clear(q);
      sum.begin();
      for (std::int64_t s = 0; s < sum_.count; ++s, sum.advance()) {
        for (std::int64_t from = begin; from < end; from += entries_at_once) {
          if (!add_entries(mass, from, std::min(entries_at_once, end - from))) return;
        }
      }
    }
  });
}

}  // namespace plated::kernels
