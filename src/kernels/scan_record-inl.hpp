// Keeps what is known of each row of a scan after each step, and adds up the offsets of messages.
#if defined(PLATED_KERNELS_SCAN_RECORD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_SCAN_RECORD_INL
#undef PLATED_KERNELS_SCAN_RECORD_INL
#else
#define PLATED_KERNELS_SCAN_RECORD_INL
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kernels/rows-inl.hpp"
#include "kernels/scan.hpp"
#include "kernels/scan_steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// Terms of rows that lie together at a pitch: of row r, those of its steps begin[r] … end[r] − 1, a vector for each;
/// other steps keep what is there.
template <class T>
HWY_NOINLINE void gather_terms(const SliceTerm& slices, std::int64_t states, std::int64_t pitch, std::int64_t first,
                               std::int64_t count, std::int64_t s, const std::int64_t* begin, const std::int64_t* end,
                               T* place) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(GemmTag<T>()));
  const std::int64_t step_stride = slices.step_stride, state_stride = slices.state_stride;
  const auto by = [&](const auto& copy) {
    for (std::int64_t r = 0; r < count; ++r) {
      const T* from = slices.at<T>(s + begin[r], first + r);
      T* to = place + r * pitch + begin[r] * lanes;
      T* const stop = place + r * pitch + end[r] * lanes;
      for (; to < stop; from += step_stride, to += lanes) copy(to, from);
    }
  };
  if (HWY_LIKELY(state_stride == 1)) return with_copy_of<T>(states, by);
  by([&](T* to, const T* from) {
    for (std::int64_t b = 0; b < states; ++b) to[b] = from[b * state_stride];
  });
}

