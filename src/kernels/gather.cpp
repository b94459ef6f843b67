// Walks around rows that share their indices.
#include "kernels/gather.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/watch.hpp"
#include "semiring/dispatch.hpp"

namespace plated::kernels {
namespace {

// Of a task, about; fixed, so that no bits depend on threads.
constexpr std::int64_t entries_per_task = 65536;

using Loop = IndexedLoops::Loop;

bool has_one_index(const std::vector<IndexArray>& indices, std::size_t loop) {
  return std::all_of(indices.begin(), indices.end(), [&](const IndexArray& index) { return index.stride[loop] == 0; });
}

/// The loop with the smallest step in an array becomes the row; the others are walked around it.
Loop take_row(std::vector<Loop>& loops, std::size_t array, std::size_t arrays) {
  Loop row{.extent = 1, .stride = std::vector<std::int64_t>(arrays, 0)};
  if (loops.empty()) return row;
  const auto step = [&](const Loop& loop) { return loop.stride[array] < 0 ? -loop.stride[array] : loop.stride[array]; };
  const auto least =
      std::min_element(loops.begin(), loops.end(), [&](const Loop& a, const Loop& b) { return step(a) < step(b); });
  row = std::move(*least);
  loops.erase(least);
  return row;
}

IndexedLoops joined(std::vector<Loop> loops) {
  IndexedLoops result;
  for (Loop& loop : loops) result.add(std::move(loop));
  return result;
}

std::int64_t grain_of(std::int64_t each) {
  return std::max<std::int64_t>(1, entries_per_task / std::max<std::int64_t>(1, each));
}

// Entries along a run whose states are looked up at once.
constexpr std::int64_t at_once = 256;
constexpr std::int64_t not_observed = std::numeric_limits<std::int64_t>::min();

template <class State>
void add_states(const State* states, std::int64_t stride, std::int64_t step, std::int64_t count,
                std::int64_t* offsets) {
  for (std::int64_t q = 0; q < count; ++q) {
    const auto state = static_cast<std::int64_t>(states[q * stride]);
    if (state < 0) {
      offsets[q] = not_observed;
    } else if (offsets[q] != not_observed) {
      offsets[q] += state * step;
    }
  }
}

/// Where `count` entries along a run lie in the array that has states, from `offset` on and `along` apart.
template <class At>
void find_entries(const std::vector<IndexArray>& indices, std::span<const void* const> data, const At& at,
                  const Loop& run, std::size_t first_index, std::int64_t offset, std::int64_t along, std::int64_t count,
                  std::int64_t* offsets) {
  for (std::int64_t q = 0; q < count; ++q) offsets[q] = offset + q * along;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto add = [&](const auto* states) {
      add_states(states + at(i), run.stride[first_index + i], indices[i].step, count, offsets);
    };
    switch (indices[i].dtype) {
      case Dtype::int8:
        add(static_cast<const std::int8_t*>(data[i]));
        break;
      case Dtype::int16:
        add(static_cast<const std::int16_t*>(data[i]));
        break;
      case Dtype::int32:
        add(static_cast<const std::int32_t*>(data[i]));
        break;
      default:
        add(static_cast<const std::int64_t*>(data[i]));
    }
  }
}

template <class Visit>
void visit_type(Dtype dtype, const void* data, const Visit& visit) {
  if (dtype == Dtype::float32) {
    visit(static_cast<const float*>(data));
  } else {
    visit(static_cast<const double*>(data));
  }
}

/// Entries along a run: where their rows begin in the table or, where they are not observed, in what is left of it.
struct Entries {
  const std::int64_t* offsets;
  std::int64_t count;
  const void* rest;  // null: one
  Dtype rest_dtype;
  std::int64_t rest_along;
  std::int64_t rest_step;  // along a row

