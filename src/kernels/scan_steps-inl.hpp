// The arithmetic of a scan's steps: in real space for log, in sums for max_plus and min_plus; and in logarithms.
#if defined(PLATED_KERNELS_SCAN_STEPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_SCAN_STEPS_INL
#undef PLATED_KERNELS_SCAN_STEPS_INL
#else
#define PLATED_KERNELS_SCAN_STEPS_INL
#endif

#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "kernels/gemm_epilogue-inl.hpp"
#include "kernels/math-inl.hpp"
#include "kernels/packed_product-inl.hpp"
#include "kernels/rows-inl.hpp"
#include "kernels/scan.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

// A step makes each sum of the product with the matrix an entry of the next message, by a factor that was formed of the
// slice's term ahead of time, and takes out the largest entry of the message that it starts from. That this lags a step
// behind keeps the search for the largest entry out of the chain of dependencies.

template <class T>
using ScanLost = hn::Mask<GemmTag<T>>;

/// In real space a step takes no logarithm. What it takes out is a power of two, which is exact. An entry that would be
/// lost to underflow is noted: such a step is done in logarithms instead.
template <class T>
class LogSteps {
 public:
  using Algebra = SumOfProducts<T>;
  using V = GemmVec<T>;
  static constexpr bool may_lose = true;
  static constexpr T zero = 0, one = 1;

  explicit LogSteps(const PackedMatrix<T>& /*matrix*/) {}

  /// A term as it is in memory, as a logarithm; and what memory holds for zero.
  static HWY_INLINE V term(V term) { return term; }
  static constexpr T zero_term() { return -std::numeric_limits<T>::infinity(); }
  HWY_INLINE V factor(V term, V shift, V column_shift) const {
    return message(hn::Add(hn::Sub(term, shift), column_shift));
  }
  /// e^x for x ≤ 0: 0 at −inf alone.
  HWY_INLINE V message(V log) const {
    return hn::IfThenElseZero(hn::Gt(log, hn::Set(d_, zero_term())), ExpOfShifted(d_, log));
  }

  /// 2^−n for a number from 2^n on, below 2^(n+1).
  HWY_INLINE V normaliser(V top) const {
    const hn::RebindToSigned<GemmTag<T>> di;
    using Bits = hn::TFromD<decltype(di)>;
    constexpr int mantissa = MathConstants<T>::mantissa_bits;
    const auto power = hn::ShiftLeft<mantissa>(hn::ShiftRight<mantissa>(hn::BitCast(di, top)));
    const auto unity = hn::Set(di, Bits{2 * MathConstants<T>::exponent_bias} << mantissa);
    return hn::BitCast(d_, hn::Sub(unity, power));
  }
  /// n ln 2.
  template <class D>
  static HWY_INLINE hn::Vec<D> taken(D d, hn::Vec<D> top) {
    using C = MathConstants<double>;
    const hn::RebindToSigned<D> di;
    // Integer to floating point by the magic number: AVX2 converts no 64-bit integers.
    const auto magic = hn::Set(d, C::round_magic);
    const auto biased = hn::Add(hn::BitCast(di, magic), hn::ShiftRight<C::mantissa_bits>(hn::BitCast(di, top)));
    const auto n = hn::Sub(hn::BitCast(d, biased), hn::Set(d, C::round_magic + static_cast<double>(C::exponent_bias)));
    return hn::Mul(n, hn::Set(d, 0.693147180559945309417));
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> log_of(D d, hn::Vec<D> top) {
    return Log(d, top);
  }
  HWY_INLINE V neutral() const { return hn::Set(d_, T{1}); }
  /// Notes what is small though neither of its factors is zero, and sums that may have lost a term.
  HWY_INLINE V combine(V from, V factor, V normaliser, V least_sum, ScanLost<T>& lost) const {
    const V y = hn::Mul(from, hn::Mul(factor, normaliser));
    const auto small = hn::Lt(y, hn::Set(d_, RealSpaceDepth<T>::least_entry));
    lost = hn::Or(lost, hn::And(small, hn::Gt(hn::Min(from, factor), hn::Zero(d_))));
    lost = hn::Or(lost, hn::Lt(from, least_sum));
    return y;
  }

  /// What form() divides by: the largest entry, or 1; and its reciprocal, as a division of each entry would take as
  /// long as the step.
  HWY_INLINE V divisor(V top) const { return hn::IfThenElse(hn::Gt(top, hn::Zero(d_)), top, hn::Set(d_, T{1})); }
  HWY_INLINE V reciprocal(V divisor) const { return hn::Div(hn::Set(d_, T{1}), divisor); }
  /// What leaves: the largest entry is exactly 1, or 0 as a logarithm.
  template <bool kLinear>
  HWY_INLINE V form(V message, V divisor, V reciprocal) const {
    const V x = hn::IfThenElse(hn::Eq(message, divisor), hn::Set(d_, T{1}), hn::Mul(message, reciprocal));
    return kLinear ? x : log(x);
  }
  /// Rare in real space, and long.
  static HWY_NOINLINE V log(V x) { return Log(GemmTag<T>(), x); }

 private:
  const GemmTag<T> d_{};
};

/// max_plus, and min_plus on negated numbers. Nothing is lost.
template <class T>
class SumSteps {
 public:
  using Algebra = MaxOfSums<T>;
  using V = GemmVec<T>;
  static constexpr bool may_lose = false;
  static constexpr T zero = -std::numeric_limits<T>::infinity(), one = 0;

