// Exp and Log of every SIMD target: special values, and errors in ulp against long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "unit/kernels/math_test.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

enum Function { exp_function, shifted_function, log_function };

template <class T>
void apply(int function, const T* in, T* out, std::size_t count) {
  const hn::ScalableTag<T> d;
  const std::size_t n = hn::Lanes(d);
  for (std::size_t i = 0; i < count; i += n) {  // the arrays are padded to whole vectors
    const auto x = hn::LoadU(d, in + i);
    hn::StoreU(function == exp_function       ? Exp(d, x)
               : function == shifted_function ? ExpOfShifted(d, x)
                                              : Log(d, x),
               d, out + i);
  }
}
void apply_float(int function, const float* in, float* out, std::size_t count) { apply(function, in, out, count); }
void apply_double(int function, const double* in, double* out, std::size_t count) { apply(function, in, out, count); }

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {
namespace {

HWY_EXPORT(apply_float);
HWY_EXPORT(apply_double);

enum Function { exp_function, shifted_function, log_function };

template <class T>
std::vector<T> evaluate(Function function, std::vector<T> in) {
  const std::size_t count = in.size();
  in.resize(count + 16, T{1});
  std::vector<T> out(in.size());
  if constexpr (sizeof(T) == 4) {
    HWY_DYNAMIC_DISPATCH(apply_float)(function, in.data(), out.data(), count);
  } else {
    HWY_DYNAMIC_DISPATCH(apply_double)(function, in.data(), out.data(), count);
  }
  out.resize(count);
  return out;
}

template <class T>
long double ulps(T value, long double exact) {
  const T rounded = static_cast<T>(exact);
  const long double ulp = std::nextafter(std::abs(rounded), std::numeric_limits<T>::infinity()) - std::abs(rounded);
  return std::abs(static_cast<long double>(value) - exact) / ulp;
}

/// Runs the body once for each SIMD target that this machine has.
template <class Body>
void on_every_target(Body body) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(hwy::TargetName(target));
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

template <class T>
class Math : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Math, Types);

TYPED_TEST(Math, ExpIsRightAtSpecialValues) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  on_every_target([] {
    const auto y = evaluate<T>(exp_function, {-Limits::infinity(), Limits::infinity(), Limits::quiet_NaN(), T{0},
                                              T{-0.0}, Limits::max(), Limits::lowest(), Limits::denorm_min()});
    EXPECT_EQ(y[0], 0);
    EXPECT_EQ(y[1], Limits::infinity());
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_EQ(y[3], 1);
    EXPECT_EQ(y[4], 1);
    EXPECT_EQ(y[5], Limits::infinity());
    EXPECT_EQ(y[6], 0);
    EXPECT_EQ(y[7], 1);
  });
}

TYPED_TEST(Math, LogIsRightAtSpecialValues) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  on_every_target([] {
    const auto y = evaluate<T>(log_function, {T{0}, T{-0.0}, Limits::infinity(), Limits::quiet_NaN(), T{-1},
                                              -Limits::infinity(), T{1}, Limits::denorm_min()});
    EXPECT_EQ(y[0], -Limits::infinity());
    EXPECT_EQ(y[1], -Limits::infinity());
    EXPECT_EQ(y[2], Limits::infinity());
    EXPECT_TRUE(std::isnan(y[3]));
    EXPECT_TRUE(std::isnan(y[4]));
    EXPECT_TRUE(std::isnan(y[5]));
    EXPECT_EQ(y[6], 0);
    EXPECT_NEAR(y[7], std::log(Limits::denorm_min()), 1e-4);
  });
}

TYPED_TEST(Math, ExpErrsByLessThanTwoUlps) {
  using T = TypeParam;
  std::vector<T> x;
  const T low = sizeof(T) == 4 ? T{-87.25} : T{-708.25};
  const T high = sizeof(T) == 4 ? T{88.6875} : T{709.75};
  for (int i = 0; i <= 200000; ++i) x.push_back(low + (high - low) * static_cast<T>(i) / T{200000});
  for (int i = -20000; i <= 20000; ++i) x.push_back(static_cast<T>(i) / T{10000});
  on_every_target([&x] {
    const auto y = evaluate<T>(exp_function, x);
    long double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      worst = std::max(worst, ulps(y[i], std::exp(static_cast<long double>(x[i]))));
    EXPECT_LT(worst, 2.0L);
    testing::Test::RecordProperty("exp_ulps", std::to_string(worst));
  });
}

TYPED_TEST(Math, ExpOfShiftedErrsByLessThanAnUlpOfOne) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  std::vector<T> x = {T{0}, -Limits::infinity(), Limits::lowest(), Limits::quiet_NaN()};
  for (int i = 0; i <= 200000; ++i) x.push_back(-static_cast<T>(i) / T{1000});
  on_every_target([&x] {
    const auto y = evaluate<T>(shifted_function, x);
    EXPECT_EQ(y[0], 1);
    EXPECT_LT(y[1], 2 * std::exp(sizeof(T) == 4 ? -87.3 : -708.3));
    EXPECT_TRUE(std::isnan(y[3]));
    long double worst = 0;
    for (std::size_t i = 4; i < x.size(); ++i) {
      worst = std::max(worst, std::abs(static_cast<long double>(y[i]) - std::exp(static_cast<long double>(x[i]))));
    }
    EXPECT_LT(worst, Limits::epsilon());
  });
}

TYPED_TEST(Math, LogErrsByLessThanTwoUlps) {
  using T = TypeParam;
  std::vector<T> x;
  for (int i = 1; i <= 100000; ++i) x.push_back(static_cast<T>(i) / T{30000});
  for (int e = std::numeric_limits<T>::min_exponent; e < std::numeric_limits<T>::max_exponent; ++e) {
    for (int i = 0; i < 50; ++i) x.push_back(std::ldexp(T{0.5} + static_cast<T>(i) / T{100}, e));
  }
  on_every_target([&x] {
    const auto y = evaluate<T>(log_function, x);
    long double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      worst = std::max(worst, ulps(y[i], std::log(static_cast<long double>(x[i]))));
    EXPECT_LT(worst, 2.0L);
  });
}

}  // namespace
}  // namespace plated::kernels
#endif  // HWY_ONCE