  [[nodiscard]] double rest_at(std::int64_t entry, std::int64_t c) const {
    const std::int64_t at = entry * rest_along + c * rest_step;
    return rest_dtype == Dtype::float32 ? static_cast<double>(static_cast<const float*>(rest)[at])
                                        : static_cast<const double*>(rest)[at];
  }
};

/// Multiplies `width` entries of a row over a run, in registers.
template <class Ring, int width, class Entry>
void multiply_some(const Entries& entries, const Entry* table, std::int64_t step, std::int64_t first, double* out,
                   std::int64_t out_step) {
  double product[width];
  for (int c = 0; c < width; ++c) product[c] = out[c * out_step];
  for (std::int64_t q = 0; q < entries.count; ++q) {
    const std::int64_t offset = entries.offsets[q];
    if (offset == not_observed) {
      if (entries.rest == nullptr) continue;
      for (int c = 0; c < width; ++c) product[c] = Ring::multiply(product[c], entries.rest_at(q, first + c));
      continue;
    }
    const Entry* const row = table + offset;
    for (int c = 0; c < width; ++c) product[c] = Ring::multiply(product[c], static_cast<double>(row[c * step]));
  }
  for (int c = 0; c < width; ++c) out[c * out_step] = product[c];
}

template <class Ring, class Entry>
void multiply_row(const Entries& entries, const Entry* table, const Loop& row, double* out) {
  const std::int64_t step = row.stride[0], out_step = row.stride[1];
  std::int64_t c = 0;
  for (; c + 4 <= row.extent; c += 4) {
    multiply_some<Ring, 4>(entries, table + c * step, step, c, out + c * out_step, out_step);
  }
  for (; c < row.extent; ++c) {
    multiply_some<Ring, 1>(entries, table + c * step, step, c, out + c * out_step, out_step);
  }
}

/// Writes the rows of a run.
template <class Entry, class Out>
void copy_rows(const Entries& entries, const Entry* table, const Loop& row, double one, Out* out, std::int64_t along) {
  for (std::int64_t q = 0; q < entries.count; ++q, out += along) {
    const std::int64_t offset = entries.offsets[q];
    if (offset != not_observed) {
      const Entry* const from = table + offset;
      for (std::int64_t c = 0; c < row.extent; ++c) out[c * row.stride[1]] = static_cast<Out>(from[c * row.stride[0]]);
      continue;
    }
    for (std::int64_t c = 0; c < row.extent; ++c) {
      out[c * row.stride[1]] = static_cast<Out>(entries.rest == nullptr ? one : entries.rest_at(q, c));
    }
  }
}

/// The last of some loops, taken out; a loop of one entry where there is none.
Loop take_last(IndexedLoops& loops, std::size_t arrays) {
  if (loops.loops.empty()) {
    const std::int64_t extent = loops.count;  // 0 or 1
    loops.count = 1;
    return {.extent = extent, .stride = std::vector<std::int64_t>(arrays, 0)};
  }
  Loop last = std::move(loops.loops.back());
  loops.loops.pop_back();
  loops.count = 1;
  for (const Loop& loop : loops.loops) loops.count *= loop.extent;
  return last;
}

}  // namespace

void IndexedLoops::add(Loop loop) {
  count *= loop.extent;
  if (loop.extent == 1) return;
  if (!loops.empty()) {
    Loop& last = loops.back();
    bool goes_on = true;
    for (std::size_t a = 0; a < loop.stride.size(); ++a) {
      goes_on = goes_on && last.stride[a] == loop.stride[a] * loop.extent;
    }
    if (goes_on) {
      last.extent *= loop.extent;
      last.stride = std::move(loop.stride);
      return;
    }
  }
  loops.push_back(std::move(loop));
}

Gather::Gather(GatherShape shape) : shape_(std::move(shape)), arrays_(3 + shape_.indices.size()) {
  std::vector<Loop> outer, product, rows;
  for (std::size_t l = 0; l < shape_.extent.size(); ++l) {
    Loop loop{.extent = shape_.extent[l],
              .stride = {shape_.table_stride[l], shape_.output_stride[l],
                         shape_.rest_stride.empty() ? 0 : shape_.rest_stride[l]}};
    for (const IndexArray& index : shape_.indices) loop.stride.push_back(index.stride[l]);
    (l >= shape_.kept ? product : has_one_index(shape_.indices, l) ? rows : outer).push_back(std::move(loop));
  }
  row_ = take_row(rows, 1, arrays_);
  multiplies_ = !product.empty();
  outer_ = joined(std::move(outer));
  product_ = joined(std::move(product));
  rows_ = joined(std::move(rows));
  run_ = take_last(multiplies_ ? product_ : outer_, arrays_);
  if (rows_.count * row_.extent == 0) outer_.count = 0;  // nothing to write
  const std::int64_t each = product_.count * rows_.count * row_.extent;
  if (multiplies_) {
    pieces_ = 1;
    piece_ = run_.extent;
    grain_ = grain_of(each * run_.extent);
  } else {
    // Runs of kept entries are cut.
    piece_ = std::clamp<std::int64_t>(grain_of(each), 1, std::max<std::int64_t>(1, run_.extent));
    pieces_ = (run_.extent + piece_ - 1) / piece_;
    grain_ = grain_of(each * piece_);
  }
}

