// Adds rows that share their indices, slice after slice.
#include "kernels/scatter.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/watch.hpp"

namespace plated::kernels {
namespace {

// That add the same masses, one after the other, while a run of these is in the cache.
constexpr std::int64_t slices_of_a_group = 8;

}  // namespace

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
  const bool share_masses = std::all_of(outer_.loops.begin(), outer_.loops.end(),
                                        [](const IndexedLoop& loop) { return loop.stride[0] == 0; });
  if (share_masses && !keeps_run_ && sum_.count > 1) {
    group_ = std::clamp<std::int64_t>(outer_.count, 1, slices_of_a_group);
    grain_ = std::max(grain_, group_);
  }
  indices_ = shape_.indices;
  run_step_ = run_.stride[1];
  choose_vectors(keeps_run_ ? sum_.count : sum_.count * run_.extent);
}

/// Rows of masses that lie side by side, or that all entries of a run share, are added by vectors: to the output's rows
/// where these lie side by side, else to rows of a task's own memory if that is done often enough.
void Scatter::choose_vectors(std::int64_t sums) {
  const bool is_dense = row_.stride[0] == 1 && shape_.mass_dtype == Dtype::float64;
  if (shape_.of_rest || row_.extent < 2 || !(is_dense || run_.stride[0] == 0)) return;
  by_vectors_ = row_.stride[1] == 1;
  const std::int64_t entries = states_.count * rows_.count * row_.extent * (keeps_run_ ? piece_ : 1);
  if (by_vectors_ || sums < uses_worth_a_copy * states_.count || entries > most_packed) return;
  by_vectors_ = true;
  packed_.emplace(row_.extent, row_.stride[1]);
  row_.stride[1] = 1;
  for (IndexedLoop& loop : rows_.loops) loop.stride[1] = packed_->add(loop.extent, loop.stride[1]);
  for (IndexArray& index : indices_) index.step = packed_->add(index.states, index.step);
  if (keeps_run_) run_.stride[1] = packed_->entries();
}

std::size_t Scatter::task_scratch_bytes() const {
  const std::size_t words = IndexedCursor::words(outer_, arrays_) + IndexedCursor::words(sum_, arrays_) +
                            IndexedCursor::words(rows_, arrays_) + IndexedCursor::words(states_, arrays_) +
                            (packed_ ? packed_->words() : 0);
  const std::int64_t numbers =
      (by_vectors_ ? row_.extent : 0) + (packed_ ? packed_->entries() * (keeps_run_ ? piece_ : group_) : 0);
  return words * sizeof(std::int64_t) + static_cast<std::size_t>(numbers) * sizeof(double);
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
  words += IndexedCursor::words(states_, arrays_);
  auto* const mass_row = reinterpret_cast<double*>(words + (packed_ ? packed_->words() : 0));
  double* const copy = mass_row + row_.extent;
  base::Pace pace;
  std::int64_t offsets[entries_at_once];
  std::int64_t begin = 0, end = 0;  // of the run
  double* target = output;          // where the slices of outer loops are added up, and its run begins
  const auto clear = [&](std::int64_t from) {
    states.begin();
    for (std::int64_t s = 0; s < states_.count; ++s, states.advance()) {
      rows.begin();
      for (std::int64_t r = 0; r < rows_.count; ++r, rows.advance()) {
        double* const row = target + from * run_.stride[1] + states[1] + rows[1];
        for (std::int64_t c = 0; c < row_.extent; ++c) row[c * row_.stride[1]] = 0;
      }
    }
  };
  const auto at = [&](std::size_t array, std::int64_t from) {
    return outer[array] + sum[array] + from * run_.stride[array];
  };
  const auto find = [&](std::int64_t from, std::int64_t count) {
    find_entries(
        indices_, inputs.subspan(1), [&](std::size_t i) { return at(2 + i, from); }, run_, 2,
        (from - begin) * run_.stride[1], run_.stride[1], count, offsets);
  };
  // Adds entries of the run from `from` on to where their states are, which are next to each other if it is kept.
  const auto add_entries = [&](const auto* mass, std::int64_t from, std::int64_t count) {
    find(from, count);
    rows.begin();
    for (std::int64_t r = 0; r < rows_.count; ++r, rows.advance()) {
      const auto* added = mass + at(0, from) + rows[0];
      for (std::int64_t q = 0; q < count; ++q, added += run_.stride[0]) {
        const bool observed = offsets[q] != not_observed;
        if (observed == shape_.of_rest) continue;
        double* const row = target + (observed ? offsets[q] : (from - begin + q) * run_.stride[1]) + rows[1];
        for (std::int64_t c = 0; c < row_.extent; ++c) {
          row[c * row_.stride[1]] += static_cast<double>(added[c * row_.stride[0]]);
        }
      }
    }
  };
  const auto add_by_vectors = [&](const auto* mass, std::int64_t from, std::int64_t count) {
    bool found = false;
    rows.begin();
    for (std::int64_t r = 0; r < rows_.count; ++r, rows.advance()) {
      const auto* const added = mass + at(0, from) + rows[0];
      const double* row = mass_row;
      if (run_.stride[0] == 0) {
        bool is_zero = true;
        for (std::int64_t c = 0; c < row_.extent; ++c) {
          mass_row[c] = static_cast<double>(added[c * row_.stride[0]]);
          is_zero = is_zero && mass_row[c] == 0;
        }
        if (is_zero) continue;  // as in slices that are absent
      } else if constexpr (std::is_same_v<decltype(added), const double* const>) {
        row = added;
      }
      if (!found) find(from, count);
      found = true;
      add_rows(offsets, count, row, run_.stride[0], row_.extent, target + rows[1]);
    }
  };
  const std::int64_t last = std::min(outer_.count * pieces_, (task + 1) * grain_);
  visit_type(shape_.mass_dtype, inputs[0], [&](const auto* mass) {
    for (std::int64_t k = task * grain_; k < last; k += group_) {
      const std::int64_t members = std::min(group_, last - k);
      const auto visit_members = [&](const auto& visit) {
        for (std::int64_t g = 0; g < members; ++g) {
          outer.seek((k + g) / pieces_);
          begin = (k + g) % pieces_ * piece_;
          end = std::min(run_.extent, begin + piece_);
          double* const out = output + outer[1] + begin * run_step_;
          target = packed_ ? copy + g * packed_->entries() : out;
          visit(keeps_run_ ? end - begin : 1, out);
        }
      };
      visit_members([&](std::int64_t slices, double* /*out*/) {
        if (packed_) {
          std::fill_n(target, slices * packed_->entries(), 0.0);
        } else {
          for (std::int64_t q = 0; q < slices; ++q) clear(q);
        }
      });
      bool stops = false;
      sum.begin();
      for (std::int64_t s = 0; s < sum_.count && !stops; ++s, sum.advance()) {
        visit_members([&](std::int64_t /*slices*/, double* /*out*/) {
          for (std::int64_t from = begin; from < end && !stops; from += entries_at_once) {
            const std::int64_t count = std::min(entries_at_once, end - from);
            by_vectors_ ? add_by_vectors(mass, from, count) : add_entries(mass, from, count);
            stops = pace.stops(count * row_.extent * rows_.count);
          }
        });
      }
      if (stops) return;
      if (!packed_) continue;
      visit_members([&](std::int64_t slices, double* out) {
        for (std::int64_t q = 0; q < slices; ++q) {
          packed_->unpack(target + q * packed_->entries(), out + q * run_step_, words);
        }
      });
    }
  });
}

}  // namespace plated::kernels
