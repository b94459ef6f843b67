// Rows of a scan: what a step reads of one, and blocks of them that go through all steps together.
#if defined(PLATED_KERNELS_SCAN_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_SCAN_ROWS_INL
#undef PLATED_KERNELS_SCAN_ROWS_INL
#else
#define PLATED_KERNELS_SCAN_ROWS_INL
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "base/watch.hpp"
#include "hwy/highway.h"
#include "kernels/packed_product-inl.hpp"
#include "kernels/rows-inl.hpp"
#include "kernels/scan.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// All arrays are `width` long, and hold the semiring's zero beyond the states.
template <class T>
struct ScanRow {
  T* message;               // the algebra's form of the message
  T* input;                 // of the product: the message itself where there is nothing before the matrix
  T* product;               // becomes the next message in place
  T* logs;                  // log only: the message where real space cannot hold it
  const T *before, *after;  // this step's terms, or null
  T top;                    // the largest entry of `message`
  bool in_logs;
  double offset;
  std::int64_t exponent;  // log only: powers of two that were taken out of `message`
  double pending;         // log only: taken out between the step's two halves
  T depth;                // log only: how far the input's logarithms reach below 0
};

/// A term of one step, negated where `flip` (a zero) is negative; beyond its states is the semiring's zero. kFlips:
/// whether that may be.
template <class T, bool kFlips>
struct ScanTerm {
  const T* data;
  std::int64_t states;
  T flip = 0;
  HWY_INLINE GemmVec<T> load(std::int64_t at) const {
    constexpr T zero = -std::numeric_limits<T>::infinity();
    const GemmVec<T> term = load_of_row(data, states, at, kFlips && std::signbit(flip) ? -zero : zero);
    return kFlips ? hn::Xor(term, hn::Set(GemmTag<T>(), flip)) : term;
  }

  /// The largest entry, as what to take out: 0 where all are the semiring's zero.
  HWY_INLINE T shift() const {
    const GemmTag<T> d;
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
    GemmVec<T> top = load(0);
    for (std::int64_t v = lanes; v < states; v += lanes) top = hn::Max(top, load(v));
    const T largest = hn::GetLane(hn::MaxOfLanes(d, top));
    return largest > -std::numeric_limits<T>::infinity() ? largest : T{0};
  }
};

/// to ← from ⊗ terms, less what is taken out; false, with the row as it was but for `to`, if an entry would be lost.
/// kNormalise: the message's largest entry is taken out, too. kFinal: `from` is the matrix's product, whose columns are
/// yet to be shifted. A null term is one.
template <bool kNormalise, bool kFinal, class Steps, class T>
HWY_INLINE bool scale_row(const Steps& steps, const PackedMatrix<T>& matrix, ScanRow<T>& row,
                          const typename Steps::Term& terms, const T* from, T* to) {
  const GemmTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const GemmVec<T> normaliser = kNormalise ? steps.normaliser(hn::Set(d, row.top)) : steps.neutral();
  const bool guarded = kFinal && matrix.deep();
  GemmVec<T> top = hn::Set(d, Steps::zero);
  auto lost = steps.none_lost();
  const auto put = [&](std::int64_t v, GemmVec<T> factor) HWY_ATTR {
    const GemmVec<T> least = guarded ? hn::LoadU(d, matrix.least_sum() + v) : hn::Zero(d);
    const GemmVec<T> y = steps.combine(hn::LoadU(d, from + v), factor, normaliser, least, lost);
    top = hn::Max(top, y);
    hn::StoreU(y, d, to + v);
  };
  T shift = 0;
  if (terms.data == nullptr) {
    for (std::int64_t v = 0; v < matrix.states(); v += lanes) put(v, steps.plain_factors(v));
  } else {
    shift = terms.shift();
    for (std::int64_t v = 0; v < matrix.states(); v += lanes) {
      const GemmVec<T> column_shift = kFinal ? hn::LoadU(d, matrix.column_shift() + v) : hn::Zero(d);
      put(v, steps.factor(terms.load(v), hn::Set(d, shift), column_shift));
    }
  }
  if (HWY_UNLIKELY(steps.any(lost))) return false;
  row.offset +=
      (static_cast<double>(shift) + (kNormalise ? steps.taken(row.top) : 0.0)) + (kFinal ? matrix.shift() : 0.0);
  if constexpr (kNormalise) row.exponent += steps.exponent_of(row.top);
  if constexpr (kFinal) row.top = hn::GetLane(hn::MaxOfLanes(d, top));
  return true;
}

/// A step of one row, about, in nanoseconds: for the questions whether to stop.
[[nodiscard]] constexpr std::int64_t scan_step_work(std::int64_t states) { return 8 + states * states / 8; }