  explicit SumSteps(const PackedMatrix<T>& matrix) : sign_(matrix.sign()) {}

  HWY_INLINE V term(V term) const { return hn::Xor(term, hn::Set(d_, T{0} * sign_)); }
  [[nodiscard]] T zero_term() const { return sign_ * zero; }
  HWY_INLINE V factor(V term, V shift, V /*column_shift*/) const { return hn::Sub(term, shift); }
  static HWY_INLINE V message(V log) { return log; }

  HWY_INLINE V normaliser(V top) const { return hn::IfThenElseZero(hn::Gt(top, hn::Set(d_, zero)), top); }
  template <class D>
  static HWY_INLINE hn::Vec<D> taken(D d, hn::Vec<D> top) {
    return hn::IfThenElseZero(hn::Gt(top, hn::Set(d, -std::numeric_limits<double>::infinity())), top);
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> log_of(D /*d*/, hn::Vec<D> top) {
    return top;
  }
  HWY_INLINE V neutral() const { return hn::Zero(d_); }
  HWY_INLINE V combine(V from, V factor, V normaliser, V /*least_sum*/, ScanLost<T>&) const {
    return hn::Add(from, hn::Sub(factor, normaliser));
  }

  HWY_INLINE V divisor(V top) const { return normaliser(top); }
  static HWY_INLINE V reciprocal(V divisor) { return divisor; }
  /// There is no linear form here.
  template <bool kLinear>
  HWY_INLINE V form(V message, V divisor, V /*reciprocal*/) const {
    return term(hn::Sub(message, divisor));
  }

 private:
  const T sign_;
  const GemmTag<T> d_{};
};

/// Makes 0 the largest entry. Returns what was taken out, −inf where all entries are, and how far those that are not
/// reach below 0.
template <class T>
struct Recentred {
  T taken, depth;
};
template <class T>
HWY_NOINLINE Recentred<T> recentre(T* logs, std::int64_t count) {
  const GemmTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr T infinity = std::numeric_limits<T>::infinity();
  GemmVec<T> low = hn::Set(d, infinity);
  for (std::int64_t v = 0; v < count; v += lanes) {
    const GemmVec<T> x = hn::LoadU(d, logs + v);
    low = hn::Min(low, hn::IfThenElse(hn::Gt(x, hn::Set(d, -infinity)), x, hn::Set(d, infinity)));
  }
  const T largest = largest_of_row(logs, count);
  if (largest == -infinity) return {largest, T{0}};
  for (std::int64_t v = 0; v < count; v += lanes) {
    hn::StoreU(hn::Sub(hn::LoadU(d, logs + v), hn::Set(d, largest)), d, logs + v);
  }
  return {largest, largest - hn::GetLane(hn::MinOfLanes(d, low))};
}

/// logs ← logs ⊗ term, by whole vectors, less what is returned. A null term is one.
template <class T>
HWY_NOINLINE double add_term(T* logs, const T* term, std::int64_t count) {
  const GemmTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr T zero = -std::numeric_limits<T>::infinity();
  if (term == nullptr) return 0;
  GemmVec<T> top = hn::Set(d, zero);
  for (std::int64_t v = 0; v < count; v += lanes) top = hn::Max(top, load_of_row(term, count, v, zero));
  const T largest = hn::GetLane(hn::MaxOfLanes(d, top));
  const T shift = largest > zero ? largest : T{0};
  for (std::int64_t v = 0; v < count; v += lanes) {
    const GemmVec<T> rest = hn::Sub(load_of_row(term, count, v, zero), hn::Set(d, shift));
    hn::StoreU(hn::Add(hn::LoadU(d, logs + v), rest), d, logs + v);
  }
  return static_cast<double>(shift);
}

/// to ← (logs ⊗ before) × matrix ⊗ after, less what is returned and the matrix's shift. `logs` is changed; `space` has
/// room for a message. All are by whole vectors, −inf beyond the states.
template <class T>
HWY_NOINLINE double scan_in_logs(const PackedMatrix<T>& matrix, T* logs, const T* before, const T* after, T* space,
                                 T* to) {
  const GemmTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d)), states = matrix.states();
  double taken = add_term(logs, before, states);
  const Recentred<T> input = recentre(logs, states);
  if (input.taken > -std::numeric_limits<T>::infinity()) taken += static_cast<double>(input.taken);
  const LogSteps<T> steps(matrix);
  for (std::int64_t v = 0; v < states; v += lanes) hn::StoreU(steps.message(hn::LoadU(d, logs + v)), d, space + v);
  row_times_matrix<SumOfProducts<T>>(matrix, space, to);
  take_logs(to, states, T{0}, input.depth, matrix.column_shift(), matrix.column_depth(), UnderflowGuard<T>(states),
            [&](std::int64_t b) { return matrix.exact_log_sum(logs, b) - matrix.shift(); });
  return taken + add_term(to, after, states);
}