std::size_t Gather::task_scratch_bytes() const {
  return (IndexedCursor::words(outer_, arrays_) + IndexedCursor::words(product_, arrays_) +
          IndexedCursor::words(rows_, arrays_)) *
         sizeof(std::int64_t);
}

void Gather::run_task(std::int64_t task, std::span<const void* const> inputs, void* output,
                      std::byte* task_scratch) const noexcept {
  auto* words = reinterpret_cast<std::int64_t*>(task_scratch);
  IndexedCursor outer(outer_, arrays_, words);
  words += IndexedCursor::words(outer_, arrays_);
  IndexedCursor product(product_, arrays_, words);
  words += IndexedCursor::words(product_, arrays_);
  IndexedCursor rows(rows_, arrays_, words);
  const std::size_t indices = shape_.indices.size();
  const std::byte* const rest =
      shape_.rest_stride.empty() ? nullptr : static_cast<const std::byte*>(inputs[1 + indices]);
  const auto rest_bytes = static_cast<std::int64_t>(size_of(shape_.rest_dtype));
  base::Pace pace;
  std::int64_t offsets[at_once];
  /// Calls with_row(entries, the output's offset) for the rows of all entries of a run from `from` on.
  const auto visit_run = [&](std::int64_t from, std::int64_t length, const auto& with_row) {
    for (std::int64_t done = from; done < from + length; done += at_once) {
      const std::int64_t count = std::min(at_once, from + length - done);
      const auto at = [&](std::size_t array) { return outer[array] + product[array] + done * run_.stride[array]; };
      find_entries(
          shape_.indices, inputs.subspan(1, indices), [&](std::size_t i) { return at(3 + i); }, run_, 3, at(0),
          run_.stride[0], count, offsets);
      rows.begin();
      for (std::int64_t r = 0; r < rows_.count; ++r, rows.advance()) {
        const Entries entries{.offsets = offsets,
                              .count = count,
                              .rest = rest == nullptr ? nullptr : rest + (at(2) + rows[2]) * rest_bytes,
                              .rest_dtype = shape_.rest_dtype,
                              .rest_along = run_.stride[2],
                              .rest_step = row_.stride[2]};
        with_row(entries, rows[0], at(1) + rows[1]);
      }
      if (pace.stops(count * row_.extent * rows_.count)) return;
    }
  };
  const auto copy = [&](double one, auto* out) {
    visit_type(shape_.table_dtype, inputs[0], [&](const auto* table) {
      product.begin();
      const std::int64_t last = std::min(outer_.count * pieces_, (task + 1) * grain_);
      for (std::int64_t k = task * grain_; k < last; ++k) {
        outer.seek(k / pieces_);
        const std::int64_t from = k % pieces_ * piece_;
        visit_run(from, std::min(piece_, run_.extent - from),
                  [&](const Entries& entries, std::int64_t read, std::int64_t written) {
                    copy_rows(entries, table + read, row_, one, out + written, run_.stride[1]);
                  });
      }
    });
  };
  const auto multiply = [&](auto ring, double* out) {
    using Ring = decltype(ring);
    visit_type(shape_.table_dtype, inputs[0], [&](const auto* table) {
      const std::int64_t last = std::min(outer_.count, (task + 1) * grain_);
      outer.seek(task * grain_);
      for (std::int64_t k = task * grain_; k < last; ++k, outer.advance()) {
        rows.begin();
        for (std::int64_t r = 0; r < rows_.count; ++r, rows.advance()) {
          double* const row = out + outer[1] + rows[1];
          for (std::int64_t c = 0; c < row_.extent; ++c) row[c * row_.stride[1]] = Ring::one();
        }
        product.begin();
        for (std::int64_t p = 0; p < product_.count; ++p, product.advance()) {
          visit_run(0, run_.extent, [&](const Entries& entries, std::int64_t read, std::int64_t written) {
            multiply_row<Ring>(entries, table + read, row_, out + written);
          });
        }
        if (pace.stops(1)) return;
      }
    });
  };
  semiring::dispatch(shape_.semiring, [&](auto ring) {
    if (multiplies_) {
      multiply(ring, static_cast<double*>(output));
    } else if (shape_.output_dtype == Dtype::float32) {
      copy(decltype(ring)::one(), static_cast<float*>(output));
    } else {
      copy(decltype(ring)::one(), static_cast<double*>(output));
    }
  });
}

