// Takes blocks of rows through all the steps of a scan.
#if defined(PLATED_KERNELS_SCAN_BLOCK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_SCAN_BLOCK_INL
#undef PLATED_KERNELS_SCAN_BLOCK_INL
#else
#define PLATED_KERNELS_SCAN_BLOCK_INL
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/watch.hpp"
#include "hwy/highway.h"
#include "kernels/packed_product-inl.hpp"
#include "kernels/scan_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

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