/// Some rows before a step, and all that it reads: in registers, where members might change with every message that
/// is written. Rows of few states lie together in a vector; "row" is such a vector then.
template <class Steps, class T>
struct ScanWalk {
  using V = GemmVec<T>;
  using Lost = ScanLost<T>;
  using Algebra = typename Steps::Algebra;
  // A constant where vectors have a fixed size.
  static HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(GemmTag<T>())); }

  const Steps steps;
  const RowsOfVector<T>& in_vector;
  const T *panels, *least_sum;
  std::int64_t states, width, stride;      // from row to row and from step to step
  std::int64_t after_width, after_stride;  // 0 where no term follows the matrix, which has factors of its own
  T *tops, *message, *formed;
  const T *before, *after;  // factors; null: there are none
  Lost own;                 // lanes that a step of a single vector writes

  static HWY_INLINE Lost none() { return hn::Lt(hn::Zero(GemmTag<T>()), hn::Zero(GemmTag<T>())); }

  HWY_INLINE void go_on() {
    tops += scan_most_tops;
    message += stride;
    if (before != nullptr) before += stride;
    after += after_stride;
  }

  /// What the matrix is multiplied by.
  template <int kVectors>
  static HWY_INLINE const T* form_input(const ScanWalk& at, std::int64_t row, Lost& lost) {
    const GemmTag<T> d;
    const T* const message = at.message + row * at.width;
    if (at.before == nullptr) return message;
    T* const to = at.formed + row * at.width;
    for (std::int64_t v = 0; v < (kVectors > 0 ? kVectors * lanes() : at.states); v += lanes()) {
      const V x = hn::LoadU(d, message + v), factor = hn::LoadU(d, at.before + row * at.width + v);
      hn::StoreU(at.steps.combine(x, factor, at.steps.neutral(), hn::Zero(d), lost), d, to + v);
    }
    return to;
  }

  /// A vector of rows: messages stay in a register, as do their largest entries. Going through memory would cost more
  /// than the arithmetic.
  template <bool kAlone>
  static HWY_INLINE void step_vector(const ScanWalk& at, std::int64_t row, V& message, V& top, Lost& lost) {
    const GemmTag<T> d;
    constexpr std::int64_t panel = PackedMatrix<T>::panel;
    Lost now = none();
    if (at.before != nullptr) {
      const V factor = hn::LoadU(d, at.before + row * at.width);
      message = at.steps.combine(message, factor, at.steps.neutral(), hn::Zero(d), now);
    }
    const V zero = hn::Set(d, Algebra::zero());
    V a0 = zero, a1 = zero, a2 = zero, a3 = zero;
    const auto add = [&](std::int64_t k, V& a) HWY_ATTR {
      a = Algebra::multiply_add(at.in_vector.entry(message, k), hn::Load(d, at.panels + k * panel), a);
    };
    std::int64_t k = 0;
    for (; k + 4 <= at.states; k += 4) add(k, a0), add(k + 1, a1), add(k + 2, a2), add(k + 3, a3);
    if (k < at.states) add(k, a0);
    if (k + 1 < at.states) add(k + 1, a1);
    if (k + 2 < at.states) add(k + 2, a2);
    const V even = Algebra::add(a0, a1), sum = at.states > 2 ? Algebra::add(even, Algebra::add(a2, a3)) : even;
    const V factor = hn::LoadU(d, at.after + row * at.after_width);
    message = at.steps.combine(sum, factor, at.steps.normaliser(top), hn::LoadU(d, at.least_sum), now);
    if (Steps::may_lose) lost = hn::Or(lost, hn::And(now, hn::Gt(top, hn::Set(d, Steps::zero))));
    top = at.in_vector.largest(message);
    const auto put = [&](V x, T* to)
                         HWY_ATTR { hn::StoreU(kAlone ? hn::IfThenElse(at.own, x, hn::LoadU(d, to)) : x, d, to); };
    put(message, at.message + at.stride + row * at.width);
    put(top, at.tops + scan_most_tops + row * lanes());
  }

  /// kVectors: of states; −1: of one that rows share; 0 where the product is where the next message will be.
  template <int kVectors, bool kAlone>
  static HWY_INLINE void step(const ScanWalk& at, std::int64_t row, V& message, V& top, Lost& lost) {
    if constexpr (kVectors < 0) return step_vector<kAlone>(at, row, message, top, lost);
    const GemmTag<T> d;
    const T* const input = kVectors == 0 ? nullptr : form_input<kVectors>(at, row, lost);
    const T* const factors = at.after + row * at.after_width;
    T* const to = at.message + at.stride + row * at.width;
    const V normaliser = at.steps.normaliser(top);
    V next = hn::Set(d, Steps::zero);
    Lost now = none();
    const auto put = [&](std::int64_t v, V sum) HWY_ATTR {
      const V y = at.steps.combine(sum, hn::LoadU(d, factors + v), normaliser, hn::LoadU(d, at.least_sum + v), now);
      next = hn::Max(next, y);
      hn::StoreU(y, d, to + v);
    };
    for (std::int64_t v = 0; kVectors == 0 && v < at.states; v += lanes()) put(v, hn::LoadU(d, to + v));
    if constexpr (kVectors == 1) multiply<1>(at, input, 0, put);
    if constexpr (kVectors >= 2) multiply<2>(at, input, 0, put);
    if constexpr (kVectors >= 3) multiply<kVectors - 2>(at, input, 2 * lanes(), put);
    if (Steps::may_lose) lost = hn::Or(lost, hn::And(now, hn::Gt(top, hn::Set(d, Steps::zero))));
    top = hn::MaxOfLanes(d, next);
    at.tops[scan_most_tops + row] = hn::GetLane(top);
  }

  /// A row times one or two vectors of the matrix's columns, in four sums of every fourth term.
  template <int kColumns, class Put>
  static HWY_INLINE void multiply(const ScanWalk& at, const T* row, std::int64_t column, const Put& put) {
    const GemmTag<T> d;
    constexpr std::int64_t panel = PackedMatrix<T>::panel;
    const auto start = [&](std::int64_t v) { return at.panels + v / panel * panel * at.states + v % panel; };
    const T* const w = start(column);
    const T* const u = kColumns > 1 ? start(column + lanes()) : w;
    const V zero = hn::Set(d, Algebra::zero());
    V a0 = zero, a1 = zero, a2 = zero, a3 = zero, b0 = zero, b1 = zero, b2 = zero, b3 = zero;
    const auto add = [&](std::int64_t k, V& a, V& b) HWY_ATTR {
      const V x = hn::Set(d, row[k]);
      a = Algebra::multiply_add(x, hn::Load(d, w + k * panel), a);
      if constexpr (kColumns > 1) b = Algebra::multiply_add(x, hn::Load(d, u + k * panel), b);
    };
    std::int64_t k = 0;
    for (; k + 4 <= at.states; k += 4) add(k, a0, b0), add(k + 1, a1, b1), add(k + 2, a2, b2), add(k + 3, a3, b3);
    if (k < at.states) add(k, a0, b0);
    if (k + 1 < at.states) add(k + 1, a1, b1);
    if (k + 2 < at.states) add(k + 2, a2, b2);
    put(column, Algebra::add(Algebra::add(a0, a1), Algebra::add(a2, a3)));
    if constexpr (kColumns > 1) put(column + lanes(), Algebra::add(Algebra::add(b0, b1), Algebra::add(b2, b3)));
  }
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