/// Steps (LogSteps, SumSteps) says what happens to one row before and after the product with the matrix, which the rows
/// of a block share.
template <class Steps, class T>
class ScanBlocks {
 public:
  ScanBlocks(const PackedMatrix<T>& matrix, const ScanRun& run, std::byte* scratch)
      : matrix_(matrix), run_(run), steps_(matrix), scratch_(reinterpret_cast<T*>(scratch)) {}

  [[nodiscard]] const Steps& steps() const { return steps_; }

  /// False where the scan is to be given up.
  bool run(std::int64_t first, std::int64_t last, base::Pace& pace) {
    ScanRow<T> rows[scan_block_rows];
    clear(std::min(scan_block_rows, last - first));
    for (; first < last; first += scan_block_rows) {
      const std::int64_t count = std::min(scan_block_rows, last - first);
      for (std::int64_t i = 0; i < count; ++i) {
        rows[i] = {};
        rows[i].logs = part(3, i);
        enter(rows[i], i, first + i);
      }
      const std::int64_t work = count * scan_step_work(matrix_.states());
      const std::int64_t at_once = work < 4096 ? 16 : 1;  // steps between questions whether to stop
      for (std::int64_t s = 0; s < run_.steps; s += at_once) {
        advance(rows, first, count, s, std::min(run_.steps, s + at_once));
        if (pace.stops(at_once * work)) return false;
      }
      for (std::int64_t i = 0; i < count; ++i) {
        steps_.leave(rows[i], false, message_of(first + i));
        run_.offset[first + i] = steps_.leave_offset(rows[i], run_.offset[first + i]);
      }
    }
    return true;
  }

  /// Makes room for the messages of so many rows.
  void clear(std::int64_t rows) const {
    for (std::int64_t which = 0; which < 4; ++which) std::fill_n(part(which, 0), rows * matrix_.width(), Steps::zero);
  }

  /// Row `index` of the run as the i-th of a block; row.logs is where its logarithms are to be kept.
  void enter(ScanRow<T>& row, std::int64_t i, std::int64_t index) const {
    row.message = part(0, i);
    steps_.enter(row, message_of(index), run_.offset[index]);
  }

  /// Where a row that is the only one of its block may have its message.
  [[nodiscard]] T* first_message() const { return part(0, 0); }

  /// Takes the rows first … first + count − 1 through steps begin … end − 1. Their messages are side by side.
  HWY_NOINLINE void advance(ScanRow<T>* rows, std::int64_t first, std::int64_t count, std::int64_t begin,
                            std::int64_t end) const {
    const std::int64_t width = matrix_.width();
    T* messages = rows[0].message;
    T* products = messages == part(0, 0) ? part(1, 0) : part(0, 0);
    T* const inputs = part(2, 0);
    const bool has_before = run_.before.data != nullptr;
    for (std::int64_t s = begin; s < end; ++s) {
      for (std::int64_t i = 0; i < count; ++i) {
        ScanRow<T>& row = rows[i];
        row.product = products + i * width;
        row.input = has_before ? inputs + i * width : row.message;
        if (!run_.exists(s, first + i)) continue;
        row.before = term(run_.before, s, first + i);
        steps_.prepare(row);
      }
      rows_times_matrix<typename Steps::Algebra>(matrix_, has_before ? inputs : messages, products, count);
      for (std::int64_t i = 0; i < count; ++i) {
        ScanRow<T>& row = rows[i];
        if (run_.exists(s, first + i)) {
          row.after = term(run_.after, s, first + i);
          steps_.finish(row);
        } else {
          std::memcpy(row.product, messages + i * width, static_cast<std::size_t>(width) * sizeof(T));
        }
        row.message = row.product;
        if (run_.trace.messages.data != nullptr) trace(row, s, first + i);
      }
      std::swap(messages, products);
    }
  }

 private:
  [[nodiscard]] T* part(std::int64_t which, std::int64_t i) const {
    return scratch_ + (which * scan_block_rows + i) * matrix_.width();
  }
  [[nodiscard]] T* message_of(std::int64_t row) const {
    return static_cast<T*>(run_.messages) + row * matrix_.states();
  }

  /// The term's entries of a step and row, one after the other.
  HWY_INLINE const T* term(const SliceTerm& slices, std::int64_t step, std::int64_t row) const {
    if (slices.data == nullptr) return nullptr;
    return contiguous(slices.at<T>(step, row), matrix_.states(), slices.state_stride, part(4, 0));
  }

  HWY_INLINE void trace(const ScanRow<T>& row, std::int64_t step, std::int64_t index) const {
    const ScanTrace& trace = run_.trace;
    steps_.leave(row, trace.linear, trace.messages.at<T>(step, index));
    if (trace.offsets.data == nullptr) return;
    *trace.offsets.at<double>(step, index) = steps_.leave_offset(row, run_.offset[index]);
  }

  const PackedMatrix<T>& matrix_;
  const ScanRun& run_;
  const Steps steps_;
  T* const scratch_;
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
