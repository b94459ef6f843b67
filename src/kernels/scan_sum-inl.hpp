// The steps of a scan in max_plus, and in min_plus on negated numbers.
#if defined(PLATED_KERNELS_SCAN_SUM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_SCAN_SUM_INL
#undef PLATED_KERNELS_SCAN_SUM_INL
#else
#define PLATED_KERNELS_SCAN_SUM_INL
#endif

#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "kernels/scan_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// A message is kept near 0: a step takes out the largest entry of the message that it starts from, and of its terms.
/// That it lags a step behind keeps the search for the largest entry out of the chain of dependencies.
template <class T>
class SumSteps {
 public:
  using Algebra = MaxOfSums<T>;
  using V = GemmVec<T>;
  using Term = ScanTerm<T, true>;
  static constexpr T zero = -std::numeric_limits<T>::infinity();

  explicit SumSteps(const PackedMatrix<T>& matrix) : matrix_(matrix), sign_(matrix.sign()), flip_(T{0} * sign_) {}

  void enter(ScanRow<T>& row, const T* message, double offset) const {
    row.offset = static_cast<double>(sign_) * offset;
    V top = hn::Set(d_, zero);
    const Term given = term_of(message);
    for (std::int64_t v = 0; v < matrix_.states(); v += lanes()) {
      hn::StoreU(given.load(v), d_, row.message + v);
      top = hn::Max(top, given.load(v));
    }
    row.top = hn::GetLane(hn::MaxOfLanes(d_, top));
  }

  HWY_INLINE void prepare(ScanRow<T>& row) const {
    if (row.before == nullptr) return;
    scale_row<false, false>(*this, matrix_, row, term_of(row.before), row.message, row.input);
  }

  HWY_INLINE void finish(ScanRow<T>& row) const {
    scale_row<true, true>(*this, matrix_, row, term_of(row.after), row.product, row.product);
  }

  /// Writes the message with 0 as its largest entry. There is no linear form here.
  void leave(const ScanRow<T>& row, bool /*linear*/, T* message) const {
    const V top = divisor(hn::Set(d_, row.top));
    store_row(message, matrix_.states(),
              [&](std::int64_t v) HWY_ATTR { return form(hn::LoadU(d_, row.message + v), top); });
  }
  /// The offset of that message; `otherwise` where all its entries are zero.
  [[nodiscard]] double leave_offset(const ScanRow<T>& row, double otherwise) const {
    return row.top > zero ? total(row.offset, 0, static_cast<double>(row.top)) : otherwise;
  }
  [[nodiscard]] HWY_INLINE double total(double offset, std::int64_t /*exponent*/, double top) const {
    return static_cast<double>(sign_) * (offset + top);
  }
  static HWY_INLINE void log_tops(const T* top, std::int64_t count, double* to) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(top[i]);
  }

  // The arithmetic of a step, lane by lane: states of a row, or rows. No entry is ever lost.
  using Lost = bool;
  static HWY_INLINE Lost none_lost() { return false; }
  static HWY_INLINE bool any(Lost) { return false; }
  static HWY_INLINE Lost either(Lost, Lost) { return false; }
  static HWY_INLINE Lost only(Lost, hn::Mask<GemmTag<T>>) { return false; }
  HWY_INLINE V ones(Lost) const { return hn::Zero(d_); }
  template <class DI>
  static HWY_INLINE hn::Vec<DI> exponents_of(DI di, V /*top*/) {
    return hn::Zero(di);
  }
  static HWY_INLINE std::int64_t exponent_of(T /*top*/) { return 0; }
  static HWY_INLINE double taken(T top) { return top > zero ? static_cast<double>(top) : 0.0; }
  template <class D>
  static HWY_INLINE hn::Vec<D> taken(D d, hn::Vec<D> top) {
    return hn::IfThenElseZero(hn::Gt(top, hn::Set(d, -std::numeric_limits<double>::infinity())), top);
  }
  [[nodiscard]] HWY_INLINE Term term_of(const T* data) const { return {data, matrix_.states(), flip_}; }
  HWY_INLINE V term(V term) const { return hn::Xor(term, hn::Set(d_, flip_)); }
  HWY_INLINE V neutral() const { return hn::Zero(d_); }
  HWY_INLINE V normaliser(V top) const { return hn::IfThenElseZero(hn::Gt(top, hn::Set(d_, zero)), top); }
  HWY_INLINE V plain_factors(std::int64_t /*column*/) const { return neutral(); }
  HWY_INLINE V plain_factor(T /*column_scale*/) const { return neutral(); }
  HWY_INLINE V factor(V term, V shift, V /*column_shift*/) const { return hn::Sub(term, shift); }
  HWY_INLINE V combine(V from, V factor, V normaliser, V /*least_sum*/, Lost&) const {
    return hn::Add(from, hn::Sub(factor, normaliser));
  }
  HWY_INLINE V divisor(V top) const { return normaliser(top); }
  HWY_INLINE V form(V message, V top) const { return hn::Sub(term(message), term(top)); }
  HWY_INLINE V reciprocal(V top) const { return top; }
  HWY_INLINE V linear_form(V message, V top, V /*reciprocal*/) const { return form(message, top); }

 private:
  // A constant where vectors have a fixed size.
  static HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(GemmTag<T>())); }

  const PackedMatrix<T>& matrix_;
  const T sign_, flip_;  // flip: a zero of that sign
  const GemmTag<T> d_{};
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