/// Of some rows of a run, for the steps that are taken at once.
template <class Steps, class T>
struct ScanRecord {
  using V = GemmVec<T>;
  static constexpr std::int64_t most_rows = scan_most_tops, most_ahead = scan_most_ahead;
  static HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(GemmTag<T>())); }

  ScanRecord(const PackedMatrix<T>& matrix, const ScanRun& run, const RowsOfVector<T>& in_vector)
      : together(in_vector.together()), pitch(in_vector.pitch()), matrix_(matrix), run_(run), in_vector_(in_vector) {
    for (std::int64_t i = 0; i < most_rows; ++i)
      top_at_[i] = together > 1 ? in_vector.vector(i) * lanes() + in_vector.place(i) : i;
  }

  [[nodiscard]] T top(std::int64_t k, std::int64_t i) const { return tops[k][top_at_[i]]; }
  void set_top(std::int64_t k, std::int64_t i, T top) {
    std::fill_n(tops[k] + top_at_[i], together > 1 ? pitch : 1, top);
  }

  void find_existing(std::int64_t s, std::int64_t count, bool anew) {
    if (any_in_logs) std::fill_n(in_logs[1], count * most_rows, false);
    if (run_.lengths == nullptr && !anew) return;
    ragged = false;
    for (std::int64_t i = 0; i < rows; ++i) {
      // Slices that exist are the first ones, or, backwards in time, the last ones.
      std::int64_t from = 0, to = count;
      while (from < to && !run_.exists(s + from, first + i)) ++from;
      while (from < to && !run_.exists(s + to - 1, first + i)) --to;
      begin[i] = from;
      end[i] = to;
      ragged = ragged || to - from < count;
    }
  }

  /// Rows from the first one of a vector on.
  HWY_INLINE void note_lost(std::int64_t from, ScanLost<T> lost_lanes) {
    if (Steps::may_lose && HWY_UNLIKELY(!hn::AllFalse(d_, lost_lanes))) mark_lost(from, lost_lanes);
  }

  /// Rare.
  HWY_NOINLINE void mark_lost(std::int64_t from, ScanLost<T> lost_lanes) {
    HWY_ALIGN T flags[PackedMatrix<T>::panel];
    hn::Store(hn::IfThenElseZero(lost_lanes, hn::Set(d_, T{1})), d_, flags);
    for (std::int64_t i = 0; i < together; ++i) {
      const T* const row = flags + i * pitch;
      const std::int64_t count = std::min(pitch, lanes());
      lost[from + i] = lost[from + i] || std::any_of(row, row + count, [](T flag) { return flag != 0; });
    }
  }

  /// Adds up what the steps have taken out.
  HWY_NOINLINE void add_offsets(std::int64_t count) {
    const hn::CappedTag<double, 8> d;
    const hn::RebindToSigned<decltype(d)> di;
    const auto shift = hn::Set(d, matrix_.shift());
    // One after the other; vectors may write beyond the last row.
    HWY_ALIGN T all[most_ahead][most_rows + PackedMatrix<T>::panel];
    const bool packed = together > 1;
    const std::int64_t parts = packed ? vectors : (rows + lanes() - 1) / lanes();
    for (std::int64_t k = 0; k < count; ++k) {
      for (std::int64_t n = 0; n < parts; ++n) {
        const V top = hn::LoadU(d_, tops[k] + n * lanes());
        hn::StoreU(packed ? in_vector_.firsts(top) : top, d_, all[k] + n * (packed ? together : lanes()));
      }
    }
    for (std::int64_t i = 0; i < rows; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      auto offset = hn::LoadU(d, offsets[0] + i);
      for (std::int64_t k = 0; k < count; ++k) {
        const auto top = Steps::taken(d, load_doubles(d, all[k] + i));
        const auto next = hn::Add(offset, hn::Add(hn::Add(hn::LoadU(d, taken[k] + i), top), shift));
        const auto step = hn::Set(di, k);
        const auto exists = hn::AndNot(hn::Lt(step, hn::LoadU(di, begin + i)), hn::Lt(step, hn::LoadU(di, end + i)));
        offset = ragged ? hn::IfThenElse(hn::RebindMask(d, exists), next, offset) : next;
        hn::StoreU(offset, d, offsets[k + 1] + i);
      }
    }
  }

  /// Of the messages k … k + count − 1, to a step's place and those of the next ones.
  HWY_NOINLINE void write_offsets(std::int64_t k, std::int64_t count, const SlicePlace& to, std::int64_t step) const {
    const hn::CappedTag<double, 8> d;
    const std::int64_t numbers = count * rows;
    alignas(64) double logs[most_ahead * most_rows];
    for (std::int64_t n = 0; n < count; ++n) {
      for (std::int64_t i = 0; i < rows; ++i) logs[n * rows + i] = static_cast<double>(top(k + n, i));
    }
    for (std::int64_t n = 0; n < numbers; n += static_cast<std::int64_t>(hn::Lanes(d))) {
      hn::Store(Steps::log_of(d, hn::Load(d, logs + n)), d, logs + n);
    }
    const auto sign = static_cast<double>(matrix_.sign());
    for (std::int64_t n = 0; n < count; ++n) {
      for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t row = first + i;
        const double offset = sign * (offsets[k + n][i] + logs[n * rows + i]);
        *to.at<double>(step + n, row) = top(k + n, i) > Steps::zero ? offset : run_.offset[row];
      }
    }
  }

  const std::int64_t together, pitch;
  std::int64_t first = 0, rows = 0, vectors = 0;

  // What is known of each row after each step, which are counted from 0, and before them, at 0. Vectors may read and
  // write beyond the last row.
  alignas(64) T tops[most_ahead + 1][scan_most_tops];     // largest entries of messages; one where these are in logs
  bool in_logs[most_ahead + 1][most_rows];                // messages that real space cannot hold
  alignas(64) double offsets[most_ahead + 1][most_rows];  // of the messages, but for their largest entries
  alignas(64) double taken[most_ahead][most_rows];        // by a step, out of its terms
  std::int64_t begin[most_rows], end[most_rows];          // the steps that exist
  bool ragged = false;                                    // some of them do not
  bool any_in_logs = false;                               // of them, so far
  bool lost[most_rows];                                   // rows that go alone

 private:
  const PackedMatrix<T>& matrix_;
  const ScanRun& run_;
  const RowsOfVector<T>& in_vector_;
  const GemmTag<T> d_{};
  std::int64_t top_at_[most_rows];
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
