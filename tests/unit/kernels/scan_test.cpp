// Scans agree with a naive scan in double, for any shape, grouping of rows and SIMD target.
#include "kernels/scan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "hwy/highway.h"
#include "sanitized.hpp"
#include "unit/kernels/scan_case.hpp"

namespace plated::kernels {
namespace {

using testing::Flavour;
using testing::ScanCase;
using testing::ScanResult;
using testing::TermData;
using testing::Traced;

constexpr double infinity = std::numeric_limits<double>::infinity();

std::int64_t integer(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

template <class T>
TermData<T> random_term(std::mt19937& random, const ScanCase<T>& c, const Flavour& flavour) {
  TermData<T> term;
  term.present = integer(random, 0, 3) != 0;
  if (!term.present) return term;
  const std::int64_t states = c.states, steps = std::max<std::int64_t>(c.steps, 1);
  const std::int64_t layout = integer(random, 0, 4);
  const std::int64_t pad = integer(random, 0, 2);
  std::int64_t row_stride = states + pad;
  term.step_stride = c.rows * row_stride;
  if (layout == 1) {  // states apart
    term.state_stride = c.rows + pad;
    row_stride = 1;
    term.step_stride = states * term.state_stride;
  } else if (layout == 2) {  // rows share
    row_stride = 0;
    term.step_stride = states + pad;
  } else if (layout == 3) {  // steps share
    term.step_stride = 0;
  }
  const std::int64_t size = (layout == 3 ? 1 : steps) * std::max(term.step_stride, c.rows * (states + pad));
  term.values.resize(static_cast<std::size_t>(size));
  testing::fill_random(random, c.semiring, flavour, term.values);
  for (std::int64_t r = 0; r < c.rows; ++r) term.row_offset.push_back(r * row_stride);
  if (layout == 4) {  // backwards in time
    term.origin = (steps - 1) * term.step_stride;
    term.step_stride = -term.step_stride;
  }
  return term;
}

/// Steps beyond a row's length hold NaN.
template <class T>
void poison_padding(const ScanCase<T>& c, TermData<T>& term) {
  if (!term.present || term.step_stride == 0) return;
  // Where rows share the memory, only what no row reads.
  const bool shared = c.rows > 1 && term.row_offset[0] == term.row_offset[1];
  const std::int64_t longest = *std::max_element(c.lengths.begin(), c.lengths.end());
  for (std::int64_t s = 0; s < c.steps; ++s) {
    for (std::int64_t r = 0; r < c.rows; ++r) {
      const std::int64_t length = shared ? longest : c.lengths[static_cast<std::size_t>(r)];
      if (length > c.first_step + s * c.direction) continue;
      for (std::int64_t b = 0; b < c.states; ++b) {
        const std::int64_t at =
            term.origin + s * term.step_stride + term.row_offset[static_cast<std::size_t>(r)] + b * term.state_stride;
        term.values[static_cast<std::size_t>(at)] = std::numeric_limits<T>::quiet_NaN();
      }
    }
  }
}

template <class T>
ScanCase<T> random_case(std::mt19937& random, Semiring semiring) {
  ScanCase<T> c;
  c.semiring = semiring;
  c.rows = integer(random, 0, 1) == 0 ? integer(random, 1, 4) : integer(random, 5, 70);
  c.states = integer(random, 0, 1) == 0 ? integer(random, 1, 9) : integer(random, 10, 70);
  c.steps = integer(random, 0, 20);
  c.direction = integer(random, 0, 1) == 0 ? 1 : -1;
  c.first_step = c.direction == 1 ? integer(random, 0, 2) : c.steps - 1;
  c.transposed = integer(random, 0, 1) == 0;
  Flavour flavour;
  const std::int64_t kind = integer(random, 0, 5);
  if (kind == 1) flavour.zeros = 0.3;
  if (kind == 2) flavour.far = 0.3;
  if (kind == 3) flavour = {.scale = 100.0, .zeros = 0.2};
  if (kind == 4) flavour = {.scale = 5.0, .centre = integer(random, 0, 1) == 0 ? 1e4 : -1e4};
  if (kind == 5) flavour = {.scale = 30.0, .zeros = 0.6, .far = 0.2};
  c.matrix.resize(static_cast<std::size_t>(c.states * c.states));
  testing::fill_random(random, semiring, flavour, c.matrix);
  if (kind == 1 || kind == 5) {
    // A whole row and a whole column of zeros.
    const T zero = static_cast<T>(semiring == Semiring::min_plus ? infinity : -infinity);
    const std::int64_t dead = integer(random, 0, c.states - 1);
    for (std::int64_t i = 0; i < c.states; ++i) {
      c.matrix[static_cast<std::size_t>(dead * c.states + i)] = zero;
      c.matrix[static_cast<std::size_t>(i * c.states + (dead + 1) % c.states)] = zero;
    }
  }
  c.messages.resize(static_cast<std::size_t>(c.rows * c.states));
  testing::fill_random(random, semiring, flavour, c.messages);
  for (std::int64_t r = 0; r < c.rows; ++r) c.offset.push_back(static_cast<double>(integer(random, -9, 9)));
  c.before = random_term(random, c, flavour);
  c.after = random_term(random, c, flavour);
  if (integer(random, 0, 2) == 0) {
    for (std::int64_t r = 0; r < c.rows; ++r) c.lengths.push_back(integer(random, 0, c.steps + 2));
    poison_padding(c, c.before);
    poison_padding(c, c.after);
  }
  return c;
}

/// The worst error of a normalised message and its offset, relative to `scale`.
template <class T>
double message_error(const ScanCase<T>& c, const std::vector<double>& expected, double scale, const T* message,
                     double offset) {
  const double zero = c.semiring == Semiring::min_plus ? infinity : -infinity;
  double top = zero, worst = 0.0;
  for (std::size_t b = 0; b < expected.size(); ++b) {
    const double got = static_cast<double>(message[b]);
    top = c.semiring == Semiring::min_plus ? std::min(top, got) : std::max(top, got);
    if (expected[b] == zero || got == zero) {
      if (expected[b] != got) return infinity;
      continue;
    }
    const double error = std::abs(got + offset - expected[b]) / scale;
    if (std::isnan(error)) return infinity;
    worst = std::max(worst, error);
  }
  if (top != zero && top != 0.0) return infinity;
  return worst;
}

/// Of all messages, relative to the largest number that a row's message has held so far.
template <class T>
double worst_error(const ScanCase<T>& c, const ScanResult<T>& result) {
  double worst = 0.0;
  for (std::int64_t r = 0; r < c.rows; ++r) {
    const std::vector<std::vector<double>> expected = testing::naive_scan(c, r);
    double scale = 1.0;
    const auto note = [&](const std::vector<double>& message) {
      for (const double x : message) scale = std::isfinite(x) ? std::max(scale, std::abs(x)) : scale;
    };
    note(expected[0]);
    for (std::int64_t s = 0; s < c.steps; ++s) {
      const std::vector<double>& message = expected[static_cast<std::size_t>(s + 1)];
      note(message);
      const T* traced = result.trace.data() + ((c.steps - 1 - s) * c.rows + r) * c.states;
      worst = std::max(worst, message_error(c, message, scale, traced,
                                            result.trace_offset[static_cast<std::size_t>(s * c.rows + r)]));
    }
    worst = std::max(worst, message_error(c, expected.back(), scale, result.messages.data() + r * c.states,
                                          result.offset[static_cast<std::size_t>(r)]));
  }
  return worst;
}

template <class T>
constexpr double tolerance = sizeof(T) == 4 ? 4e-6 : 1e-14;

template <class T>
void agree_with_naive(unsigned seed, int trials) {
  for (const Semiring semiring : {Semiring::log, Semiring::max_plus, Semiring::min_plus}) {
    std::mt19937 random(seed + static_cast<unsigned>(semiring));
    for (int trial = 0; trial < test::cases(trials); ++trial) {
      const ScanCase<T> c = random_case<T>(random, semiring);
      const double error = worst_error(c, testing::run_scan_case(c, {}));
      ASSERT_LE(error, tolerance<T>) << "trial " << trial << " " << c.describe();
    }
  }
}

TEST(Scan, AgreesWithNaiveScanInFloat32) { agree_with_naive<float>(1, 200); }

TEST(Scan, AgreesWithNaiveScanInFloat64) { agree_with_naive<double>(2, 200); }

TEST(Scan, RecomputesSumsThatUnderflow) {
  for (const double depth : {200.0, 2000.0}) {
    ScanCase<float> c;
    c.states = 2;
    c.steps = 1;
    c.messages = {0.0f, static_cast<float>(-depth)};
    c.offset = {0.0};
    c.matrix = {static_cast<float>(-depth), 0.0f, 0.0f, static_cast<float>(-3 * depth)};
    const ScanResult<float> result = testing::run_scan_case(c, {});
    EXPECT_FLOAT_EQ(result.messages[1], 0.0f);
    EXPECT_NEAR(result.offset[0], 0.0, 1e-12);
    EXPECT_NEAR(static_cast<double>(result.messages[0]), -depth + std::log(2.0), 1e-4);
  }
}

TEST(Scan, RecomputesInTheMiddleOfARun) {
  // The second state survives 300 below the first until a term favours it.
  ScanCase<float> c;
  c.states = 2;
  c.steps = 3;
  c.messages = {0.0f, 0.0f};
  c.offset = {0.0};
  c.matrix = {0.0f, -std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), 0.0f};
  c.after.present = true;
  c.after.values = {0.0f, -300.0f, 0.0f, 0.0f, -700.0f, 0.0f};
  c.after.row_offset = {0};
  c.after.step_stride = 2;
  const ScanResult<float> result = testing::run_scan_case(c, {});
  EXPECT_FLOAT_EQ(result.messages[0], -400.0f);
  EXPECT_FLOAT_EQ(result.messages[1], 0.0f);
  EXPECT_NEAR(result.offset[0], -300.0, 1e-4);
}

TEST(Scan, KeepsTheOffsetOfAMessageThatIsAllZero) {
  for (const Semiring semiring : {Semiring::log, Semiring::max_plus, Semiring::min_plus}) {
    const float zero = static_cast<float>(semiring == Semiring::min_plus ? infinity : -infinity);
    ScanCase<float> c;
    c.semiring = semiring;
    c.rows = 2;
    c.states = 3;
    c.steps = 4;
    c.messages = {zero, zero, zero, 1.0f, 2.0f, 3.0f};
    c.offset = {7.0, 5.0};
    c.matrix = std::vector<float>(9, -1000.0f);
    for (int i = 0; i < 3; ++i) c.matrix[static_cast<std::size_t>(i * 3)] = 0.0f;
    c.after.present = true;
    c.after.values = {1, 1, 1, 2, 2, 2, zero, zero, zero, 3, 3, 3};
    c.after.row_offset = {0, 0};
    c.after.step_stride = 3;
    const ScanResult<float> result = testing::run_scan_case(c, {});
    for (const float x : result.messages) EXPECT_EQ(x, zero);
    EXPECT_EQ(result.offset, (std::vector<double>{7.0, 5.0}));
    EXPECT_EQ(result.trace_offset[0], 7.0);
    EXPECT_EQ(result.trace_offset[7], 5.0);
  }
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
void same_for_any_grouping(unsigned seed, int trials) {
  for (const Semiring semiring : {Semiring::log, Semiring::max_plus, Semiring::min_plus}) {
    std::mt19937 random(seed);
    for (int trial = 0; trial < test::cases(trials); ++trial) {
      const ScanCase<T> c = random_case<T>(random, semiring);
      const ScanResult<T> whole = testing::run_scan_case(c, {});
      std::vector<std::int64_t> one_by_one, some;
      for (std::int64_t r = 1; r < c.rows; ++r) one_by_one.push_back(r);
      for (std::int64_t r = integer(random, 1, 9); r < c.rows; r += integer(random, 1, 20)) some.push_back(r);
      for (const auto& cuts : {one_by_one, some}) {
        const ScanResult<T> parts = testing::run_scan_case(c, cuts);
        ASSERT_TRUE(same_bits(whole.messages, parts.messages)) << "trial " << trial << " " << c.describe();
        ASSERT_TRUE(same_bits(whole.offset, parts.offset)) << "trial " << trial << " " << c.describe();
        ASSERT_TRUE(same_bits(whole.trace, parts.trace)) << "trial " << trial << " " << c.describe();
        ASSERT_TRUE(same_bits(whole.trace_offset, parts.trace_offset)) << "trial " << trial << " " << c.describe();
      }
      const ScanResult<T> untraced = testing::run_scan_case(c, {}, Traced::no);
      ASSERT_TRUE(same_bits(whole.messages, untraced.messages)) << "trial " << trial << " " << c.describe();
      ASSERT_TRUE(same_bits(whole.offset, untraced.offset)) << "trial " << trial << " " << c.describe();
    }
  }
}

TEST(Scan, HasTheSameBitsForAnyGroupingOfRows) {
  same_for_any_grouping<float>(3, 100);
  same_for_any_grouping<double>(4, 100);
}

/// A linear trace is the exponential of the log trace, and changes nothing else.
template <class T>
void trace_linearly(unsigned seed, int trials) {
  std::mt19937 random(seed);
  for (int trial = 0; trial < test::cases(trials); ++trial) {
    const ScanCase<T> c = random_case<T>(random, Semiring::log);
    const ScanResult<T> logs = testing::run_scan_case(c, {});
    const ScanResult<T> linear = testing::run_scan_case(c, {}, Traced::linear);
    ASSERT_TRUE(same_bits(logs.messages, linear.messages)) << "trial " << trial << " " << c.describe();
    ASSERT_TRUE(same_bits(logs.offset, linear.offset)) << "trial " << trial << " " << c.describe();
    for (std::int64_t s = 0; s < c.steps; ++s) {
      for (std::int64_t r = 0; r < c.rows; ++r) {
        const std::int64_t slot = (c.rows - 1 - r) * c.steps + s;
        ASSERT_EQ(logs.trace_offset[static_cast<std::size_t>(s * c.rows + r)],
                  linear.trace_offset[static_cast<std::size_t>(slot)]);
        T top = 0;
        for (std::int64_t b = 0; b < c.states; ++b) {
          const double log = static_cast<double>(
              logs.trace[static_cast<std::size_t>(((c.steps - 1 - s) * c.rows + r) * c.states + b)]);
          const T got = linear.trace[static_cast<std::size_t>(slot * c.states + b)];
          top = std::max(top, got);
          // Rounding of a logarithm of depth 80 is a relative error of 80 ulps here.
          ASSERT_NEAR(static_cast<double>(got), std::exp(log), 100 * tolerance<T> * std::exp(log) + 1e-37)
              << "trial " << trial << " step " << s << " " << c.describe();
        }
        ASSERT_TRUE(top == T{1} || top == T{0}) << "trial " << trial << " " << c.describe();
      }
    }
    std::vector<std::int64_t> one_by_one;
    for (std::int64_t r = 1; r < c.rows; ++r) one_by_one.push_back(r);
    const ScanResult<T> parts = testing::run_scan_case(c, one_by_one, Traced::linear_without_offsets);
    ASSERT_TRUE(same_bits(linear.trace, parts.trace)) << "trial " << trial << " " << c.describe();
    ASSERT_TRUE(same_bits(linear.offset, parts.offset)) << "trial " << trial << " " << c.describe();
  }
}

TEST(Scan, TracesMessagesInRealSpace) {
  trace_linearly<float>(8, 200);
  trace_linearly<double>(9, 200);
}

TEST(Scan, LosesNothingOverTenThousandSteps) {
  for (const std::int64_t states : {2, 7, 40, 200}) {
    for (const bool normalised : {true, false}) {
      std::mt19937 random(static_cast<unsigned>(states));
      ScanCase<float> c;
      c.states = states;
      c.steps = states == 200 ? 1000 : 10000;
      c.matrix.resize(static_cast<std::size_t>(states * states));
      c.messages.resize(static_cast<std::size_t>(states));
      c.offset = {0.0};
      testing::fill_random(random, Semiring::log, {.scale = 2.0}, c.matrix);
      testing::fill_random(random, Semiring::log, {.scale = 2.0}, c.messages);
      c.after.present = true;
      c.after.values.resize(static_cast<std::size_t>(states * c.steps));
      // Spread by 2: real space holds the messages; by 25: it often does not.
      testing::fill_random(random, Semiring::log, {.scale = normalised ? 2.0 : 25.0, .centre = -10.0}, c.after.values);
      c.after.row_offset = {0};
      c.after.step_stride = states;
      const ScanResult<float> result = testing::run_scan_case(c, {}, Traced::no);
      const std::vector<double> expected = testing::naive_scan(c, 0).back();
      const double top = *std::max_element(expected.begin(), expected.end());
      EXPECT_NEAR(result.offset[0] / top, 1.0, 1e-6) << states;
      for (std::size_t b = 0; b < expected.size(); ++b) {
        EXPECT_NEAR(static_cast<double>(result.messages[b]), expected[b] - top, 1e-4) << states << " state " << b;
      }
    }
  }
}

class ScanOnEveryTarget : public ::testing::Test {
 protected:
  static void use(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  void TearDown() override { use(0); }
};

TEST_F(ScanOnEveryTarget, AgreesWithNaiveScan) {
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    use(target);
    SCOPED_TRACE(hwy::TargetName(target));
    agree_with_naive<float>(5, 30);
    agree_with_naive<double>(6, 30);
    same_for_any_grouping<float>(7, 40);
    trace_linearly<float>(10, 40);
  }
}

}  // namespace
}  // namespace plated::kernels
