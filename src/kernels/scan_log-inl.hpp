// The steps of a scan in the log semiring: in real space while the message fits, else in log space.
#if defined(PLATED_KERNELS_SCAN_LOG_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_SCAN_LOG_INL
#undef PLATED_KERNELS_SCAN_LOG_INL
#else
#define PLATED_KERNELS_SCAN_LOG_INL
#endif

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "hwy/highway.h"
#include "kernels/gemm_epilogue-inl.hpp"
#include "kernels/math-inl.hpp"
#include "kernels/packed_product-inl.hpp"
#include "kernels/scan_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// In real space a step takes no logarithm, and its exponentials are off the chain of dependencies. The message is kept
/// near 1 by powers of two, which are exact, and a step behind, as in SumSteps. A step that would lose an entry to
/// underflow is done over in logarithms, where sums that have underflowed are recomputed exactly.
template <class T>
class LogSteps {
 public:
  using Algebra = SumOfProducts<T>;
  using V = GemmVec<T>;
  using Term = ScanTerm<T, false>;
  static constexpr T zero = 0;

  explicit LogSteps(const PackedMatrix<T>& matrix) : matrix_(matrix) {}

  void enter(ScanRow<T>& row, const T* message, double offset) const {
    const Term given{message, matrix_.states()};
    for (std::int64_t v = 0; v < matrix_.states(); v += lanes()) hn::StoreU(given.load(v), d_, row.message + v);
    row.offset = offset;
    row.exponent = 0;
    settle(row, row.message);
  }

  HWY_INLINE void prepare(ScanRow<T>& row) const {
    if (row.in_logs) return prepare_logs(row);
    if (row.before == nullptr) return;
    const bool kept =
        scale_row<false, false>(*this, matrix_, row, Term{row.before, matrix_.states()}, row.message, row.input);
    if (HWY_UNLIKELY(!kept)) {
      take_logs_of(row);
      prepare_logs(row);
    }
  }

  HWY_INLINE void finish(ScanRow<T>& row) const {
    if (row.in_logs) return finish_logs(row);
    const Term after{row.after, matrix_.states()};
    if (HWY_UNLIKELY((!scale_row<true, true>(*this, matrix_, row, after, row.product, row.product)))) do_over(row);
  }

