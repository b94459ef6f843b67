// The reduce strategy against nested loops: every semiring, type, role and stride, and the hard corners of log space.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/strategy.hpp"
#include "semiring/dispatch.hpp"
#include "unit/kernels/naive_contraction.hpp"
#include "unit/kernels/random_contraction.hpp"
#include "unit/kernels/run_contraction.hpp"

namespace plated::kernels {
namespace {

using testing::Case;
using testing::describe;
using testing::entry;
using testing::naive_contraction;
using testing::random_case;
using testing::run;
using testing::tolerance;
using testing::worst_error;

constexpr Semiring all_semirings[] = {Semiring::real,     Semiring::log,         Semiring::max_plus,
                                      Semiring::min_plus, Semiring::max_product, Semiring::boolean};

class EverySemiring : public ::testing::TestWithParam<Semiring> {};

TEST_P(EverySemiring, AgreesWithNestedLoopsOnRandomShapes) {
  std::mt19937 random(20240607u + static_cast<unsigned>(GetParam()));
  for (int trial = 0; trial < 600; ++trial) {
    const Case c = random_case(random, GetParam(), trial % 20 == 0 ? 400000 : 20000);
    const auto strategy = make_reduce(c.shape);
    const double error = worst_error(c, *strategy);
    ASSERT_LE(error, tolerance(c.shape)) << "trial " << trial << " " << describe(c.shape);
  }
}

/// prod_p sum_s of kept, product and sum, stored in this order of axes: all entries are 1, but for a product slice of
/// zeros, which hides the entry `odd` in another one from the results.
/// Returns what the tasks say of it.
template <class T>
double seen_with(Semiring semiring, const std::vector<std::size_t>& order, std::int64_t sum, T odd, std::int64_t at) {
  constexpr std::int64_t kept = 5, product = 6;
  std::vector<std::int64_t> strides(3);
  std::int64_t step = 1;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    strides[*axis] = step;
    step *= std::vector<std::int64_t>{kept, product, sum}[*axis];
  }
  ContractionShape shape;
  shape.semiring = semiring;
  shape.compute_dtype = shape.output_dtype = sizeof(T) == 4 ? Dtype::float32 : Dtype::float64;
  shape.extent = {kept, product, sum};
  shape.role = {Role::kept, Role::product, Role::sum};
  shape.input_stride = {strides};
  shape.input_dtype = {shape.compute_dtype};
  shape.output_stride = {1, 0, 0};
  const auto zero = static_cast<T>(semiring::dispatch(semiring, [](auto ring) { return ring.zero(); }));
  std::vector<T> entries(static_cast<std::size_t>(kept * product * sum), T{1});
  const auto entry_at = [&](std::int64_t k, std::int64_t p, std::int64_t s) -> T& {
    return entries[static_cast<std::size_t>(k * strides[0] + p * strides[1] + s * strides[2])];
  };
  const std::int64_t slice = at / sum % product;
  for (std::int64_t k = 0; k < kept; ++k) {
    for (std::int64_t s = 0; s < sum; ++s) entry_at(k, (slice + 1) % product, s) = zero;
  }
  entry_at(at / sum / product, slice, at % sum) = odd;
  std::vector<T> output(kept);
  const auto strategy = make_reduce(shape);
  EXPECT_TRUE(strategy->looks_at_input());
  const testing::Scratch task(strategy->task_scratch_bytes()), shared(strategy->shared_scratch_bytes());
  const std::vector<const void*> inputs{entries.data()};
  double seen = 0;
  for (std::int64_t t = 0; t < strategy->tasks(); ++t) {
    seen = std::max(seen, strategy->run_task(t, inputs, output.data(), task.bytes, shared.bytes));
  }
  return seen;
}

template <class T>
void find_what_zeros_hide() {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  // The sum innermost, outermost and between, short and long: rows are packed, absorbed where they lie, and folded.
  for (const std::vector<std::size_t>& order :
       {std::vector<std::size_t>{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {2, 0, 1}, {0, 2, 1}}) {
    for (const std::int64_t sum : {70, 613}) {
      for (std::int64_t at = 0; at < 5 * 6 * sum; at += sum / 5 - 1) {
        for (const Semiring semiring : {Semiring::real, Semiring::log, Semiring::max_plus, Semiring::min_plus}) {
          SCOPED_TRACE(std::string(name(semiring)) + " " + std::to_string(sum) + " " + std::to_string(at));
          const auto seen = [&](T odd) { return seen_with(semiring, order, sum, odd, at); };
          const bool adds_up = semiring == Semiring::real;
          const bool lowest = semiring == Semiring::min_plus;
          EXPECT_EQ(seen(nan), infinity);
          EXPECT_EQ(seen(infinity), lowest ? 1 : infinity);
          EXPECT_EQ(seen(-infinity), adds_up || lowest ? infinity : 1);
          EXPECT_EQ(seen(T{-1000}), adds_up ? 0 : lowest ? 1000 : 1);
          EXPECT_EQ(seen(T{1000}), adds_up ? 0 : lowest ? 1 : 1000);
        }
      }
    }
  }
}

TEST(Reduce, TellsOfEntriesThatAreNoNumbersEvenWhereZerosHideThem) {
  find_what_zeros_hide<float>();
  find_what_zeros_hide<double>();
}

TEST(Reduce, DoesNotLookWhereProductsMayLoseNaN) {
  ContractionShape shape;
  shape.extent = {100, 100};
  shape.role = {Role::kept, Role::sum};
  shape.input_stride = {{100, 1}};
  shape.input_dtype = {Dtype::float64};
  shape.output_stride = {1, 0};
  for (const Semiring semiring : all_semirings) {
    shape.semiring = semiring;
    const bool multiplies = semiring == Semiring::max_product || semiring == Semiring::boolean;
    EXPECT_EQ(make_reduce(shape)->looks_at_input(), !multiplies) << name(semiring);
  }
  shape.semiring = Semiring::log;
  shape.role = {Role::kept, Role::product};
  EXPECT_TRUE(make_reduce(shape)->looks_at_input()) << "without a sum";
  shape.semiring = Semiring::real;
  shape.role = {Role::kept, Role::sum};
  shape.input_stride.push_back({0, 1});
  shape.input_dtype.push_back(Dtype::float64);
  EXPECT_FALSE(make_reduce(shape)->looks_at_input()) << "of two inputs";
}

// A plate too short for vectors lies innermost, the sum next to it: [outer][sum][short], alone or times a float64
// message.
TEST_P(EverySemiring, PacksPlatesShorterThanAVector) {
  std::mt19937 random(11);
  for (std::int64_t length = 1; length <= 9; ++length) {
    for (const std::int64_t sum : {3, 32, 70}) {
      for (const bool message : {false, true}) {
        Case c;
        c.shape.semiring = GetParam();
        c.shape.compute_dtype = message ? Dtype::float64 : Dtype::float32;
        c.shape.extent = {37, sum, length};
        c.shape.role = {Role::kept, Role::sum, Role::product};
        c.shape.input_stride = {{sum * length, length, 1}};
        c.shape.input_dtype = {Dtype::float32};
        c.shape.output_stride = {1, 0, 0};
        c.output_size = 37;
        c.float_data.emplace_back();
        for (std::int64_t e = 0; e < 37 * sum * length; ++e) {
          c.float_data[0].push_back(static_cast<float>(entry(random, GetParam(), 0.1)));
        }
        c.inputs = {c.float_data[0].data()};
        if (message) {
          c.shape.input_stride.push_back({0, length, 1});
          c.shape.input_dtype.push_back(Dtype::float64);
          c.double_data.emplace_back();
          for (std::int64_t e = 0; e < sum * length; ++e) c.double_data[0].push_back(entry(random, GetParam(), 0.1));
          c.inputs.push_back(c.double_data[0].data());
        }
        ASSERT_LE(worst_error(c, *make_reduce(c.shape)), tolerance(c.shape)) << describe(c.shape);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Reduce, EverySemiring, ::testing::ValuesIn(all_semirings),
                         [](const auto& test) { return std::string(name(test.param)); });

/// log Σ over one index of two inputs.
template <class T>
double log_dot(const std::vector<T>& a, const std::vector<T>& b) {
  ContractionShape shape;
  shape.extent = {static_cast<std::int64_t>(a.size())};
  shape.role = {Role::sum};
  shape.input_stride = {{1}, {1}};
  shape.input_dtype = {dtype_of<T>, dtype_of<T>};
  shape.output_stride = {0};
  shape.compute_dtype = dtype_of<T>;
  double out = 0;
  run(*make_reduce(shape), {a.data(), b.data()}, &out);
  return out;
}

template <class T>
class LogSpace : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LogSpace, Types);

TYPED_TEST(LogSpace, SurvivesMaximaThatDoNotAlign) {
  using T = TypeParam;
  for (const double gap : {50.0, 200.0, 1e4, 1e30}) {
    const T g = static_cast<T>(gap);
    const double exact = static_cast<double>(-g) + std::log(2.0);
    EXPECT_NEAR(log_dot<T>({T{0}, -g}, {-g, T{0}}), exact, 1e-6 * gap);
    std::vector<T> a(300, -std::numeric_limits<T>::infinity());  // long enough for lanes
    std::vector<T> b = a;
    a[7] = T{0}, b[7] = -g, a[290] = -g, b[290] = T{0};
    EXPECT_NEAR(log_dot<T>(a, b), exact, 1e-6 * gap);
  }
}

TYPED_TEST(LogSpace, AllZerosAreZeroAtEveryLength) {
  using T = TypeParam;
  for (const std::size_t n : {1u, 2u, 5u, 64u, 129u, 600u, 5000u}) {
    const std::vector<T> a(n, -std::numeric_limits<T>::infinity());
    std::vector<T> b(n, T{1});
    EXPECT_EQ(log_dot<T>(a, b), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(log_dot<T>(a, a), -std::numeric_limits<double>::infinity());
    std::vector<T> c = a;
    c[n / 2] = T{-3};
    EXPECT_NEAR(log_dot<T>(c, b), -2.0, 1e-6);
  }
}

/// Sums over `rows` terms, kept or not, with entries of one sign: the errors that DESIGN promises for moderate lengths.
template <class T>
double sum_error(Semiring semiring, std::int64_t rows, std::int64_t lanes, bool rows_inside) {
  std::mt19937 random(7);
  Case c;
  c.shape.semiring = semiring;
  c.shape.extent = {rows, lanes};
  c.shape.role = {Role::sum, Role::kept};
  c.shape.input_stride = {rows_inside ? std::vector<std::int64_t>{1, rows} : std::vector<std::int64_t>{lanes, 1}};
  c.shape.input_dtype = {dtype_of<T>};
  c.shape.output_stride = {0, 1};
  c.shape.compute_dtype = dtype_of<T>;
  c.output_size = lanes;
  std::vector<T> data;
  for (std::int64_t i = 0; i < rows * lanes; ++i) data.push_back(static_cast<T>(entry(random, semiring, 0.0)));
  c.inputs = {data.data()};
  std::vector<double> out(static_cast<std::size_t>(lanes));
  run(*make_reduce(c.shape), c.inputs, out.data());
  double worst = 0;
  naive_contraction(c.shape, c.inputs, [&](std::int64_t at, long double exact) {
    // An absolute error of a logarithm is a relative one of what it stands for.
    const long double scale = semiring == Semiring::log ? std::max(1.0L, std::abs(exact)) : std::abs(exact);
    const long double difference = static_cast<long double>(out[static_cast<std::size_t>(at)]) - exact;
    worst = std::max(worst, static_cast<double>(std::abs(difference) / scale));
  });
  return worst;
}

TYPED_TEST(LogSpace, SumsOfModerateLengthKeepTheirPrecision) {
  using T = TypeParam;
  const double bound = sizeof(T) == 4 ? 1e-6 : 1e-14;
  for (const Semiring semiring : {Semiring::real, Semiring::log}) {
    double worst = 0;
    for (const std::int64_t rows : {2, 31, 32, 33, 1000, 10000}) {
      for (const std::int64_t lanes : {1, 5, 100}) {
        for (const bool inside : {false, true}) worst = std::max(worst, sum_error<T>(semiring, rows, lanes, inside));
      }
    }
    std::cout << name(semiring) << " " << name(dtype_of<T>) << ": relative error at most " << worst << "\n";
    EXPECT_LE(worst, bound);
  }
}

TEST(Reduce, SplitsBigWorkAndKeepsSmallWorkWhole) {
  ContractionShape shape;
  shape.extent = {1'000'000};
  shape.role = {Role::sum};
  shape.input_stride = {{1}};
  shape.input_dtype = {Dtype::float32};
  shape.output_stride = {0};
  shape.compute_dtype = Dtype::float32;
  EXPECT_GT(make_reduce(shape)->tasks(), 1);
  shape.role = {Role::product};
  EXPECT_GT(make_reduce(shape)->tasks(), 1);
  shape.extent = {1000};
  EXPECT_EQ(make_reduce(shape)->tasks(), 1);
}

TEST(Reduce, MultipliesInDouble) {
  // 2^20 factors of −1000.1 in float32: the sum must not drift.
  const std::int64_t count = 1 << 20;
  const std::vector<float> data(static_cast<std::size_t>(count), -1000.1f);
  ContractionShape shape;
  shape.extent = {count};
  shape.role = {Role::product};
  shape.input_stride = {{1}};
  shape.input_dtype = {Dtype::float32};
  shape.output_stride = {0};
  shape.compute_dtype = Dtype::float32;
  double out = 0;
  run(*make_reduce(shape), {data.data()}, &out);
  EXPECT_DOUBLE_EQ(out, static_cast<double>(-1000.1f) * static_cast<double>(count));
}

}  // namespace
}  // namespace plated::kernels
