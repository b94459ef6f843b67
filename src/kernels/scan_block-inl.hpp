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

#include "base/watch.hpp"
#include "hwy/highway.h"
#include "kernels/scan_kernels.hpp"
#include "kernels/scan_lanes-inl.hpp"
#include "kernels/scan_product-inl.hpp"
#include "kernels/scan_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// Steps (LogSteps, SumSteps) says what happens to one row before and after the product with the matrix, which the rows
/// of a block share.
template <class Steps, class T>
class ScanBlocks {
 public:
  ScanBlocks(const ScanMatrix<T>& matrix, const ScanRun& run, std::byte* scratch)
      : matrix_(matrix), run_(run), steps_(matrix), scratch_(reinterpret_cast<T*>(scratch)) {}

  void run(std::int64_t first, std::int64_t last) {
    base::Pace pace(static_cast<double>(last - first) * static_cast<double>(run_.steps) *
                    static_cast<double>(scan_step_work(matrix_.states())));
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(GemmTag<T>()));
    while (ScanLanes<Steps, T>::pays(matrix_.states(), std::min(lanes, last - first)) && first < last) {
      const std::int64_t rows = std::min(lanes, last - first);
      if (!ScanLanes<Steps, T>(matrix_, run_, scratch_).run(first, rows, pace)) return;
      first += rows;
    }
    for (; first < last; first += scan_block_rows) {
      if (!run_block(first, std::min(scan_block_rows, last - first), pace)) return;
    }
  }

 private:
  /// False where the scan is to be given up.
  bool run_block(std::int64_t first, std::int64_t rows, base::Pace& pace) {
    const std::int64_t width = matrix_.width();
    std::fill_n(scratch_, (4 * scan_block_rows + 1) * width, Steps::zero);
    T* messages = scratch_;
    T* products = messages + scan_block_rows * width;
    T* const inputs = products + scan_block_rows * width;
    T* const logs = inputs + scan_block_rows * width;
    for (std::int64_t i = 0; i < rows; ++i) {
      ScanRow<T>& row = rows_[i];
      row = {};
      row.message = messages + i * width;
      row.logs = logs + i * width;
      row.offset = run_.offset[first + i];
      if (negated) row.offset = -row.offset;
      steps_.enter(row, static_cast<const T*>(run_.messages) + (first + i) * matrix_.states());
    }
    const bool has_before = run_.before.data != nullptr;
    const std::int64_t work = rows * scan_step_work(matrix_.states());
    const std::int64_t at_once = work < 4096 ? 16 : 1;  // steps between questions whether to stop
    for (std::int64_t s = 0; s < run_.steps; ++s) {
      for (std::int64_t i = 0; i < rows; ++i) {
        ScanRow<T>& row = rows_[i];
        row.message = messages + i * width;
        row.product = products + i * width;
        row.input = has_before ? inputs + i * width : row.message;
        if (!exists(s, first + i)) continue;
        row.before = term(run_.before, s, first + i);
        steps_.prepare(row);
      }
      scan_product<typename Steps::Algebra>(matrix_, has_before ? inputs : messages, products, rows);
      for (std::int64_t i = 0; i < rows; ++i) {
        ScanRow<T>& row = rows_[i];
        if (exists(s, first + i)) {
          row.after = term(run_.after, s, first + i);
          steps_.finish(row);
        } else {
          std::memcpy(row.product, row.message, static_cast<std::size_t>(width) * sizeof(T));
        }
        row.message = row.product;
        trace(row, s, first + i);
      }
      std::swap(messages, products);
      if (s % at_once == 0 && pace.stops(at_once * work)) return false;
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      T* const message = static_cast<T*>(run_.messages) + (first + i) * matrix_.states();
      double offset;
      if (steps_.leave(rows_[i], message, offset)) run_.offset[first + i] = offset;
    }
    return true;
  }

  [[nodiscard]] HWY_INLINE bool exists(std::int64_t step, std::int64_t row) const {
    return run_.lengths == nullptr || run_.lengths[row] > run_.first_step + step * run_.direction;
  }

  /// The term's entries of a step and row, one after the other.
  HWY_INLINE const T* term(const SliceTerm& slices, std::int64_t step, std::int64_t row) {
    if (slices.data == nullptr) return nullptr;
    const T* data = static_cast<const T*>(slices.data) + step * slices.step_stride;
    if (slices.row_offset != nullptr) data += slices.row_offset[row];
    if (slices.state_stride == 1) return data;
    T* const copy = scratch_ + 4 * scan_block_rows * matrix_.width();
    for (std::int64_t b = 0; b < matrix_.states(); ++b) copy[b] = data[b * slices.state_stride];
    return copy;
  }

  HWY_INLINE void trace(const ScanRow<T>& row, std::int64_t step, std::int64_t index) const {
    if (run_.trace.messages == nullptr) return;
    T* const to = static_cast<T*>(run_.trace.messages) + run_.trace.message_at(step, index, matrix_.states());
    double offset = 0.0;
    bool live = true;
    if (run_.trace.linear) {
      steps_.leave_linear(row, to);
      if (run_.trace.offsets != nullptr) live = steps_.leave_offset(row, offset);
    } else {
      live = steps_.leave(row, to, offset);
    }
    if (run_.trace.offsets == nullptr) return;
    run_.trace.offsets[run_.trace.offset_at(step, index)] = live ? offset : run_.offset[index];
  }

  static constexpr bool negated = Steps::negated;
  const ScanMatrix<T>& matrix_;
  const ScanRun& run_;
  const Steps steps_;
  T* const scratch_;
  ScanRow<T> rows_[scan_block_rows];
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