  /// Writes the message with 0 as its largest entry; linear: in real space, with 1.
  HWY_INLINE void leave(const ScanRow<T>& row, bool linear, T* message) const {
    if (HWY_UNLIKELY(row.in_logs)) return leave_logs(row, linear, message);
    const V top = divisor(hn::Set(d_, row.top));
    const V reciprocal = hn::Set(d_, row.top > 0 ? T{1} / row.top : T{1});
    store_row(message, matrix_.states(), [&](std::int64_t v) HWY_ATTR {
      const V x = hn::LoadU(d_, row.message + v);
      return linear ? linear_form(x, top, reciprocal) : form(x, top);
    });
  }
  /// The offset of that message; `otherwise` where all its entries are zero.
  [[nodiscard]] double leave_offset(const ScanRow<T>& row, double otherwise) const {
    if (row.in_logs) return row.offset + static_cast<double>(row.exponent) * ln2;
    return row.top > 0 ? total(row.offset, row.exponent, log_top(row.top)) : otherwise;
  }
  [[nodiscard]] static HWY_INLINE double total(double offset, std::int64_t exponent, double top) {
    return offset + (static_cast<double>(exponent) * ln2 + top);
  }
  /// The logarithms of `count` numbers, by whole vectors of an array that is a cache line long.
  static HWY_INLINE void log_tops(const T* top, std::int64_t count, double* to) {
    const hn::CappedTag<double, 4> d;
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      hn::StoreU(Log(d, load_doubles(d, top + i)), d, to + i);
    }
  }

  // The arithmetic of a step in real space, lane by lane: states of a row, or rows.
  using Lost = hn::Mask<GemmTag<T>>;
  HWY_INLINE Lost none_lost() const { return hn::Lt(hn::Zero(d_), hn::Zero(d_)); }
  HWY_INLINE bool any(Lost lost) const { return !hn::AllFalse(d_, lost); }
  static HWY_INLINE Lost either(Lost a, Lost b) { return hn::Or(a, b); }
  static HWY_INLINE Lost only(Lost lost, Lost where) { return hn::And(lost, where); }
  HWY_INLINE V ones(Lost lost) const { return hn::IfThenElseZero(lost, hn::Set(d_, T{1})); }

  /// 2^−n for a number from 2^n on, below 2^(n+1).
  HWY_INLINE V normaliser(V top) const {
    const hn::RebindToSigned<GemmTag<T>> di;
    constexpr int mantissa = MathConstants<T>::mantissa_bits;
    const auto power = hn::ShiftLeft<mantissa>(hn::ShiftRight<mantissa>(hn::BitCast(di, top)));
    const auto unity = hn::Set(di, Bits{2 * MathConstants<T>::exponent_bias} << mantissa);
    return hn::BitCast(d_, hn::Sub(unity, power));
  }
  HWY_INLINE V neutral() const { return hn::Set(d_, T{1}); }
  [[nodiscard]] HWY_INLINE Term term_of(const T* data) const { return {data, matrix_.states()}; }
  HWY_INLINE V term(V term) const { return term; }
  /// n.
  static HWY_INLINE std::int64_t exponent_of(T top) {
    Bits bits;
    std::memcpy(&bits, &top, sizeof(T));
    return static_cast<std::int64_t>(bits >> MathConstants<T>::mantissa_bits) - MathConstants<T>::exponent_bias;
  }
  template <class DI>
  static HWY_INLINE hn::Vec<DI> exponents_of(DI di, V top) {
    return hn::Sub(hn::ShiftRight<MathConstants<T>::mantissa_bits>(hn::BitCast(di, top)),
                   hn::Set(di, MathConstants<T>::exponent_bias));
  }
  /// What the normaliser takes out is in the exponent.
  static HWY_INLINE double taken(T /*top*/) { return 0.0; }
  template <class D>
  static HWY_INLINE hn::Vec<D> taken(D d, hn::Vec<D> /*top*/) {
    return hn::Zero(d);
  }
  HWY_INLINE V factor(V term, V shift, V column_shift) const {
    return exp_of(hn::Add(hn::Sub(term, shift), column_shift));
  }
  /// The factor of a column where no term follows the matrix.
  HWY_INLINE V plain_factors(std::int64_t column) const { return hn::LoadU(d_, matrix_.column_scale() + column); }
  HWY_INLINE V plain_factor(T column_scale) const { return hn::Set(d_, column_scale); }
  /// Notes what is small though neither of its factors is zero, and sums that may have lost a term.
  HWY_INLINE V combine(V from, V factor, V normaliser, V least_sum, Lost& lost) const {
    const V y = hn::Mul(from, hn::Mul(factor, normaliser));
    const auto small = hn::Lt(y, hn::Set(d_, RealSpaceDepth<T>::least_entry));
    lost = hn::Or(lost, hn::And(small, hn::Gt(hn::Min(from, factor), hn::Zero(d_))));
    lost = hn::Or(lost, hn::Lt(from, least_sum));
    return y;
  }
  HWY_INLINE V divisor(V top) const { return hn::IfThenElse(hn::Gt(top, hn::Zero(d_)), top, hn::Set(d_, T{1})); }
  /// Divided, so that the logarithm of the largest entry is exactly 0.
  HWY_INLINE V form(V message, V top) const { return log_of(hn::Div(message, top)); }
  HWY_INLINE V reciprocal(V top) const { return hn::Div(hn::Set(d_, T{1}), top); }
  /// In real space. A division of each entry would take as long as the step; the largest one is exactly 1.
  HWY_INLINE V linear_form(V message, V top, V reciprocal) const {
    return hn::IfThenElse(hn::Eq(message, top), hn::Set(d_, T{1}), hn::Mul(message, reciprocal));
  }

 private:
  // A constant where vectors have a fixed size.
  static HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(GemmTag<T>())); }
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  static constexpr T infinity = std::numeric_limits<T>::infinity();
  static constexpr double ln2 = 0.693147180559945309417;

  /// Logarithms are rare in real space, and long.
  static HWY_NOINLINE V log_of(V x) { return Log(GemmTag<T>(), x); }
  static HWY_NOINLINE double log_top(T top) {
    const hn::CappedTag<double, 1> d;
    return hn::GetLane(Log(d, hn::Set(d, static_cast<double>(top))));
  }

  /// e^x for x ≤ 0: 0 at −inf alone.
  HWY_INLINE V exp_of(V x) const { return hn::IfThenElseZero(hn::Gt(x, hn::Set(d_, -infinity)), ExpOfShifted(d_, x)); }

  HWY_NOINLINE void leave_logs(const ScanRow<T>& row, bool linear, T* message) const {
    store_row(message, matrix_.states(), [&](std::int64_t v) HWY_ATTR {
      const V logs = hn::LoadU(d_, row.logs + v);
      return linear ? Exp(d_, logs) : logs;
    });
  }

  /// The message goes from real space to logarithms.
  HWY_NOINLINE void take_logs_of(ScanRow<T>& row) const {
    const V top = hn::Set(d_, row.top);
    for (std::int64_t v = 0; v < matrix_.states(); v += lanes()) {
      hn::StoreU(form(hn::LoadU(d_, row.message + v), top), d_, row.logs + v);
    }
    row.offset += log_top(row.top);
    row.in_logs = true;
  }

  /// A step from its start, in logarithms: real space has lost an entry after the product.
  HWY_NOINLINE void do_over(ScanRow<T>& row) const {
    // The term before the matrix is in the input already, which is a message of its own.
    row.message = row.input;
    row.before = nullptr;
    row.top = largest_of_row(row.input, matrix_.states());
    if (row.top == 0) return;  // and so is the product
    take_logs_of(row);
    prepare_logs(row);
    row_times_matrix<Algebra>(matrix_, row.input, row.product);
    finish_logs(row);
  }

  /// logs ← logs ⊗ before; input ← its exponentials, the largest being 1.
  HWY_NOINLINE void prepare_logs(ScanRow<T>& row) const {
    row.pending = 0.0;
    if (row.before != nullptr) {
      const Term terms{row.before, matrix_.states()};
      const T shift = terms.shift();
      row.pending += static_cast<double>(shift);
      for (std::int64_t v = 0; v < matrix_.states(); v += lanes()) {
        const V rest = hn::Sub(terms.load(v), hn::Set(d_, shift));
        hn::StoreU(hn::Add(hn::LoadU(d_, row.logs + v), rest), d_, row.logs + v);
      }
    }
    row.pending += static_cast<double>(recentre(row, row.logs));
    for (std::int64_t v = 0; v < matrix_.states(); v += lanes()) {
      hn::StoreU(exp_of(hn::LoadU(d_, row.logs + v)), d_, row.input + v);
    }
  }

  HWY_NOINLINE void finish_logs(ScanRow<T>& row) const {
    const UnderflowGuard<T> guard(matrix_.states());
    const T shallow = UnderflowGuard<T>::safe_depth - row.depth;
    T* const logs = row.product;
    T shift = 0;
    const Term terms{row.after, matrix_.states()};
    if (row.after != nullptr) shift = terms.shift();
    for (std::int64_t v = 0; v < matrix_.states(); v += lanes()) {
      const V sum = hn::LoadU(d_, row.product + v);
      V rest = hn::LoadU(d_, matrix_.column_shift() + v);
      if (row.after != nullptr) rest = hn::Add(rest, hn::Sub(terms.load(v), hn::Set(d_, shift)));
      hn::StoreU(hn::Add(log_of(sum), rest), d_, logs + v);
      const V depth = hn::LoadU(d_, matrix_.column_depth() + v);
      const auto suspect = hn::And(hn::Lt(sum, hn::Set(d_, guard.least_sum)), hn::Gt(depth, hn::Set(d_, shallow)));
      if (hn::AllFalse(d_, suspect)) continue;
      HWY_ALIGN T flags[PackedMatrix<T>::panel];
      hn::Store(hn::IfThenElseZero(suspect, hn::Set(d_, T{1})), d_, flags);
      for (std::int64_t b = v; b < std::min(v + lanes(), matrix_.states()); ++b) {
        if (flags[b - v] == 0) continue;
        double exact = matrix_.exact_log_sum(row.logs, b) - matrix_.shift();
        if (row.after != nullptr) exact += static_cast<double>(row.after[b] - shift);
        logs[b] = static_cast<T>(exact);
      }
    }
    row.offset += row.pending + static_cast<double>(shift) + matrix_.shift();
    settle(row, logs);
  }

  /// Makes 0 the largest entry, with `depth` as the distance of the smallest one that is not −inf; returns what was
  /// taken out.
  HWY_NOINLINE T recentre(ScanRow<T>& row, T* logs) const {
    V top = hn::Set(d_, -infinity);
    V low = hn::Set(d_, infinity);
    for (std::int64_t v = 0; v < matrix_.states(); v += lanes()) {
      const V x = hn::LoadU(d_, logs + v);
      top = hn::Max(top, x);
      low = hn::Min(low, hn::IfThenElse(hn::Gt(x, hn::Set(d_, -infinity)), x, hn::Set(d_, infinity)));
    }
    const T largest = hn::GetLane(hn::MaxOfLanes(d_, top));
    row.depth = 0;
    if (largest == -infinity) return 0;
    row.depth = largest - hn::GetLane(hn::MinOfLanes(d_, low));
    for (std::int64_t v = 0; v < matrix_.states(); v += lanes()) {
      hn::StoreU(hn::Sub(hn::LoadU(d_, logs + v), hn::Set(d_, largest)), d_, logs + v);
    }
    return largest;
  }

  /// A message in logarithms becomes the row's: in real space if it is shallow. `logs` is where the message goes then.
  HWY_NOINLINE void settle(ScanRow<T>& row, T* logs) const {
    row.offset += static_cast<double>(recentre(row, logs));
    row.in_logs = row.depth > RealSpaceDepth<T>::vector;
    if (row.in_logs) {
      std::memcpy(row.logs, logs, static_cast<std::size_t>(matrix_.width()) * sizeof(T));
      for (std::int64_t v = 0; v < matrix_.states(); v += lanes()) hn::StoreU(hn::Zero(d_), d_, logs + v);
      return;
    }
    for (std::int64_t v = 0; v < matrix_.states(); v += lanes()) {
      hn::StoreU(exp_of(hn::LoadU(d_, logs + v)), d_, logs + v);
    }
    row.top = largest_of_row(logs, matrix_.states());
  }

  const PackedMatrix<T>& matrix_;
  const GemmTag<T> d_{};
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
