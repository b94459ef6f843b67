// Walks around rows that share their indices.
#include "kernels/gather.hpp"

#include <algorithm>
#include <utility>

#include "base/watch.hpp"
#include "semiring/dispatch.hpp"

namespace plated::kernels {
namespace {

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
void multiply_row(const Entries& entries, const Entry* table, const IndexedLoop& row, double* out) {
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
void copy_rows(const Entries& entries, const Entry* table, const IndexedLoop& row, double one, Out* out,
               std::int64_t along) {
  const bool dense = row.stride[0] == 1 && row.stride[1] == 1;
  for (std::int64_t q = 0; q < entries.count; ++q, out += along) {
    const std::int64_t offset = entries.offsets[q];
    if (offset != not_observed) {
      const Entry* const from = table + offset;
      if (dense) {
        for (std::int64_t c = 0; c < row.extent; ++c) out[c] = static_cast<Out>(from[c]);
        continue;
      }
      for (std::int64_t c = 0; c < row.extent; ++c) out[c * row.stride[1]] = static_cast<Out>(from[c * row.stride[0]]);
      continue;
    }
    for (std::int64_t c = 0; c < row.extent; ++c) {
      out[c * row.stride[1]] = static_cast<Out>(entries.rest == nullptr ? one : entries.rest_at(q, c));
    }
  }
}

}  // namespace

Gather::Gather(GatherShape shape) : shape_(std::move(shape)), arrays_(3 + shape_.indices.size()) {
  std::vector<IndexedLoop> outer, product, rows;
  for (std::size_t l = 0; l < shape_.extent.size(); ++l) {
    IndexedLoop loop{.extent = shape_.extent[l],
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
  std::int64_t offsets[entries_at_once];
  /// Calls with_row(entries, the output's offset) for the rows of all entries of a run from `from` on.
  const auto visit_run = [&](std::int64_t from, std::int64_t length, const auto& with_row) {
    for (std::int64_t done = from; done < from + length; done += entries_at_once) {
      const std::int64_t count = std::min(entries_at_once, from + length - done);
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

}  // namespace plated::kernels