Scatter::Scatter(ScatterShape shape) : shape_(std::move(shape)), arrays_(2 + shape_.indices.size()) {
  std::vector<Loop> outer, sum, rows, states;
  for (std::size_t l = 0; l < shape_.extent.size(); ++l) {
    Loop loop{.extent = shape_.extent[l], .stride = {shape_.mass_stride[l], shape_.output_stride[l]}};
    for (const IndexArray& index : shape_.indices) loop.stride.push_back(index.stride[l]);
    (l >= shape_.kept ? sum : has_one_index(shape_.indices, l) ? rows : outer).push_back(std::move(loop));
  }
  for (const IndexArray& index : shape_.indices) {
    if (shape_.of_rest) break;
    Loop loop{.extent = index.states, .stride = std::vector<std::int64_t>(arrays_, 0)};
    loop.stride[1] = index.step;
    states.push_back(std::move(loop));
  }
  row_ = take_row(rows, 0, arrays_);
  outer_ = joined(std::move(outer));
  sum_ = joined(std::move(sum));
  rows_ = joined(std::move(rows));
  states_ = joined(std::move(states));
  if (rows_.count * row_.extent == 0) outer_.count = 0;
  grain_ = grain_of(sum_.count * rows_.count * row_.extent);
  run_ = take_last(sum_, arrays_);
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
  const std::int64_t first = task * grain_;
  const std::int64_t last = std::min(outer_.count, first + grain_);
  base::Pace pace;
  std::int64_t offsets[at_once];
  const auto clear = [&] {
    states.begin();
    for (std::int64_t s = 0; s < states_.count; ++s, states.advance()) {
      rows.begin();
      for (std::int64_t r = 0; r < rows_.count; ++r, rows.advance()) {
        double* const row = output + outer[1] + states[1] + rows[1];
        for (std::int64_t c = 0; c < row_.extent; ++c) row[c * row_.stride[1]] = 0;
      }
    }
  };
  const auto add_row = [&](const auto* mass, double* out) {
    for (std::int64_t c = 0; c < row_.extent; ++c) {
      out[c * row_.stride[1]] += static_cast<double>(mass[c * row_.stride[0]]);
    }
  };
  const auto add_run = [&](const auto* mass, std::int64_t from) {
    const std::int64_t count = std::min(at_once, run_.extent - from);
    const auto at = [&](std::size_t array) { return outer[array] + sum[array] + from * run_.stride[array]; };
    find_entries(
        shape_.indices, inputs.subspan(1), [&](std::size_t i) { return at(2 + i); }, run_, 2, outer[1], 0, count,
        offsets);
    rows.begin();
    for (std::int64_t r = 0; r < rows_.count; ++r, rows.advance()) {
      const auto* added = mass + at(0) + rows[0];
      for (std::int64_t q = 0; q < count; ++q, added += run_.stride[0]) {
        if ((offsets[q] == not_observed) != shape_.of_rest) continue;
        add_row(added, output + (shape_.of_rest ? outer[1] : offsets[q]) + rows[1]);
      }
    }
    return !pace.stops(count * row_.extent * rows_.count);
  };
  visit_type(shape_.mass_dtype, inputs[0], [&](const auto* mass) {
    outer.seek(first);
    for (std::int64_t k = first; k < last; ++k, outer.advance()) {
      clear();
      sum.begin();
      for (std::int64_t s = 0; s < sum_.count; ++s, sum.advance()) {
        for (std::int64_t from = 0; from < run_.extent; from += at_once) {
          if (!add_run(mass, from)) return;
        }
      }
    }
  });
}

}  // namespace plated::kernels
