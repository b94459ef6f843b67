// Finds bad entries anywhere, and no others.
#include "kernels/check.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace plated::kernels {
namespace {

using Index = std::vector<std::int64_t>;

struct Admission {
  Semiring semiring;
  bool plus_infinity, minus_infinity, negative;
};
constexpr Admission admissions[] = {
    {Semiring::real, false, false, true},    {Semiring::log, false, true, true},
    {Semiring::max_plus, false, true, true}, {Semiring::min_plus, true, false, true},
    {Semiring::boolean, true, true, true},   {Semiring::max_product, false, false, false},
};

template <class T>
class Check : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Check, Types);

TYPED_TEST(Check, AdmitsWhatTheSemiringDoes) {
  using T = TypeParam;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  for (const Admission& a : admissions) {
    SCOPED_TRACE(name(a.semiring));
    const auto admitted = [&a](T x) { return !first_bad_entry(Tensor::of<T>({3}, {T{1}, x, T{0}}), a.semiring); };
    EXPECT_TRUE(admitted(T{2}));
    EXPECT_FALSE(admitted(std::numeric_limits<T>::quiet_NaN()));
    EXPECT_EQ(admitted(infinity), a.plus_infinity);
    EXPECT_EQ(admitted(-infinity), a.minus_infinity);
    EXPECT_EQ(admitted(T{-1}), a.negative);
  }
}

TYPED_TEST(Check, NamesTheFirstBadIndexOfStridedMemory) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> data(5 * 7 * 300, T{1});
  const auto bad = [&](const Tensor& tensor) { return first_bad_entry(tensor, Semiring::log); };
  const Tensor whole = Tensor::view(data.data(), {5, 7, 300});
  EXPECT_FALSE(bad(whole));
  data[(3 * 7 + 2) * 300 + 299] = nan;
  data[(4 * 7 + 0) * 300 + 0] = nan;
  EXPECT_EQ(bad(whole), (Index{3, 2, 299}));
  // Transposed, reversed, broadcast, and with the bad entries in the gaps.
  EXPECT_EQ(bad(Tensor::view(data.data(), {300, 7, 5}, {1, 300, 2100})), (Index{0, 0, 4}));
  EXPECT_EQ(bad(Tensor::view(data.data() + 4 * 2100, {5, 7, 300}, {-2100, 300, 1})), (Index{0, 0, 0}));
  EXPECT_EQ(bad(Tensor::view(data.data() + 4 * 2100, {4, 2}, {0, 1})), (Index{0, 0}));
  EXPECT_FALSE(bad(Tensor::view(data.data() + 1, {5, 7, 149}, {2100, 300, 2})));
}

Inspection inspect_all(const Tensor& tensor, Semiring semiring) {
  MemoryOrder order;
  order.assign(tensor);
  if (order.extents.empty()) return {};
  const Inspection seen = inspect(order, semiring, 0, order.extents[0]);
  EXPECT_EQ(admits(order, semiring, 0, order.extents[0]), seen.admitted);
  if (const auto few = inspect_short(tensor, semiring)) {
    EXPECT_EQ(few->admitted, seen.admitted);
    EXPECT_EQ(admits_short(tensor, semiring), seen.admitted);
    if (seen.admitted) {
      EXPECT_EQ(few->magnitude, seen.magnitude);
    }
  }
  return seen;
}

TYPED_TEST(Check, AgreesOnWhatIsAdmittedInAnyOrderOfMemory) {
  using T = TypeParam;
  std::vector<T> data(5 * 7 * 300, T{1});
  const Tensor views[] = {
      Tensor::view(data.data(), {5, 7, 300}), Tensor::view(data.data(), {300, 7, 5}, {1, 300, 2100}),
      Tensor::view(data.data() + 4 * 2100, {5, 7, 300}, {-2100, 300, 1}),
      Tensor::view(data.data() + 4 * 2100, {4, 2}, {0, 1}), Tensor::view(data.data() + 1, {5, 7, 149}, {2100, 300, 2})};
  for (const std::size_t bad : {std::size_t{0}, std::size_t{8400}, std::size_t{8401}, data.size() - 1, data.size()}) {
    if (bad < data.size()) data[bad] = std::numeric_limits<T>::quiet_NaN();
    for (const Tensor& view : views) {
      EXPECT_EQ(inspect_all(view, Semiring::log).admitted, !first_bad_entry(view, Semiring::log)) << bad;
    }
    if (bad < data.size()) data[bad] = T{1};
  }
}

TYPED_TEST(Check, FindsOneBadEntryAmongMany) {
  using T = TypeParam;
  constexpr T most = std::numeric_limits<T>::max();
  constexpr T infinity = std::numeric_limits<T>::infinity();
  std::vector<T> data(70000, T{0.5});
  data[5] = -most;
  data[6] = most;
  const Tensor tensor = Tensor::view(data.data(), {70000});
  for (const Admission& a : admissions) {
    SCOPED_TRACE(name(a.semiring));
    data[5] = a.negative ? -most : T{0};
    EXPECT_TRUE(inspect_all(tensor, a.semiring).admitted);
    for (const std::size_t at : {std::size_t{0}, std::size_t{4095}, std::size_t{33333}, data.size() - 1}) {
      for (const T bad : {infinity, -infinity, std::numeric_limits<T>::quiet_NaN()}) {
        data[at] = bad;
        const bool admitted = bad == infinity ? a.plus_infinity : bad == -infinity && a.minus_infinity;
        EXPECT_EQ(inspect_all(tensor, a.semiring).admitted, admitted) << at << " " << bad;
        data[at] = T{0.5};
      }
    }
  }
}

TYPED_TEST(Check, FindsTheLargestFiniteMagnitude) {
  using T = TypeParam;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  for (const std::int64_t length : {1, 3, 8, 37, 1000}) {
    for (const std::int64_t at : {std::int64_t{0}, length / 2, length - 1}) {
      for (const std::int64_t stride : {1, 2}) {
        std::vector<T> data(static_cast<std::size_t>(length * stride), T{-1});
        data[static_cast<std::size_t>((length - 1 - at) * stride)] = -infinity;
        data[static_cast<std::size_t>(at * stride)] = T{-1e30F};
        const Tensor tensor = Tensor::view(data.data(), {length}, {stride});
        EXPECT_EQ(inspect_all(tensor, Semiring::log).magnitude, static_cast<double>(T{-1e30F}) * -1)
            << length << " " << at;
      }
    }
  }
  EXPECT_EQ(inspect_all(Tensor(dtype_of<T>, {0, 3}), Semiring::log).magnitude, 0);
  EXPECT_EQ(inspect_all(Tensor::scalar(T{-3}), Semiring::log).magnitude, 3);
}

TEST(Check, InspectsShortTensorsWithoutGapsAtOnce) {
  EXPECT_TRUE(inspect_short(Tensor(Dtype::float64, {2, 3}), Semiring::real));
  EXPECT_FALSE(inspect_short(Tensor(Dtype::float64, {1000}), Semiring::real));
  const double memory[4] = {};
  EXPECT_FALSE(inspect_short(Tensor::view(memory, {2}, {2}), Semiring::real));
}

TEST(Check, EmptyAndScalarTensors) {
  EXPECT_FALSE(first_bad_entry(Tensor(Dtype::float32, {3, 0}), Semiring::real));
  EXPECT_EQ(first_bad_entry(Tensor::scalar(std::numeric_limits<double>::infinity()), Semiring::real), Index{});
}

}  // namespace
}  // namespace plated::kernels
